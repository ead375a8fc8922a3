import numpy as np
import torch
from torch import nn


def soft_min(a, b, c, gamma):
    return -gamma * torch.logsumexp(torch.stack([a, b, c]) / -gamma, dim=0)


def soft_dtw(cost, gamma=0.1):
    """Alignment cost of two series from the matrix of the distances of their points."""
    n, m = cost.shape
    far = cost.new_tensor(1e9)
    table = {(i, 0): far for i in range(n + 1)} | {(0, j): far for j in range(m + 1)}
    table[0, 0] = cost.new_tensor(0.0)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            reachable = table[i - 1, j], table[i, j - 1], table[i - 1, j - 1]
            table[i, j] = cost[i - 1, j - 1] + soft_min(*reachable, gamma)
    return table[n, m]


class SoftDTWLoss(nn.Module):
    def __init__(self, gamma=0.1, normalize=True):
        super().__init__()
        self.gamma, self.normalize = gamma, normalize

    def align(self, a, b):
        distance = torch.cdist(a, b)
        return torch.stack([soft_dtw(d, self.gamma) for d in distance])

    def forward(self, prediction, target):
        loss = self.align(prediction, target)
        if self.normalize:
            loss = loss - 0.5 * (self.align(prediction, prediction) + self.align(target, target))
        return loss.mean()


class Extrapolator(nn.Module):
    def __init__(self, hidden=12, horizon=4):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, horizon)

    def forward(self, past):
        return self.out(self.rnn(past)[0][:, -1]).unsqueeze(2)


def series(n_batches, batch=2):
    for _ in range(n_batches):
        t = torch.rand(batch, 1) * 6 + torch.arange(14) * 0.3
        wave = torch.sin(t).unsqueeze(2)
        yield wave[:, :10], wave[:, 10:]


if __name__ == "__main__":
    torch.manual_seed(0)
    n_batches = 4
    model, criterion = Extrapolator(), SoftDTWLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for past, future in series(n_batches):
        optimizer.zero_grad()
        loss = criterion(model(past), future)
        loss.backward()
        optimizer.step()
        print(loss.item())
