import math

import torch


class ExactGP(torch.nn.Module):
    def __init__(self, train_x, train_y):
        super().__init__()
        self.train_x, self.train_y = train_x, train_y
        self.raw_lengthscale = torch.nn.Parameter(torch.zeros(()))
        self.raw_noise = torch.nn.Parameter(torch.tensor(-2.0))
        self._mean_cache = None
        self._covar_cache = None

    def kernel(self, a, b):
        lengthscale = torch.nn.functional.softplus(self.raw_lengthscale)
        return torch.exp(-0.5 * (a.unsqueeze(1) - b.unsqueeze(0)).pow(2) / lengthscale**2)

    def train(self, mode=True):
        self._mean_cache = self._covar_cache = None
        return super().train(mode)

    def _train_covar(self):
        noise = torch.nn.functional.softplus(self.raw_noise)
        return self.kernel(self.train_x, self.train_x) + noise * torch.eye(len(self.train_x))

    def mll(self):
        chol = torch.linalg.cholesky(self._train_covar())
        alpha = torch.cholesky_solve(self.train_y.unsqueeze(1), chol)
        fit = -0.5 * (self.train_y.unsqueeze(1) * alpha).sum()
        return fit - chol.diag().log().sum() - 0.5 * len(self.train_x) * math.log(2 * math.pi)

    def exact_prediction(self, x):
        if self._mean_cache is None:
            chol = torch.linalg.cholesky(self._train_covar())
            self._mean_cache = torch.cholesky_solve(self.train_y.unsqueeze(1), chol).detach()
            self._covar_cache = torch.cholesky_inverse(chol).detach()
        cross = self.kernel(x, self.train_x)
        mean = (cross @ self._mean_cache).squeeze(1)
        var = 1 - (cross @ self._covar_cache * cross).sum(1)
        return mean, var.clamp_min(1e-8)

    def forward(self, x):
        return self.exact_prediction(x)


def expected_improvement(x, model, best):
    mean, var = model(x)
    sigma = var.sqrt()
    u = (mean - best) / sigma
    normal = torch.distributions.Normal(torch.zeros(()), torch.ones(()))
    ei = sigma * (torch.exp(normal.log_prob(u)) + u * normal.cdf(u))
    return ei.sum()


torch.manual_seed(0)
train_x = torch.linspace(0, 1, 9)
train_y = torch.sin(6 * train_x)
model = ExactGP(train_x, train_y)

model.train()
opt = torch.optim.Adam(model.parameters(), lr=0.1)
for _ in range(4):
    opt.zero_grad()
    loss = -model.mll()
    loss.backward()
    opt.step()

model.eval()
x = torch.tensor([0.25], requires_grad=True)
optimizer = torch.optim.Adam([x], lr=0.1)
n_iter = 6
for i in range(n_iter):
    optimizer.zero_grad()
    loss = -expected_improvement(x, model, 0)
    print("Iter {}, loss = {}".format(i, loss.item()))
    loss.backward()
    optimizer.step()
