import torch
import torch.nn.functional as F
from torch import nn

REGISTRY = {}


def model(cls):
    REGISTRY[cls.__name__.lower()] = cls
    return cls


class BaseModel:
    loss_names = ()

    def set_input(self, batch):
        self.real_A, self.real_B = batch

    def current_losses(self):
        return {name: getattr(self, f"loss_{name}").item() for name in self.loss_names}

    def set_requires_grad(self, net, flag):
        for p in net.parameters():
            p.requires_grad = flag


@model
class Colorizer(BaseModel):
    loss_names = ("G_GAN", "G_L1", "G_feature", "D")

    def __init__(self, width=6):
        self.netG = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, 3, 3, padding=1), nn.Tanh())
        self.features = nn.Sequential(nn.Conv2d(4, width, 3, stride=2, padding=1), nn.LeakyReLU(0.2))
        self.judge = nn.Conv2d(width, 1, 3, padding=1)
        self.netD = nn.Sequential(self.features, self.judge)
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=2e-4)
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), lr=2e-4)

    def forward(self):
        self.fake_B = self.netG(self.real_A)

    def pair(self, b):
        return torch.cat([self.real_A, b], dim=1)

    def backward_D(self):
        fake = self.netD(self.pair(self.fake_B.detach()))
        real = self.netD(self.pair(self.real_B))
        self.loss_D = 0.5 * (F.mse_loss(fake, torch.zeros_like(fake)) + F.mse_loss(real, torch.ones_like(real)))
        self.loss_D.backward()

    def backward_G(self):
        seen = self.features(self.pair(self.fake_B))
        score = self.judge(seen)
        self.loss_G_GAN = F.mse_loss(score, torch.ones_like(score))
        self.loss_G_L1 = 100 * F.l1_loss(self.fake_B, self.real_B)
        self.loss_G_feature = F.l1_loss(seen, self.features(self.pair(self.real_B)).detach())
        for name in self.loss_names:
            if name.startswith("G"):
                getattr(self, "loss_" + name).backward()

    def optimize_parameters(self):
        self.forward()
        self.set_requires_grad(self.netD, True)
        self.optimizer_D.zero_grad()
        self.backward_D()
        self.optimizer_D.step()
        self.set_requires_grad(self.netD, False)
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()


def main(name="colorizer"):
    torch.manual_seed(0)
    n_iters = 5
    colorizer = REGISTRY[name]()
    for i in range(n_iters):
        color = torch.rand(2, 3, 8, 8)
        colorizer.set_input((color.mean(1, keepdim=True), color))
        colorizer.optimize_parameters()
        print(i, colorizer.current_losses())


if __name__ == "__main__":
    main()
