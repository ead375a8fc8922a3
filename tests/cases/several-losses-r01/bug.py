import torch
import torch.nn as nn
import torch.nn.functional as F


def diversity(feat_fake, feat_real):
    """Distance between the kernels of the features of a real and of a generated batch."""
    phi = F.normalize(feat_fake, dim=1)
    s_b = phi @ phi.t()
    phi = F.normalize(feat_real, dim=1)
    s_a = phi @ phi.t()
    return (s_a - s_b).pow(2).mean()


class BaseGAN(object):
    def __init__(self, dim_latent=6, dim_data=10, gdpp=True):
        self.dim_latent = dim_latent
        self.gdpp = gdpp
        self.netG = nn.Sequential(nn.Linear(dim_latent, 20), nn.ReLU(), nn.Linear(20, dim_data))
        self.body = nn.Sequential(nn.Linear(dim_data, 20), nn.LeakyReLU(0.2))
        self.head = nn.Linear(20, 1)
        d_params = list(self.body.parameters()) + list(self.head.parameters())
        self.optimizerD = torch.optim.Adam(d_params, betas=(0.0, 0.99), lr=1e-3)
        self.optimizerG = torch.optim.Adam(self.netG.parameters(), betas=(0.0, 0.99), lr=1e-3)

    def netD(self, x, get_feature=False):
        feature = self.body(x)
        score = self.head(feature)
        if get_feature:
            return score, feature
        return score

    def build_noise(self, n):
        return torch.randn(n, self.dim_latent)

    def optimize_d(self, real):
        n = real.size(0)
        self.optimizerD.zero_grad()
        loss_real = F.softplus(-self.netD(real)).mean()
        loss_fake = F.softplus(self.netD(self.netG(self.build_noise(n)).detach())).mean()
        (loss_real + loss_fake).backward()
        self.optimizerD.step()
        return {"lossD": loss_real.item() + loss_fake.item()}

    def optimize_g(self, real):
        all_losses = {}
        self.optimizerG.zero_grad()
        self.optimizerD.zero_grad()
        fake = self.netG(self.build_noise(real.size(0)))
        pred, phi_fake = self.netD(fake, True)
        loss_g_fake = F.softplus(-pred).mean()
        all_losses["lossG_fake"] = loss_g_fake.item()
        loss_g_fake.backward()

        if self.gdpp:
            _, phi_real = self.netD(real, True)
            loss_gdpp = diversity(phi_fake, phi_real)
            all_losses["lossG_GDPP"] = loss_gdpp.item()
            loss_gdpp.backward()

        self.optimizerG.step()
        return all_losses


def main():
    torch.manual_seed(0)
    model = BaseGAN()
    n_iters = 4
    for _ in range(n_iters):
        real = torch.randn(8, 10) * 0.5 + 1
        losses = model.optimize_d(real)
        losses.update(model.optimize_g(real))
        print(losses)


if __name__ == "__main__":
    main()
