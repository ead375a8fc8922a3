import torch
from torch import nn


class NormalizingFlow(nn.Module):
    def __init__(self, n_dims, n_steps=3):
        super().__init__()
        self.steps = nn.ModuleList()
        for _ in range(n_steps):
            self.steps.append(FlowBatchNorm(n_dims))
            self.steps.append(AffineCoupling(n_dims))

    def log_prob(self, x):
        total = x.new_zeros(len(x))
        for step in self.steps:
            x, logdet = step(x)
            total = total + logdet
        return total - 0.5 * (x**2).sum(1)


class AffineCoupling(nn.Module):
    def __init__(self, n_dims, width=16):
        super().__init__()
        self.half = n_dims // 2
        self.net = nn.Sequential(nn.Linear(self.half, width), nn.ReLU(), nn.Linear(width, 2 * (n_dims - self.half)))

    def forward(self, x):
        a, b = x[:, : self.half], x[:, self.half:]
        log_s, t = self.net(a).chunk(2, dim=1)
        log_s = torch.tanh(log_s)
        return torch.cat([b * log_s.exp() + t, a], dim=1), log_s.sum(1)


class FlowBatchNorm(nn.Module):
    def __init__(self, n_dims, momentum=0.1, eps=1e-5):
        super().__init__()
        self.momentum, self.eps = momentum, eps
        self.log_weight = nn.Parameter(torch.zeros(n_dims))
        self.register_buffer("running_mean", torch.zeros(n_dims))
        self.register_buffer("running_var", torch.zeros(n_dims))

    def forward(self, x):
        if self.training:
            mean, var = x.mean(0), x.var(0)
            self.running_mean.mul_(1 - self.momentum).add_(mean.detach() * self.momentum)
            self.running_var.mul_(1 - self.momentum).add_(var.detach() * self.momentum)
        else:
            mean, var = self.running_mean, self.running_var
        out = (x - mean) / (var + self.eps).sqrt() * self.log_weight.exp()
        logdet = self.log_weight.sum() - 0.5 * torch.log(var + self.eps).sum()
        return out, logdet


def banana(n):
    a = torch.randn(n)
    return torch.stack([a, 0.5 * a**2 + 0.3 * torch.randn(n)], dim=1)


def train(flow, n_steps, batch_size=64):
    optimizer = torch.optim.Adam(flow.parameters(), lr=1e-3)
    for step in range(n_steps):
        loss = -flow.log_prob(banana(batch_size)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    flow.eval()
    with torch.no_grad():
        return flow.log_prob(banana(200)).mean().item()


if __name__ == "__main__":
    torch.manual_seed(0)
    n_steps = 6
    print(train(NormalizingFlow(2), n_steps))
