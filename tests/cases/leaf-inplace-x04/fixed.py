import math

import torch
import torch.nn.functional as F
from torch import nn


@torch.no_grad()
def sinusoid(table):
    """Fills an embedding's weight with sines and cosines."""
    n, dim = table.shape
    position = torch.arange(n).unsqueeze(1)
    rate = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
    table[:, 0::2] = torch.sin(position * rate)
    table[:, 1::2] = torch.cos(position * rate)
    return table


class Embeddings(nn.Module):
    def __init__(self, vocab, dim, max_length=32):
        super().__init__()
        self.word = nn.Embedding(vocab, dim, padding_idx=0)
        self.position = nn.Embedding(max_length, dim)
        sinusoid(self.position.weight)
        self.norm = nn.LayerNorm(dim)

    def forward(self, ids):
        position = torch.arange(ids.size(1)).expand_as(ids)
        return self.norm(self.word(ids) + self.position(position))


class Classifier(nn.Module):
    def __init__(self, vocab=20, dim=16, n_classes=2):
        super().__init__()
        self.embeddings = Embeddings(vocab, dim)
        self.attention = nn.MultiheadAttention(dim, 2, batch_first=True)
        self.out = nn.Linear(dim, n_classes)

    def forward(self, ids):
        h = self.embeddings(ids)
        h = h + self.attention(h, h, h, need_weights=False)[0]
        return self.out(h.mean(1))


def train(n_batches):
    torch.manual_seed(0)
    model = Classifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(n_batches):
        ids = torch.randint(1, 20, (8, 12))
        label = (ids[:, 0] > ids[:, -1]).long()
        loss = F.cross_entropy(model(ids), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())


if __name__ == "__main__":
    n_batches = 4
    train(n_batches)
