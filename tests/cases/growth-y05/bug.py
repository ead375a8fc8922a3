import torch
import torch.nn as nn


class GSPnP(nn.Module):
    """A regulariser given by the gradient of a network's energy."""

    def __init__(self, alpha=0.5):
        super().__init__()
        self.student = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.Softplus(), nn.Conv2d(8, 1, 3, padding=1))
        self.alpha = alpha

    def potential_grad(self, x, sigma):
        with torch.enable_grad():
            x = x.requires_grad_()
            N = self.student(x / (1 + sigma))
            JN = torch.autograd.grad(N, x, grad_outputs=x - N, create_graph=True)[0]
        Dg = x - N - JN
        return self.alpha * Dg


class Blur:
    def __init__(self):
        self.kernel = torch.full((1, 1, 3, 3), 1 / 9)

    def A(self, x):
        return nn.functional.conv2d(x, self.kernel, padding=1)

    def A_adjoint(self, y):
        return nn.functional.conv2d(y, self.kernel, padding=1)


def reconstruct(y, physics, prior, max_iter, stepsize=0.5, sigma=0.03):
    x = physics.A_adjoint(y)
    it = 0
    while it < max_iter:
        data_grad = physics.A_adjoint(physics.A(x) - y)
        x = x - stepsize * (data_grad + prior.potential_grad(x, sigma))
        it += 1
        print(it, (physics.A(x) - y).norm().item())
    return x


torch.manual_seed(0)
max_iter = 4
physics, prior = Blur(), GSPnP().eval()
truth = torch.rand(1, 1, 8, 8)
restored = reconstruct(physics.A(truth), physics, prior, max_iter)
print(restored.mean().item())
