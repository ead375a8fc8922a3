import torch
import torch.nn.functional as F
from torch import nn

CARRY_MODES = ("keep", "reset", "detach")


class SlotMemory(nn.Module):
    def __init__(self, n_slots=5, dim=8):
        super().__init__()
        self.start = nn.Parameter(torch.randn(n_slots, dim) * 0.1)
        self.key, self.erase, self.add = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.memory = None

    def open(self, mode, batch):
        match mode:
            case "reset":
                self.memory = self.start.expand(batch, -1, -1)
            case "detach" if self.memory is not None:
                self.memory = self.memory.detach()
            case "keep" | "detach" if self.memory is None:
                self.memory = self.start.expand(batch, -1, -1)
            case "keep":
                pass
            case other:
                raise ValueError(f"{other} is none of {CARRY_MODES}")
        return self

    def forward(self, x):
        address = torch.softmax(self.memory @ self.key(x).unsqueeze(2), dim=1)
        read = (address * self.memory).sum(1)
        erase = torch.sigmoid(self.erase(x)).unsqueeze(1)
        self.memory = self.memory * (1 - address * erase) + address * self.add(x).unsqueeze(1)
        return read


class Reader(nn.Module):
    def __init__(self, vocab=10, dim=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.memory = SlotMemory(dim=dim)
        self.out = nn.Linear(2 * dim, vocab)

    def forward(self, tokens, mode):
        self.memory.open(mode, tokens.size(1))
        outs = []
        for x in self.embed(tokens):
            outs.append(self.out(torch.cat([x, self.memory(x)], dim=1)))
        return torch.stack(outs)


def episodes(count, segments=3, length=5, batch=4):
    for _ in range(count):
        pattern = torch.randint(10, (length, batch))
        for s in range(segments):
            yield pattern, "detach" if s else "reset"


def main():
    torch.manual_seed(0)
    n_episodes = 4
    model = Reader()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for k, (tokens, mode) in enumerate(episodes(n_episodes)):
        logits = model(tokens, mode)
        loss = F.cross_entropy(logits[:-1].flatten(0, 1), tokens[1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        print(k, mode, loss.item())


if __name__ == "__main__":
    main()
