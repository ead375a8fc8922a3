import random

import torch
from torch import nn


class Energy(nn.Module):
    def __init__(self, dim=2, width=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


class SampleBuffer:
    def __init__(self, size=512):
        self.size = size
        self.buffer = []

    def __len__(self):
        return len(self.buffer)

    def push(self, samples):
        self.buffer.extend(samples.unbind(0))
        del self.buffer[: -self.size]

    def get(self, n, fresh=0.05):
        new = sum(random.random() < fresh for _ in range(n))
        old = random.choices(self.buffer, k=n - new) if self.buffer else []
        random_points = torch.rand(n - len(old), 2) * 4 - 2
        return torch.cat([torch.stack(old), random_points]) if old else random_points


def langevin(energy, x, n_steps=5, step_size=0.1, noise=0.02):
    for p in energy.parameters():
        p.requires_grad_(False)
    x = x.requires_grad_(True)
    for _ in range(n_steps):
        grad, = torch.autograd.grad(energy(x).sum(), x)
        x = x - step_size * grad + noise * torch.randn_like(x)
    for p in energy.parameters():
        p.requires_grad_(True)
    return x.detach()


def ring(n):
    angle = torch.rand(n) * 6.2832
    return torch.stack([angle.cos(), angle.sin()], dim=1) + 0.05 * torch.randn(n, 2)


def train(n_iters, batch_size=12, alpha=0.1):
    energy, buffer = Energy(), SampleBuffer()
    optimizer = torch.optim.Adam(energy.parameters(), lr=1e-3, betas=(0.0, 0.999))
    for i in range(n_iters):
        positive = ring(batch_size)
        negative = langevin(energy, buffer.get(batch_size))
        high, low = energy(negative.detach()), energy(positive)
        loss = (low - high).mean() + alpha * (low**2 + high**2).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(energy.parameters(), 0.1)
        optimizer.step()
        buffer.push(negative)
        print(i, loss.item(), len(buffer))


if __name__ == "__main__":
    random.seed(0)
    torch.manual_seed(0)
    n_iters = 6
    train(n_iters)
