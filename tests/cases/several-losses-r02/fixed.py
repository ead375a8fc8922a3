import argparse

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class Model(nn.Module):
    """All networks behind one forward, which is told what to compute (as data parallel code does it)."""

    def __init__(self, size, code):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(size, 16), nn.LeakyReLU(0.2), nn.Linear(16, code))
        self.mapping = nn.Sequential(nn.Linear(code, code), nn.LeakyReLU(0.2), nn.Linear(code, code))
        self.generator = nn.Sequential(nn.Linear(code, 16), nn.LeakyReLU(0.2), nn.Linear(16, size))
        self.discriminator = nn.Sequential(nn.Linear(size, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
        self.code = code

    def forward(self, inputs, mode):
        if mode == "G":
            z, = inputs
            stylecode = self.mapping(z)
            fake = self.generator(stylecode)
            adv_loss = F.softplus(-self.discriminator(fake)).mean()
            w_rec_loss = F.mse_loss(self.encoder(fake), stylecode)
            return adv_loss, w_rec_loss
        if mode == "D":
            real, z = inputs
            with torch.no_grad():
                fake = self.generator(self.mapping(z))
            return F.softplus(-self.discriminator(real)).mean() + F.softplus(self.discriminator(fake)).mean()
        if mode == "E":
            real, = inputs
            return F.mse_loss(self.generator(self.encoder(real)), real)
        raise ValueError(mode)


def requires_grad(module, flag):
    for p in module.parameters():
        p.requires_grad = flag


def train(args, loader, model, g_optim, d_optim, e_optim):
    for i, (real,) in enumerate(loader):
        z = torch.randn(len(real), model.code)

        requires_grad(model.discriminator, True)
        d_loss = model((real, z), "D")
        d_optim.zero_grad()
        d_loss.backward()
        d_optim.step()
        requires_grad(model.discriminator, False)

        x_rec_loss = model((real,), "E")
        e_optim.zero_grad()
        (x_rec_loss * args.lambda_x_rec_loss).backward()
        e_optim.step()

        adv_loss, w_rec_loss = model((z,), "G")
        g_optim.zero_grad()
        e_optim.zero_grad()
        (adv_loss * args.lambda_adv_loss + w_rec_loss * args.lambda_w_rec_loss).backward()
        g_optim.step()
        e_optim.step()
        print(i, d_loss.item(), adv_loss.item(), w_rec_loss.item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--lambda_x_rec_loss", type=float, default=1)
    parser.add_argument("--lambda_adv_loss", type=float, default=1)
    parser.add_argument("--lambda_w_rec_loss", type=float, default=1)
    args = parser.parse_args()
    torch.manual_seed(0)
    n_batches = 4
    loader = DataLoader(TensorDataset(torch.randn(n_batches * args.batch, 12)), batch_size=args.batch, shuffle=True)
    model = Model(12, 5)
    g_optim = optim.Adam(list(model.generator.parameters()) + list(model.mapping.parameters()), lr=2e-3)
    d_optim = optim.Adam(model.discriminator.parameters(), lr=2e-3)
    e_optim = optim.Adam(list(model.encoder.parameters()) + list(model.generator.parameters()), lr=2e-3)
    train(args, loader, model, g_optim, d_optim, e_optim)
