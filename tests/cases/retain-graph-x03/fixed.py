import torch
import torch.nn.functional as F
from torch import nn


class Curvature:
    """Diagonal of the Hessian by Hutchinson's estimate, and a step scaled by it."""

    def __init__(self, params, lr=0.1, beta=0.9, eps=1e-3):
        self.params = [p for p in params if p.requires_grad]
        self.lr, self.beta, self.eps = lr, beta, eps
        self.diagonal = [torch.zeros_like(p) for p in self.params]

    def zero_grad(self):
        for p in self.params:
            if p.grad is not None:
                p.grad.detach_().zero_()

    def step(self):
        grads = [p.grad for p in self.params]
        signs = [torch.randint_like(p, 2) * 2 - 1 for p in self.params]
        products = torch.autograd.grad(grads, self.params, grad_outputs=signs, retain_graph=True)
        with torch.no_grad():
            for p, g, d, z, hz in zip(self.params, grads, self.diagonal, signs, products):
                d.mul_(self.beta).add_((hz * z).abs(), alpha=1 - self.beta)
                p.sub_(self.lr * g / (d + self.eps).sqrt())


def spirals(n):
    t = torch.rand(n) * 3
    side = torch.randint(2, (n,))
    angle = 2 * t + torch.pi * side
    return torch.stack([t * angle.cos(), t * angle.sin()], dim=1), side


class Experiment:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
        self.optimizer = Curvature(self.net.parameters(), lr=0.01)

    def iteration(self, x, y):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.net(x), y)
        loss.backward(create_graph=True)
        self.optimizer.step()
        return loss.item()

    def run(self, n_iterations):
        return [self.iteration(*spirals(32)) for _ in range(n_iterations)]


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    n_iterations = 6
    print(Experiment().run(n_iterations))
