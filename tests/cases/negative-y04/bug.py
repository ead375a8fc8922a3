import torch
import torch.nn as nn


class Seq2seq(nn.Module):
    def __init__(self, vocab=14, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.encoder = nn.GRU(dim, dim, batch_first=True)
        self.draft_encoder = nn.GRU(dim, dim, batch_first=True)
        self.decoder = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, source, draft, target):
        _, h = self.encoder(self.embed(source))
        if draft is not None:
            _, h = self.draft_encoder(self.embed(draft), h)
        output, _ = self.decoder(self.embed(target[:, :-1]), h)
        logits = self.out(output)
        return logits, logits.argmax(dim=-1)


class FakeLoss:
    def __init__(self):
        self.criterion = nn.NLLLoss()
        self.reset()

    def reset(self):
        self.acc_loss = 0
        self.norm_term = 0

    def eval_batch(self, outputs, target):
        self.acc_loss += self.criterion(outputs.log_softmax(-1).transpose(1, 2), target)
        self.norm_term += 1

    def get_loss(self):
        return self.acc_loss.item() / self.norm_term

    def backward(self, retain_graph=False):
        self.acc_loss.backward(retain_graph=retain_graph)


def train_batch(source, target, model, optimizer, loss, num_passes=2):
    loss.reset()
    optimizer.zero_grad()
    draft = None
    for _ in range(num_passes):
        logits, draft = model(source, draft, target)
        loss.eval_batch(logits, target[:, 1:])
    loss.backward(retain_graph=True)
    nn.utils.clip_grad_norm_(model.parameters(), 5)
    optimizer.step()
    return loss.get_loss()


torch.manual_seed(0)
n_batches = 4
model, loss = Seq2seq(), FakeLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for batch in range(n_batches):
    source, target = torch.randint(14, (4, 5)), torch.randint(14, (4, 6))
    print(batch, train_batch(source, target, model, optimizer, loss))
