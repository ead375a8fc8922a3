import torch
import torch.nn.functional as F
import torch.nn.utils.parametrize as parametrize
from torch import nn


class Skew(nn.Module):
    def forward(self, w):
        upper = w.triu(1)
        return upper - upper.t()


class Rotation(nn.Module):
    """Cayley transform of a skew-symmetric matrix."""

    def __init__(self, n):
        super().__init__()
        self.register_buffer("eye", torch.eye(n))

    def forward(self, a):
        return torch.linalg.solve(self.eye + a, self.eye - a)


class OrthogonalRNN(nn.Module):
    def __init__(self, n_in, n_hidden, n_out):
        super().__init__()
        self.inward = nn.Linear(n_in, n_hidden)
        self.again = nn.Linear(n_hidden, n_hidden, bias=False)
        self.out = nn.Linear(n_hidden, n_out)
        parametrize.register_parametrization(self.again, "weight", Skew())
        parametrize.register_parametrization(self.again, "weight", Rotation(n_hidden))

    def forward(self, sequence):
        h = torch.zeros(sequence.size(1), self.again.in_features)
        for x in sequence:
            h = torch.tanh(self.inward(x) + self.again(h))
        return self.out(h)


def copy_task(n_batches, length=6, batch=8):
    for _ in range(n_batches):
        token = torch.randint(4, (batch,))
        sequence = torch.zeros(length, batch, 4)
        sequence[0] = F.one_hot(token, 4)
        yield sequence, token


def train(model, batches):
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    losses = []
    for sequence, token in batches:
        with parametrize.cached():
            loss = F.cross_entropy(model(sequence), token)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    torch.manual_seed(0)
    n_batches = 5
    print(train(OrthogonalRNN(4, 12, 4), copy_task(n_batches)))
