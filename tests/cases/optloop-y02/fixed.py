import torch
import torch.nn as nn


class Dynamics(nn.Module):
    def __init__(self, dim=3):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, 16), nn.Tanh(), nn.Linear(16, dim))

    def forward(self, t, y):
        return self.net(y)


def rk4(func, y0, t):
    ys = [y0]
    for t0, t1 in zip(t[:-1], t[1:]):
        dt = t1 - t0
        y = ys[-1]
        k1 = func(t0, y)
        k2 = func(t0 + dt / 2, y + dt * k1 / 2)
        k3 = func(t0 + dt / 2, y + dt * k2 / 2)
        k4 = func(t1, y + dt * k3)
        ys.append(y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    return torch.stack(ys)


class ODESolver(nn.Module):
    def __init__(self, func, window=6):
        super().__init__()
        self.func = func
        self.window = window
        self.optimizer = torch.optim.RMSprop(self.parameters(), lr=1e-3)

    def windows(self, t, series):
        for start in range(0, len(series) - self.window, self.window):
            yield t[start : start + self.window + 1], series[start : start + self.window + 1]

    def fit(self, t, series):
        y0 = series[0]
        for t_window, target in self.windows(t, series):
            self.optimizer.zero_grad()
            pred = rk4(self.func, y0, t_window)
            loss = (pred - target).abs().mean()
            loss.backward()
            self.optimizer.step()
            y0 = pred[-1].detach()
            print(round(float(t_window[0]), 2), loss.item())


torch.manual_seed(0)
n_windows = 4
t = torch.linspace(0, 2, 6 * n_windows + 1)
series = torch.stack([torch.sin(3 * t), torch.cos(3 * t), torch.sin(t)], dim=1)
ODESolver(Dynamics()).fit(t, series)
