import torch
from torch import nn


class ODE(nn.Module):
    """u'' + k u = 0 on [0, 1] with an unknown k."""

    def __init__(self, width=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))
        self.k = nn.Parameter(torch.tensor(3.0))

    def forward(self, t):
        return self.net(t)


def derivative(y, t):
    return torch.autograd.grad(y, t, torch.ones_like(y), create_graph=True)[0]


def residual(model, t):
    u = model(t)
    return derivative(derivative(u, t), t) + model.k * u


class Fitter:
    def __init__(self, model, n_points=24):
        self.model = model
        self.t = torch.linspace(0, 1, n_points)[:, None].requires_grad_()
        self.observed = torch.cos(2.0 * self.t.detach())
        self.optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5, line_search_fn="strong_wolfe")
        self.calls = 0

    def fit(self, n_rounds):
        for r in range(n_rounds):
            physics = residual(self.model, self.t).square().mean()

            def closure():
                self.calls += 1
                self.optimizer.zero_grad()
                data = (self.model(self.t) - self.observed).square().mean()
                loss = data + 1e-2 * physics
                loss.backward()
                return loss

            value = self.optimizer.step(closure)
            print(r, self.calls, float(value), self.model.k.item())


if __name__ == "__main__":
    torch.manual_seed(0)
    n_rounds = 4
    Fitter(ODE()).fit(n_rounds)
