from collections import deque

import torch
import torch.nn.functional as F
from torch import nn


class Recent:
    """The last few losses; enough to smooth a curve."""

    def __init__(self, length):
        self.values = deque(maxlen=length)

    def __lshift__(self, value):
        self.values.append(value)
        return self

    @property
    def mean(self):
        return sum(v.item() for v in self.values) / len(self.values)


class AverageMeter:
    def __init__(self, fmt=":.3f"):
        self.fmt = fmt
        self.sum = self.count = 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n

    def __str__(self):
        return f"{{{self.fmt}}}".format(self.sum / max(self.count, 1))


class MetricBook(dict):
    def __missing__(self, name):
        self[name] = AverageMeter()
        return self[name]

    def log(self, n=1, **values):
        for name, value in values.items():
            self[name].update(value.item() if torch.is_tensor(value) else value, n)

    def __str__(self):
        return " ".join(f"{name} {meter}" for name, meter in self.items())


class Tagger(nn.Module):
    def __init__(self, vocab=30, tags=5, dim=12):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.conv = nn.Conv1d(dim, dim, 3, padding=1)
        self.out = nn.Linear(dim, tags)

    def forward(self, tokens):
        h = self.embed(tokens).transpose(1, 2)
        return self.out(F.gelu(self.conv(h)).transpose(1, 2))


def train(model, n_steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    recent, book = Recent(3), MetricBook()
    for step in range(n_steps):
        tokens = torch.randint(30, (4, 9))
        tags = tokens % 5
        logits = model(tokens)
        loss = F.cross_entropy(logits.flatten(0, 1), tags.flatten())
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        recent << loss
        book.log(n=len(tokens), loss=loss, norm=norm, lr=optimizer.param_groups[0]["lr"])
        book.log(n=tags.numel(), accuracy=(logits.argmax(-1) == tags).float().mean())
        if (step + 1) % 2 == 0:
            print(f"{step + 1}: recent {recent.mean:.3f} | {book}")
    return book


if __name__ == "__main__":
    torch.manual_seed(0)
    n_steps = 8
    train(Tagger(), n_steps)
