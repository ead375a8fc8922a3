import torch
import torch.nn as nn
from torch.distributions import Independent, Normal, kl_divergence


class VAE(nn.Module):
    """The prior's mean and scale are trained too."""

    def __init__(self, n_in=12, n_latent=3):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(n_in, 24), nn.Tanh(), nn.Linear(24, 2 * n_latent))
        self.decoder = nn.Sequential(nn.Linear(n_latent, 24), nn.Tanh(), nn.Linear(24, n_in))
        self.prior_mean = nn.Parameter(torch.zeros(n_latent))
        self.prior_logscale = nn.Parameter(torch.zeros(n_latent))


    def forward(self, x):
        mean, logscale = self.encoder(x).chunk(2, dim=-1)
        posterior = Independent(Normal(mean, logscale.exp()), 1)
        z = posterior.rsample()
        return self.decoder(z), posterior

    def loss(self, x, beta=0.5):
        x_hat, posterior = self(x)
        rec = (x_hat - x).pow(2).sum(dim=-1)
        prior = Independent(Normal(self.prior_mean, self.prior_logscale.exp()), 1)
        kl = kl_divergence(posterior, prior)
        return (rec + beta * kl).mean()


def main():
    torch.manual_seed(0)
    n_batches = 4
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for batch in range(n_batches):
        loss = model.loss(torch.randn(16, 12))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(batch, loss.item())


main()
