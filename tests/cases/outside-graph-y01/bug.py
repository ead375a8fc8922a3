import math

import torch
import torch.nn as nn


class FNN(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, x):
        return x * (1 - x) * self.net(x)


class FractionalOperator:
    """Gruenwald-Letnikov weights of order alpha on n auxiliary points."""

    def __init__(self, alpha, n):
        self.alpha, self.n = alpha, n

    def weights(self):
        w = [torch.ones(())]
        for j in range(1, self.n):
            w.append(w[-1] * (j - 1 - self.alpha) / j)
        return torch.stack(w)


class InverseModel:
    def __init__(self, alpha_start, n_points=12):
        torch.manual_seed(1)
        self.net = FNN()
        self.alpha = nn.Parameter(torch.tensor(alpha_start))
        self.x = torch.linspace(0.05, 0.95, n_points)[:, None]
        self.u_obs = torch.sin(math.pi * self.x) / 4
        self.operator = FractionalOperator(self.alpha, 6)
        self.h = 0.05

    def train(self, n_outer):
        optimizer = torch.optim.LBFGS([*self.net.parameters(), self.alpha], lr=0.1, max_iter=5)
        w = self.operator.weights()
        for it in range(n_outer):

            def closure():
                optimizer.zero_grad()
                frac = sum(w[j] * self.net(self.x - j * self.h) for j in range(len(w))) / self.h
                residual = frac - torch.cos(math.pi * self.x)
                loss_pde = residual.pow(2).mean()
                loss_data = (self.net(self.x) - self.u_obs).pow(2).mean()
                total_loss = loss_pde + 10 * loss_data
                total_loss.backward()
                return total_loss

            loss = optimizer.step(closure)
            print(it, float(loss), self.alpha.item())


n_outer = 4
InverseModel(1.5).train(n_outer)
