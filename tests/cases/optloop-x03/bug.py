import copy

import torch
import torch.nn.functional as F
from torch import nn


class WeightAverage:
    """A slow copy of the model for evaluation."""

    def __init__(self, model, decay=0.9):
        self.decay = decay
        self.module = copy.deepcopy(model)
        self.module.eval()
        for p in self.module.parameters():
            p.requires_grad_(False)

    def update(self, model):
        slow, fast = self.module.state_dict(keep_vars=True), model.state_dict(keep_vars=True)
        for name, value in slow.items():
            if value.dtype.is_floating_point:
                value.mul_(self.decay).add_(fast[name], alpha=1 - self.decay)
            else:
                value.copy_(fast[name])

    def __call__(self, x):
        with torch.inference_mode():
            return self.module(x)


def conv_net(n_classes=3):
    return nn.Sequential(
        nn.Conv1d(2, 8, 5, padding=2), nn.BatchNorm1d(8), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(8, n_classes)
    )


def waves(n, length=24):
    label = torch.randint(3, (n,))
    t = torch.arange(length) / length * 6.28
    wave = torch.sin((label[:, None] + 1) * t + torch.rand(n, 1) * 6)
    return torch.stack([wave, wave.roll(3, 1)], dim=1) + 0.2 * torch.randn(n, 2, length), label


def train(n_steps, evaluate_every=3):
    model = conv_net()
    average = WeightAverage(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(n_steps):
        x, label = waves(16)
        loss = F.cross_entropy(model(x), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update(model)
        if (step + 1) % evaluate_every == 0:
            x, label = waves(64)
            print(step, loss.item(), (average(x).argmax(1) == label).float().mean().item())
    return average


if __name__ == "__main__":
    torch.manual_seed(0)
    n_steps = 6
    train(n_steps)
