import random

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class HistoryBuffer:
    """Hands the discriminator a mix of new and earlier pictures."""

    def __init__(self, capacity=50):
        self.capacity = capacity
        self.pictures = []

    def push_and_pop(self, batch):
        mixed = []
        for picture in batch.split(1):
            if len(self.pictures) < self.capacity:
                self.pictures.append(picture)
                mixed.append(picture)
            elif random.random() > 0.5:
                i = random.randrange(self.capacity)
                mixed.append(self.pictures[i].clone())
                self.pictures[i] = picture
            else:
                mixed.append(picture)
        return torch.cat(mixed)


def translator():
    return nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.InstanceNorm2d(6), nn.ReLU(), nn.Conv2d(6, 1, 3, padding=1))


def patch_judge():
    return nn.Sequential(nn.Conv2d(1, 6, 4, stride=2, padding=1), nn.LeakyReLU(0.2), nn.Conv2d(6, 1, 3, padding=1))


torch.manual_seed(0)
random.seed(0)
n_pairs = 5
horses = torch.rand(n_pairs * 2, 1, 8, 8)
zebras = (torch.arange(8) % 2).float().expand(n_pairs * 2, 1, 8, 8) * torch.rand(n_pairs * 2, 1, 1, 1)
loader = DataLoader(TensorDataset(horses, zebras), batch_size=2, shuffle=True)

G_AB, G_BA = translator(), translator()
D_A, D_B = patch_judge(), patch_judge()
opt_G = torch.optim.Adam([*G_AB.parameters(), *G_BA.parameters()], lr=2e-4, betas=(0.5, 0.999))
opt_D_A = torch.optim.Adam(D_A.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_D_B = torch.optim.Adam(D_B.parameters(), lr=2e-4, betas=(0.5, 0.999))
adversarial, cycle = nn.MSELoss(), nn.L1Loss()
fake_A_buffer, fake_B_buffer = HistoryBuffer(), HistoryBuffer()


def hinge_to(target, score):
    return adversarial(score, torch.full_like(score, target))


for i, (real_A, real_B) in enumerate(loader):
    opt_G.zero_grad()
    fake_B = G_AB(real_A)
    fake_A = G_BA(real_B)
    loss_gan = hinge_to(1.0, D_B(fake_B)) + hinge_to(1.0, D_A(fake_A))
    loss_cycle = cycle(G_BA(fake_B), real_A) + cycle(G_AB(fake_A), real_B)
    loss_G = loss_gan / 2 + 10 * loss_cycle
    loss_G.backward()
    opt_G.step()

    for judge, optimizer, real, fake, history in (
        (D_A, opt_D_A, real_A, fake_A, fake_A_buffer),
        (D_B, opt_D_B, real_B, fake_B, fake_B_buffer),
    ):
        optimizer.zero_grad()
        shown = history.push_and_pop(fake)
        loss_D = (hinge_to(1.0, judge(real)) + hinge_to(0.0, judge(shown.detach()))) / 2
        loss_D.backward()
        optimizer.step()
    print(f"[{i}] G {loss_G.item():.3f} D {loss_D.item():.3f}")
