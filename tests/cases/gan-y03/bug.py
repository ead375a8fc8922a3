import itertools

import torch
import torch.nn as nn


def generator():
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 3, 3, padding=1), nn.Tanh())


def discriminator():
    return nn.Sequential(nn.Conv2d(3, 8, 4, stride=2), nn.LeakyReLU(0.2), nn.Conv2d(8, 1, 3))


class CycleGAN:
    def __init__(self, lr=2e-4):
        self.G_AB, self.G_BA = generator(), generator()
        self.D_A, self.D_B = discriminator(), discriminator()
        self.g_optim = torch.optim.Adam(itertools.chain(self.G_AB.parameters(), self.G_BA.parameters()), lr=lr)
        self.d_optim = torch.optim.Adam(itertools.chain(self.D_A.parameters(), self.D_B.parameters()), lr=lr)
        self.mse, self.l1 = nn.MSELoss(), nn.L1Loss()

    def train_batch(self, real_A, real_B):
        fake_B = self.G_AB(real_A)
        fake_A = self.G_BA(real_B)
        cycle_A, cycle_B = self.G_BA(fake_B), self.G_AB(fake_A)
        score_A, score_B = self.D_A(fake_A), self.D_B(fake_B)
        ones = torch.ones_like(score_A)
        g_loss = self.mse(score_A, ones) + self.mse(score_B, ones) + 10 * (self.l1(cycle_A, real_A) + self.l1(cycle_B, real_B))

        self.d_optim.zero_grad()
        d_loss = 0
        for d, real, fake in ((self.D_A, real_A, fake_A), (self.D_B, real_B, fake_B)):
            pred_real, pred_fake = d(real), d(fake.detach())
            d_loss = d_loss + self.mse(pred_real, torch.ones_like(pred_real)) + self.mse(pred_fake, torch.zeros_like(pred_fake))
        d_loss.backward()
        self.d_optim.step()

        self.g_optim.zero_grad()
        g_loss.backward()
        self.g_optim.step()
        return g_loss.item(), d_loss.item()


torch.manual_seed(0)
n_batches = 4
gan = CycleGAN()
for i in range(n_batches):
    print(i, gan.train_batch(torch.rand(2, 3, 16, 16), torch.rand(2, 3, 16, 16)))
