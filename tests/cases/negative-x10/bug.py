import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call


class SineTasks:
    def __init__(self, shots):
        self.shots = shots

    def sample(self):
        amplitude, phase = 0.5 + 2 * torch.rand(1), 3 * torch.rand(1)
        x = 6 * torch.rand(2 * self.shots, 1) - 3
        y = amplitude * torch.sin(x + phase)
        return (x[: self.shots], y[: self.shots]), (x[self.shots:], y[self.shots:])


class MetaSGD(nn.Module):
    def __init__(self, net, inner_lr=0.02):
        super().__init__()
        self.net = net
        self.lrs = nn.ParameterList(torch.full_like(p, inner_lr) for p in net.parameters())

    def loss(self, weights, batch):
        x, y = batch
        return F.mse_loss(functional_call(self.net, weights, (x,)), y)

    def adapt(self, support, n_inner):
        weights = dict(self.net.named_parameters())
        trail = []
        for _ in range(n_inner):
            loss = self.loss(weights, support)
            trail.append(loss)
            grads = torch.autograd.grad(loss, tuple(weights.values()), create_graph=True)
            weights = {k: w - lr * g for (k, w), lr, g in zip(weights.items(), self.lrs, grads)}
        return weights, trail

    def forward(self, task, n_inner=3, trail_weight=0.05):
        support, query = task
        weights, trail = self.adapt(support, n_inner)
        return self.loss(weights, query) + trail_weight * torch.stack(trail).mean()


def main():
    torch.manual_seed(0)
    n_meta = 5
    tasks = SineTasks(shots=6)
    learner = MetaSGD(nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1)))
    optimizer = torch.optim.Adam(learner.parameters(), lr=2e-3)
    for meta_step in range(n_meta):
        optimizer.zero_grad()
        meta_loss = 0.0
        for _ in range(4):
            meta_loss = meta_loss + learner(tasks.sample())
        (meta_loss / 4).backward()
        nn.utils.clip_grad_norm_(learner.parameters(), 5.0)
        optimizer.step()
        print(meta_step, meta_loss.item() / 4)


main()
