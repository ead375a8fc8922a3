import copy

import torch
import torch.nn.functional as F
from torch import nn


class Backbone(nn.Module):
    def __init__(self, n_in=16, dim=8):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n_in, 24), nn.ReLU(), nn.Linear(24, dim))

    def forward(self, x):
        return F.normalize(self.layers(x), dim=1)


class MomentumContrast(nn.Module):
    def __init__(self, queue_size=48, momentum=0.99, temperature=0.2):
        super().__init__()
        self.queue_size, self.m, self.t = queue_size, momentum, temperature
        self.encoder_q = Backbone()
        self.encoder_k = copy.deepcopy(self.encoder_q)
        self.queue = F.normalize(torch.randn(queue_size, 8), dim=1)

    @torch.no_grad()
    def follow(self):
        for q, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            k.mul_(self.m).add_(q, alpha=1 - self.m)

    def enqueue(self, keys):
        self.queue = torch.cat([keys.detach(), self.queue])[: self.queue_size]

    def forward(self, view_q, view_k):
        q = self.encoder_q(view_q)
        self.follow()
        k = self.encoder_k(view_k)
        positive = (q * k.detach()).sum(1, keepdim=True)
        negative = q @ self.queue.t()
        self.enqueue(k)
        logits = torch.cat([positive, negative], dim=1) / self.t
        return logits, torch.zeros(len(q), dtype=torch.long)


def two_views(x):
    return tuple(x + 0.1 * torch.randn_like(x) for _ in range(2))


def main():
    torch.manual_seed(0)
    n_steps = 6
    model = MomentumContrast()
    optimizer = torch.optim.SGD(model.encoder_q.parameters(), lr=0.03, momentum=0.9)
    for step in range(n_steps):
        logits, target = model(*two_views(torch.randn(8, 16)))
        loss = F.cross_entropy(logits, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        accuracy = (logits.argmax(1) == target).float().mean().item()
        print(f"{step} loss {loss.item():.3f} accuracy {accuracy:.2f}")


if __name__ == "__main__":
    main()
