import torch
import torch.nn.functional as F
from torch import nn


class FactorizationMachine(nn.Module):
    def __init__(self, n_features=24, k=4):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(1))
        self.linear = nn.Parameter(0.01 * torch.randn(n_features))
        self.factors = nn.Parameter(0.1 * torch.randn(n_features, k))

    def forward(self, x):
        square_of_sum = (x @ self.factors).pow(2)
        sum_of_square = x.pow(2) @ self.factors.pow(2)
        return self.bias + x @ self.linear + 0.5 * (square_of_sum - sum_of_square).sum(1)


def flat_views(model):
    return {name: p.view(-1) for name, p in model.named_parameters()}


def group_lasso(groups):
    return groups.pow(2).sum((1, 2)).add(1e-8).sqrt().sum()


def main():
    torch.manual_seed(0)
    n_steps = 8
    model = FactorizationMachine()
    views = flat_views(model)
    groups = model.factors.view(6, 4, -1)
    wide = model.linear.unsqueeze(0)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
    truth = torch.randn(24)
    for step in range(n_steps):
        x = (torch.rand(32, 24) < 0.2).float()
        y = x @ truth + (x[:, 0] * x[:, 1])
        fit = F.mse_loss(model(x), y)
        ridge = sum(v.pow(2).sum() for name, v in views.items() if name != "bias")
        loss = fit + 1e-3 * ridge + 1e-3 * group_lasso(groups) + 1e-4 * wide.abs().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 3 == 0:
            print(step, fit.item(), {name: v.norm().item() for name, v in views.items()})


if __name__ == "__main__":
    main()
