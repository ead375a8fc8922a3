import torch
import torch.nn.functional as F
from torch import nn


def shuffle_dims(z):
    return torch.stack([column[torch.randperm(len(z))] for column in z.unbind(dim=1)], dim=1)


class FactorEncoder(nn.Module):
    def __init__(self, n_pixels=36, z_dim=4):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(n_pixels, 32), nn.ReLU(), nn.Linear(32, 2 * z_dim))
        self.decode = nn.Sequential(nn.Linear(z_dim, 32), nn.ReLU(), nn.Linear(32, n_pixels))

    def forward(self, x):
        mu, logvar = self.encode(x).chunk(2, dim=1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.decode(z), mu, logvar, z


class Critic(nn.Module):
    def __init__(self, z_dim=4):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(z_dim, 24), nn.LeakyReLU(0.2, True), nn.Linear(24, 24), nn.LeakyReLU(0.2, True), nn.Linear(24, 2)
        )

    def forward(self, z):
        return self.net(z)


class Solver:
    def __init__(self, gamma=6.0):
        self.gamma = gamma
        self.vae, self.critic = FactorEncoder(), Critic()
        self.optim_vae = torch.optim.Adam(self.vae.parameters(), lr=1e-3)
        self.optim_critic = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def batches(self, n, size=16):
        for _ in range(n):
            yield torch.rand(size, 36), torch.rand(size, 36)

    def train(self, n_iters):
        for it, (x1, x2) in enumerate(self.batches(n_iters)):
            recon, mu, logvar, z = self.vae(x1)
            rebuilt = F.binary_cross_entropy_with_logits(recon, x1, reduction="sum") / len(x1)
            kld = -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum(1).mean()
            d_z = self.critic(z)
            total_correlation = (d_z[:, 0] - d_z[:, 1]).mean()
            vae_loss = rebuilt + kld + self.gamma * total_correlation

            self.optim_vae.zero_grad()
            vae_loss.backward()
            self.optim_vae.step()

            with torch.no_grad():
                z_other = self.vae(x2)[-1]
            d_shuffled = self.critic(shuffle_dims(z_other))
            joint = torch.zeros(len(x1), dtype=torch.long)
            d_z = self.critic(z.detach())
            critic_loss = 0.5 * (F.cross_entropy(d_z, joint) + F.cross_entropy(d_shuffled, torch.ones_like(joint)))

            self.optim_critic.zero_grad()
            critic_loss.backward()
            self.optim_critic.step()
            if it % 2 == 0:
                print(it, vae_loss.item(), critic_loss.item())


if __name__ == "__main__":
    torch.manual_seed(0)
    n_iters = 5
    Solver().train(n_iters)
