import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class WGAN:
    clip_value = 0.05
    n_critic = 3

    def __init__(self, latent=8, n_pixels=25):
        self.latent = latent
        self.G = nn.Sequential(nn.Linear(latent, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, n_pixels), nn.Tanh())
        self.D = nn.Sequential(nn.Linear(n_pixels, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
        self.optimizer = {
            "G": torch.optim.RMSprop(self.G.parameters(), lr=5e-4),
            "D": torch.optim.RMSprop(self.D.parameters(), lr=5e-4),
        }

    def noise(self, n):
        return torch.randn(n, self.latent)

    def d_loss(self, real):
        fake = self.G(self.noise(len(real))).detach()
        return self.D(fake).mean() - self.D(real).mean()

    def g_loss(self, real):
        return -self.D(self.G(self.noise(len(real)))).mean()

    def apply(self, which, real):
        loss = getattr(self, f"{which.lower()}_loss")(real)
        self.optimizer[which].zero_grad()
        loss.backward()
        self.optimizer[which].step()
        return loss.item()

    def clip(self):
        for p in self.D.parameters():
            p.clamp_(-self.clip_value, self.clip_value)

    def fit(self, loader):
        for i, (real,) in enumerate(loader, 1):
            record = {"D": self.apply("D", real)}
            self.clip()
            if i % self.n_critic == 0:
                record["G"] = self.apply("G", real)
            yield record


if __name__ == "__main__":
    torch.manual_seed(0)
    n_batches = 6
    images = torch.rand(n_batches * 8, 25).round() * 2 - 1
    for record in WGAN().fit(DataLoader(TensorDataset(images), batch_size=8)):
        print(record)
