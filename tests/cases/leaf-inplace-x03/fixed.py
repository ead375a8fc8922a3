import torch
import torch.nn.functional as F
from torch import nn


class WeightedFusion(nn.Module):
    """Fast normalised fusion of feature maps, as in BiFPN."""

    def __init__(self, n_inputs, channels, eps=1e-4):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(n_inputs))
        self.weight_relu = nn.ReLU()
        self.conv = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, groups=channels, bias=False),
            nn.Conv2d(channels, channels, 1),
            nn.BatchNorm2d(channels),
        )

    def forward(self, *maps):
        weight = self.weight_relu(self.weight)
        weight = weight / (weight.sum(dim=0) + self.eps)
        fused = sum(w * m for w, m in zip(weight, maps))
        return self.conv(F.silu(fused))


class Pyramid(nn.Module):
    def __init__(self, channels=6):
        super().__init__()
        self.stem = nn.Conv2d(1, channels, 3, padding=1)
        self.down = nn.MaxPool2d(2)
        self.top_down, self.bottom_up = WeightedFusion(2, channels), WeightedFusion(3, channels)
        self.head = nn.Conv2d(channels, 1, 1)

    def forward(self, image):
        fine = self.stem(image)
        coarse = self.down(fine)
        mid = self.top_down(fine, F.interpolate(coarse, scale_factor=2))
        out = self.bottom_up(coarse, self.down(mid), self.down(fine))
        return self.head(out)


def main():
    torch.manual_seed(0)
    n_steps = 5
    model = Pyramid()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(n_steps):
        image = torch.rand(2, 1, 8, 8)
        heat = F.avg_pool2d(image, 2)
        loss = F.binary_cross_entropy_with_logits(model(image), heat)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


main()
