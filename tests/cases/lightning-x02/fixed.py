import torch
import torch.nn.functional as F
from torch import nn


class GANModule(nn.Module):
    """training_step is called once for each optimizer."""

    def __init__(self, latent=6, n_pixels=16, regularize_every=3):
        super().__init__()
        self.latent, self.every = latent, regularize_every
        self.generator = nn.Sequential(nn.Linear(latent, 24), nn.ReLU(), nn.Linear(24, n_pixels), nn.Tanh())
        self.discriminator = nn.Sequential(nn.Linear(n_pixels, 24), nn.Softplus(), nn.Linear(24, 1))
        self.d_reg_loss = torch.tensor(0.0)
        self.logged = {}

    def log(self, name, value):
        self.logged[name] = value.item()

    def r1(self, real):
        real = real.clone().requires_grad_()
        score = self.discriminator(real)
        (slope,) = torch.autograd.grad(score.sum(), real, create_graph=True)
        return slope.square().sum(1).mean()

    def training_step(self, real, batch_idx, optimizer_idx):
        z = torch.randn(len(real), self.latent)
        if optimizer_idx == 0:
            fake = self.generator(z).detach()
            d_loss = F.softplus(self.discriminator(fake)).mean() + F.softplus(-self.discriminator(real)).mean()
            self.log("d_loss", d_loss)
            if batch_idx % self.every == 0:
                self.d_reg_loss = self.r1(real)
                d_loss = d_loss + 5.0 * self.d_reg_loss
            self.log("r1", self.d_reg_loss)
            return {"loss": d_loss}
        if optimizer_idx == 1:
            g_loss = F.softplus(-self.discriminator(self.generator(z))).mean()
            self.log("g_loss", g_loss)
            return {"loss": g_loss}

    def configure_optimizers(self):
        betas = (0.0, 0.99)
        return (
            torch.optim.Adam(self.discriminator.parameters(), lr=1e-3, betas=betas),
            torch.optim.Adam(self.generator.parameters(), lr=1e-3, betas=betas),
        )


def toggle(optimizers, active):
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            for p in group["params"]:
                p.requires_grad_(optimizer is active)


class Loop:
    def __init__(self, module):
        self.module = module
        self.optimizers = module.configure_optimizers()

    def run(self, batches):
        for batch_idx, batch in enumerate(batches):
            for optimizer_idx, optimizer in enumerate(self.optimizers):
                toggle(self.optimizers, optimizer)
                out = self.module.training_step(batch, batch_idx, optimizer_idx)
                optimizer.zero_grad()
                out["loss"].backward()
                optimizer.step()
            print(batch_idx, self.module.logged)


def main():
    torch.manual_seed(0)
    n_batches = 7
    Loop(GANModule()).run([torch.randn(8, 16).sign() for _ in range(n_batches)])


main()
