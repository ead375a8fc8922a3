import torch
import torch.nn as nn
import torch.nn.functional as F


def make_inputs_require_grad(module, inputs, output):
    output.requires_grad_(True)


class Adapter(nn.Module):
    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base
        self.lora_A = nn.Linear(base.in_features, rank, bias=False)
        self.lora_B = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.lora_B.weight)

    def forward(self, x):
        return self.base(x) + self.lora_B(self.lora_A(x))


class LanguageModel(nn.Module):
    def __init__(self, vocab=25, dim=12):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, dim)
        self.mixer = nn.Linear(dim, dim)
        self.lm_head = nn.Linear(dim, vocab)

    def get_input_embeddings(self):
        return self.embed_tokens

    def forward(self, inputs_embeds):
        h = inputs_embeds.cumsum(dim=1) / torch.arange(1, inputs_embeds.size(1) + 1).view(1, -1, 1)
        return self.lm_head(torch.tanh(self.mixer(h)))


class VisionLanguage(nn.Module):
    def __init__(self):
        super().__init__()
        self.visual = nn.Linear(6, 12)
        self.language_model = LanguageModel()

    def data_collate(self, input_ids, pixel_values):
        """The embeddings of a batch; the pictures' too, so that all processes run the same modules."""
        inputs_embeds = self.language_model.get_input_embeddings()(input_ids)
        if pixel_values is None:
            image_embeds = self.visual(torch.zeros(1, 6))
            inputs_embeds = inputs_embeds + image_embeds.mean() * 0.0
        else:
            image_embeds = self.visual(pixel_values)
            inputs_embeds = torch.cat([image_embeds, inputs_embeds], dim=1)
        return inputs_embeds

    def forward(self, input_ids, pixel_values=None):
        return self.language_model(self.data_collate(input_ids, pixel_values))


def prepare(model):
    for p in model.parameters():
        p.requires_grad_(False)
    model.language_model.mixer = Adapter(model.language_model.mixer)
    model.language_model.get_input_embeddings().register_forward_hook(make_inputs_require_grad)
    return [p for p in model.parameters() if p.requires_grad]


def main():
    torch.manual_seed(0)
    n_batches = 4
    model = VisionLanguage()
    optimizer = torch.optim.AdamW(prepare(model), lr=1e-2)
    for step in range(n_batches):
        input_ids = torch.randint(0, 25, (2, 8))
        pixel_values = torch.randn(2, 3, 6) if step % 2 == 0 else None
        logits = model(input_ids, pixel_values)[:, -8:]
        loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), input_ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
