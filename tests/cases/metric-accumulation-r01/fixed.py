import contextlib

import torch
from torch import nn


class DictSummary:
    """Means of what was reported since the last call of compute_mean."""

    def __init__(self):
        self._x = {}
        self._n = 0

    def add(self, d):
        for name, value in d.items():
            self._x.setdefault(name, []).append(value)
        self._n += 1

    def compute_mean(self):
        means = {}
        for name, values in self._x.items():
            means[name] = sum(float(v) for v in values) / len(values)
        self._x = {}
        return means


class Reporter:
    def __init__(self):
        self.observation = {}

    @contextlib.contextmanager
    def scope(self, observation):
        old = self.observation
        self.observation = observation
        try:
            yield
        finally:
            self.observation = old

    def report(self, values):
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                value = value.detach()
            self.observation[name] = value


reporter = Reporter()


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, x, t):
        y = self.net(x)
        loss = nn.functional.cross_entropy(y, t)
        reporter.report({"train/loss": loss, "train/accuracy": (y.argmax(1) == t).float().mean()})
        return loss


def main():
    torch.manual_seed(0)
    n_iters = 6
    model = Classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    summary = DictSummary()
    log = []
    for epoch in range(2):
        for _ in range(n_iters):
            x = torch.randn(8, 6)
            observation = {}
            with reporter.scope(observation):
                loss = model(x, (x[:, 0] > 0).long())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            summary.add(observation)
        log.append(summary.compute_mean())
    print(log)


if __name__ == "__main__":
    main()
