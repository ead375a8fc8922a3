import itertools
from pathlib import PurePath

import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self, out=12):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(24, out))

    def forward(self, x):
        return self.net(x)


def freeze(module):
    for p in module.parameters():
        p.requires_grad = False
    return module.eval()


class FeatureStore:
    """Features of every picture, computed once with the pretrained encoder."""

    def __init__(self, encoder, pictures):
        self.encoder = encoder
        self.features = {name: encoder(picture[None])[0] for name, picture in pictures.items()}
        self.mean = torch.stack(list(self.features.values())).mean(0)

    def __getitem__(self, names):
        return torch.stack([self.features[n] for n in names]) - self.mean


class AttributeHead(nn.Module):
    def __init__(self, n_in=12, n_out=2):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(n_in))
        self.out = nn.Linear(n_in, n_out)

    def forward(self, features):
        return self.out(features * self.scale)


def main():
    torch.manual_seed(0)
    n_steps = 6
    names = [PurePath("pictures", f"{i:03d}.png").stem for i in range(20)]
    pictures = {name: torch.rand(1, 8, 8) * (1 + i % 2) for i, name in enumerate(names)}
    labels = {name: i % 2 for i, name in enumerate(names)}

    encoder = freeze(Encoder())
    store = FeatureStore(encoder, pictures)
    head = AttributeHead()
    optimizer = torch.optim.LBFGS(head.parameters(), lr=0.1, max_iter=4)
    turn = itertools.cycle(names)
    for step in range(n_steps):
        batch = list(itertools.islice(turn, 8))
        x, y = store[batch], torch.tensor([labels[n] for n in batch])

        def closure():
            optimizer.zero_grad()
            loss = F.cross_entropy(head(x), y) + 1e-2 * head.scale.sub(1).abs().sum()
            loss.backward()
            return loss

        print(step, optimizer.step(closure).item())


if __name__ == "__main__":
    main()
