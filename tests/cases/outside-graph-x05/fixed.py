import math

import torch

LOG_2PI = math.log(2 * math.pi)


def softplus_inverse(x):
    return math.log(math.expm1(x))


class RBFKernel:
    def __init__(self, lengthscale=0.7, variance=1.0):
        self.raw_lengthscale = torch.tensor(softplus_inverse(lengthscale), requires_grad=True)
        self.raw_variance = torch.tensor(softplus_inverse(variance), requires_grad=True)

    def parameters(self):
        return [self.raw_lengthscale, self.raw_variance]

    def __call__(self, a, b):
        scale = torch.nn.functional.softplus(self.raw_lengthscale)
        variance = torch.nn.functional.softplus(self.raw_variance)
        return variance * torch.exp(-0.5 * torch.cdist(a, b).square() / scale**2)


torch.manual_seed(0)
n_iter = 6
x = torch.rand(20, 1) * 5
y = torch.sin(1.5 * x).squeeze(1) + 0.1 * torch.randn(20)

kernel = RBFKernel()
log_noise = torch.tensor(-2.0, requires_grad=True)
mean = torch.zeros((), requires_grad=True)
optimizer = torch.optim.Adam([*kernel.parameters(), log_noise, mean], lr=0.05)

for it in range(n_iter):
    optimizer.zero_grad()
    covariance = kernel(x, x) + log_noise.exp() * torch.eye(len(x))
    chol = torch.linalg.cholesky(covariance)
    centred = (y - mean).unsqueeze(1)
    alpha = torch.cholesky_solve(centred, chol)
    nll = 0.5 * (centred * alpha).sum() + chol.diagonal().log().sum() + 0.5 * len(x) * LOG_2PI
    nll.backward()
    optimizer.step()
    print(f"{it + 1}/{n_iter} nll {nll.item():.3f} noise {log_noise.exp().item():.3f}")
