import argparse
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import nn


class FrameGenerator(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.encoder = nn.GRU(size, 12, batch_first=True)
        self.decoder = nn.Linear(12, size)

    def forward(self, clip):
        _, state = self.encoder(clip)
        return self.decoder(state[-1])

    def get_mse(self, truth, pred):
        return torch.mean((truth - pred) ** 2)


class FrameDiscriminator(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(2 * size, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1))

    def forward(self, last, nxt):
        return self.score(torch.cat([last, nxt], dim=1))

    def adversarial(self, last, nxt, real):
        score = self(last, nxt)
        return F.binary_cross_entropy_with_logits(score, torch.full_like(score, float(real)))


def compute_all_losses(nets, opt, batch):
    clip, future = batch
    pred = nets.g(clip)
    last = clip[:, -1]
    results = {}
    results["loss_d"] = nets.d.adversarial(last, future, True) + nets.d.adversarial(last, pred.detach(), False)
    results["loss_g_adv"] = nets.d.adversarial(last, pred, True)
    results["loss_rec"] = nets.g.get_mse(future, pred)
    results["loss_g"] = results["loss_rec"] + opt.lamb_adv * results["loss_g_adv"]
    return results


def train(opt, nets, optimizer_netG, optimizer_netD, loader):
    for i, batch in enumerate(loader):
        res = compute_all_losses(nets, opt, batch)
        loss_netG = res["loss_g"]
        loss_netD = res["loss_d"]

        # Train D
        optimizer_netD.zero_grad()
        loss_netD.backward()
        optimizer_netD.step()

        # Train G
        optimizer_netG.zero_grad()
        loss_netG.backward()
        optimizer_netG.step()
        print(f"[{i}] D {loss_netD.item():.3f} G {loss_netG.item():.3f}")


def main():
    parser = argparse.ArgumentParser("video prediction")
    parser.add_argument("--lamb_adv", type=float, default=0.003)
    parser.add_argument("--lr", type=float, default=1e-3)
    opt = parser.parse_args()
    torch.manual_seed(0)
    n_iters = 4
    loader = [(torch.randn(6, 4, 8), torch.randn(6, 8)) for _ in range(n_iters)]
    nets = SimpleNamespace(g=FrameGenerator(8), d=FrameDiscriminator(8))
    optimizer_netG = torch.optim.Adamax(nets.g.parameters(), lr=opt.lr)
    optimizer_netD = torch.optim.Adamax(nets.d.parameters(), lr=opt.lr)
    train(opt, nets, optimizer_netG, optimizer_netD, loader)


if __name__ == "__main__":
    main()
