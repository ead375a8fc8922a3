import math

import torch
import torch.nn.functional as F
from torch import nn


def rotate_half(x):
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack((-b, a), dim=-1).flatten(-2)


class Rotary(nn.Module):
    def __init__(self, dim, theta=100.0, learned=False, cache=True):
        super().__init__()
        freqs = theta ** (-torch.arange(0, dim, 2).float() / dim)
        self.freqs = nn.Parameter(freqs, requires_grad=learned)
        self.cache = cache
        self.cached = None

    def angles(self, length):
        if self.cache and self.cached is not None and self.cached.size(0) >= length:
            return self.cached[:length]
        position = torch.arange(length).float()
        angles = torch.outer(position, self.freqs).repeat_interleave(2, dim=-1)
        table = torch.stack((angles.cos(), angles.sin()), dim=1)
        if self.cache:
            self.cached = table
        return table

    def forward(self, *tensors):
        cos, sin = self.angles(tensors[0].size(-2)).unbind(1)
        return [t * cos + rotate_half(t) * sin for t in tensors]


class Attention(nn.Module):
    def __init__(self, dim, heads, rotary):
        super().__init__()
        self.heads, self.rotary = heads, rotary
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        q, k = self.rotary(q, k)
        weight = (q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))).softmax(-1)
        return self.out((weight @ v).transpose(1, 2).flatten(2))


class Model(nn.Module):
    def __init__(self, vocab=12, dim=16, heads=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        rotary = Rotary(dim // heads, learned=True)
        self.blocks = nn.ModuleList(Attention(dim, heads, rotary) for _ in range(2))
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        h = self.embed(ids)
        for block in self.blocks:
            h = h + block(F.layer_norm(h, h.shape[-1:]))
        return self.head(h)


if __name__ == "__main__":
    torch.manual_seed(0)
    n_steps = 5
    model = Model()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
    for step in range(n_steps):
        ids = torch.randint(12, (4, 10 - step % 3))
        loss = F.cross_entropy(model(ids).flatten(0, 1), ids.flip(1).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())
