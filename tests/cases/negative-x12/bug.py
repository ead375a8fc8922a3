import torch
import torch.nn.functional as F
from torch import nn


class AdversarialCodec:
    """Two encoders' codes are to look alike; every loss comes from one forward."""

    def __init__(self, dim=6):
        self.left, self.right = nn.Linear(8, dim), nn.Linear(8, dim)
        self.judge = nn.Sequential(nn.Linear(dim, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
        self.decoder = nn.Linear(dim, 8)
        self.opt_codes = torch.optim.Adam([*self.left.parameters(), *self.right.parameters()], lr=1e-3)
        self.opt_decoder = torch.optim.SGD(self.decoder.parameters(), lr=1e-2)
        self.opt_judge = torch.optim.Adam(self.judge.parameters(), lr=1e-3)

    def judge_loss(self, a, b):
        scores = self.judge(torch.cat([a, b]).detach())
        truth = torch.cat([torch.ones(len(a), 1), torch.zeros(len(b), 1)])
        return F.binary_cross_entropy_with_logits(scores, truth)

    def fool_loss(self, b):
        return F.binary_cross_entropy_with_logits(self.judge(b), torch.ones(len(b), 1))

    def step(self, x, y):
        a, b = self.left(x).tanh(), self.right(y).tanh()

        self.opt_judge.zero_grad()
        judging = self.judge_loss(a, b)
        judging.backward()
        self.opt_judge.step()

        for optimizer in (self.opt_codes, self.opt_decoder):
            optimizer.zero_grad()
        fooling = self.fool_loss(b)
        rebuilding = F.mse_loss(self.decoder(a), x) + F.mse_loss(self.decoder(b), y)
        fooling.backward(retain_graph=True)
        rebuilding.backward()
        for optimizer in (self.opt_codes, self.opt_decoder):
            optimizer.step()
        return {"judge": judging.item(), "fool": fooling.item(), "rebuild": rebuilding.item()}


def gradient_share(codec, x):
    """How much of the encoder's gradient comes from each row; one graph, many passes."""
    code = codec.left(x)
    rows = F.mse_loss(codec.decoder(code), x, reduction="none").mean(1)
    weight = codec.left.weight
    norms = [torch.autograd.grad(row, weight, retain_graph=True)[0].norm() for row in rows]
    return torch.stack(norms)


def main():
    torch.manual_seed(0)
    n_steps = 6
    codec = AdversarialCodec()
    rotation = torch.linalg.qr(torch.randn(8, 8))[0]
    shares = []
    for step in range(n_steps):
        x = torch.randn(12, 8)
        print(step, codec.step(x, torch.randn(12, 8) @ rotation))
        shares.append(gradient_share(codec, x[:4]))
    print(torch.stack(shares).mean(0))


main()
