import argparse

import torch
from torch import nn


def conv_block(n_in, n_out):
    return nn.Sequential(nn.Conv2d(n_in, n_out, 3), nn.BatchNorm2d(n_out), nn.LeakyReLU(0.2))


class Generator(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.head, self.body = conv_block(1, width), conv_block(width, width)
        self.tail = nn.Sequential(nn.Conv2d(width, 1, 3), nn.Tanh())

    def forward(self, noise, previous):
        out = self.tail(self.body(self.head(noise + previous)))
        crop = (previous.size(2) - out.size(2)) // 2
        return out + previous[:, :, crop:-crop, crop:-crop]


class WDiscriminator(nn.Sequential):
    def __init__(self, width):
        super().__init__(conv_block(1, width), conv_block(width, width), nn.Conv2d(width, 1, 1))


def pad(x, n=3):
    return nn.functional.pad(x, [n] * 4)


def train_single_scale(netD, netG, real, opt):
    optimizerD = torch.optim.Adam(netD.parameters(), lr=opt.lr, betas=(0.5, 0.999))
    optimizerG = torch.optim.Adam(netG.parameters(), lr=opt.lr, betas=(0.5, 0.999))
    z_opt = torch.randn_like(real)
    previous = pad(torch.zeros_like(real))
    curve = []
    for epoch in range(opt.niter):
        noise = pad(torch.randn_like(real))
        for _ in range(opt.Dsteps):
            netD.zero_grad()
            errD_real = -netD(real).mean()
            errD_real.backward()
            fake = netG(noise, previous)
            errD_fake = netD(fake.detach()).mean()
            errD_fake.backward()
            optimizerD.step()

        for _ in range(opt.Gsteps):
            netG.zero_grad()
            output = netD(fake)
            errG = -output.mean()
            errG.backward(retain_graph=True)
            rec_loss = opt.alpha * nn.functional.mse_loss(netG(pad(z_opt), previous), real)
            rec_loss.backward()
            optimizerG.step()
        curve.append((errD_real.item(), errD_fake.item(), errG.item(), rec_loss.item()))
    return curve


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=5e-4)
    parser.add_argument("--alpha", type=float, default=10)
    parser.add_argument("--Gsteps", type=int, default=3)
    parser.add_argument("--Dsteps", type=int, default=2)
    opt = parser.parse_args([])
    niter = 4
    opt.niter = niter
    torch.manual_seed(0)
    real = torch.rand(1, 1, 12, 12) * 2 - 1
    for row in train_single_scale(WDiscriminator(6), Generator(6), real, opt):
        print(" ".join(f"{v:.4f}" for v in row))


if __name__ == "__main__":
    main()
