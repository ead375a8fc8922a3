import torch
import torch.nn.functional as F
from torch import nn

TASKS = {}


def task(name, weight):
    def register(function):
        TASKS[name] = (weight, function)
        return function

    return register


class Shared(nn.Module):
    def __init__(self, n_in=8, width=20):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.heads = nn.ModuleDict({"sign": nn.Linear(width, 1), "sum": nn.Linear(width, 1), "peak": nn.Linear(width, n_in)})

    def forward(self, x):
        h = self.trunk(x)
        return {name: head(h) for name, head in self.heads.items()}


@task("sign", weight=1.0)
def sign_loss(out, x):
    return F.binary_cross_entropy_with_logits(out["sign"].squeeze(1), (x[:, 0] > 0).float())


@task("sum", weight=0.2)
def sum_loss(out, x):
    return F.mse_loss(out["sum"].squeeze(1), x.sum(1))


@task("peak", weight=0.5)
def peak_loss(out, x):
    return F.cross_entropy(out["peak"], x.argmax(1))


class UncertaintyWeighting(nn.Module):
    def __init__(self, names):
        super().__init__()
        self.log_var = nn.ParameterDict({name: nn.Parameter(torch.zeros(())) for name in names})

    def forward(self, losses):
        total = 0
        for name, loss in losses.items():
            total += TASKS[name][0] * torch.exp(-self.log_var[name]) * loss + self.log_var[name]
        return total


def main():
    torch.manual_seed(0)
    n_updates = 5
    accumulate = 3
    model = Shared()
    weighting = UncertaintyWeighting(TASKS)
    optimizer = torch.optim.Adam([*model.parameters(), *weighting.parameters()], lr=1e-3)
    history = {name: [] for name in TASKS}
    for update in range(n_updates):
        objective = torch.zeros(())
        for _ in range(accumulate):
            x = torch.randn(8, 8)
            out = model(x)
            losses = {name: function(out, x) for name, (_, function) in TASKS.items()}
            objective += weighting(losses) / accumulate
        optimizer.zero_grad()
        objective.backward()
        optimizer.step()
        for name, loss in losses.items():
            history[name].append(float(loss))
    print({name: [round(v, 3) for v in values] for name, values in history.items()})


if __name__ == "__main__":
    main()
