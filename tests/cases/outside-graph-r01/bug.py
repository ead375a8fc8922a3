import math

import torch
from torch import nn


class ARDKernel(nn.Module):
    def __init__(self, input_dim, initial_length_scale=1.0, initial_signal_variance=1.0, eps=1e-9):
        super().__init__()
        self.log_length_scales = nn.Parameter(torch.log(torch.ones(input_dim) * initial_length_scale))
        self.log_signal_variance = nn.Parameter(torch.log(torch.tensor([initial_signal_variance])))
        self.eps = eps

    def forward(self, x1, x2):
        length_scales = torch.exp(self.log_length_scales) + self.eps
        scaled1, scaled2 = x1 / length_scales, x2 / length_scales
        sqdist = (scaled1.unsqueeze(1) - scaled2.unsqueeze(0)).pow(2).sum(-1)
        return torch.exp(self.log_signal_variance) * torch.exp(-0.5 * sqdist)


class SpaceTimeGP(nn.Module):
    """A process in space and time: the covariance is a Kronecker product, the noise is learned."""

    def __init__(self, x, t, y, noise=0.2):
        super().__init__()
        self.x, self.t = x, t
        self.y = y
        self.kernel_x = ARDKernel(x.size(1))
        self.kernel_t = ARDKernel(t.size(1))
        self.log_noise = nn.Parameter(torch.tensor(noise).log())
        self.noise_variance = self.log_noise.exp().pow(2)

    def negative_log_likelihood(self):
        cov = torch.kron(self.kernel_t(self.t, self.t), self.kernel_x(self.x, self.x))
        cov = cov + self.noise_variance * torch.eye(cov.size(0))
        chol = torch.linalg.cholesky(cov)
        gamma = torch.linalg.solve_triangular(chol, self.y, upper=False)
        return 0.5 * gamma.pow(2).sum() + chol.diag().log().sum() + 0.5 * len(self.y) * math.log(2 * math.pi)

    def train_adam(self, niteration=5, lr=0.05):
        optimizer = torch.optim.Adam(self.parameters(), lr=lr)
        for i in range(niteration):
            optimizer.zero_grad()
            loss = self.negative_log_likelihood()
            loss.backward()
            optimizer.step()
            print("iter", i, "nll:{:.5f}".format(loss.item()))


if __name__ == "__main__":
    torch.manual_seed(0)
    niteration = 5
    x = torch.rand(6, 2)
    t = torch.linspace(0, 1, 4).unsqueeze(1)
    field = torch.sin(3 * x.sum(1)).repeat(4) + torch.cos(5 * t).repeat_interleave(6)
    model = SpaceTimeGP(x, t, field.unsqueeze(1))
    model.train_adam(niteration=niteration)
    print(model.log_noise.exp().item())
