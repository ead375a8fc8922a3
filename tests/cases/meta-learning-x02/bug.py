from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn


class Regressor(nn.Module):
    def __init__(self, width=20):
        super().__init__()
        self.first = nn.Linear(1, width)
        self.second = nn.Linear(width, 1)

    def forward(self, x, params):
        h = torch.tanh(F.linear(x, params["first.weight"], params["first.bias"]))
        return F.linear(h, params["second.weight"], params["second.bias"])


class LearnedRates(nn.Module):
    """One positive rate for each tensor of the model."""

    def __init__(self, names, start=-3.0):
        super().__init__()
        self.raw = nn.ParameterDict({n.replace(".", "_"): nn.Parameter(torch.tensor(start)) for n in names})

    def positive(self):
        return {name: F.softplus(raw) for name, raw in self.raw.items()}


def inner_loop(model, params, rates, x, y, steps):
    for _ in range(steps):
        loss = F.mse_loss(model(x, params), y)
        grads = torch.autograd.grad(loss, params.values(), create_graph=True)
        params = OrderedDict(
            (name, p - rates[name.replace(".", "_")] * g) for (name, p), g in zip(params.items(), grads)
        )
    return params


def lines(n_tasks, shots=6):
    for slope, offset in torch.randn(n_tasks, 2):
        x = torch.rand(2, shots, 1) * 4 - 2
        yield x[0], slope * x[0] + offset, x[1], slope * x[1] + offset


def train(n_epochs, tasks_per_epoch=4, inner_steps=2):
    model = Regressor()
    learned = LearnedRates([name for name, _ in model.named_parameters()])
    optimizer = torch.optim.Adam([*model.parameters(), *learned.parameters()], lr=2e-3)
    for epoch in range(n_epochs):
        optimizer.zero_grad()
        rates = learned.positive()
        total = 0.0
        for support_x, support_y, query_x, query_y in lines(tasks_per_epoch):
            start = OrderedDict(model.named_parameters())
            adapted = inner_loop(model, start, rates, support_x, support_y, inner_steps)
            loss = F.mse_loss(model(query_x, adapted), query_y) / tasks_per_epoch
            loss.backward()
            total += loss.item()
        optimizer.step()
        print(epoch, total, {k: round(v.item(), 4) for k, v in rates.items()})


if __name__ == "__main__":
    torch.manual_seed(0)
    n_epochs = 3
    train(n_epochs)
