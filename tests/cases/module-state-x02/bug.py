import torch
import torch.nn.functional as F
from torch import nn


class RunningNorm(nn.Module):
    """Normalises with running statistics in training too, as in batch renormalisation."""

    def __init__(self, n_features, momentum=0.1, eps=1e-5):
        super().__init__()
        self.momentum, self.eps = momentum, eps
        self.scale = nn.Parameter(torch.ones(n_features))
        self.shift = nn.Parameter(torch.zeros(n_features))
        self.register_buffer("running_mean", torch.zeros(n_features))
        self.register_buffer("running_var", torch.ones(n_features))

    def track(self, name, value):
        old = getattr(self, name)
        setattr(self, name, (1 - self.momentum) * old + self.momentum * value)

    def forward(self, x):
        if self.training:
            var, mean = torch.var_mean(x, dim=0)
            self.track("running_mean", mean)
            self.track("running_var", var)
        normal = (x - self.running_mean) / (self.running_var + self.eps).sqrt()
        return normal * self.scale + self.shift


def block(n_in, n_out, norm):
    return nn.Sequential(nn.Linear(n_in, n_out), norm(n_out), nn.ReLU())


def build(sizes, n_classes, norm=RunningNorm):
    layers = [block(a, b, norm) for a, b in zip(sizes[:-1], sizes[1:])]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], n_classes))


def batches(count, centres, size=24):
    for _ in range(count):
        label = torch.randint(len(centres), (size,))
        yield centres[label] + 0.4 * torch.randn(size, centres.size(1)), label


def fit(model, source):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    history = []
    for x, label in source:
        loss = F.cross_entropy(model(x), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.detach())
    return torch.stack(history)


if __name__ == "__main__":
    torch.manual_seed(0)
    n_batches = 6
    centres = 2 * torch.randn(3, 5)
    print(fit(build([5, 16, 16], 3), batches(n_batches, centres)))
