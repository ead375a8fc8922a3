import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Coupling(nn.Module):
    def __init__(self, event_size, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(event_size // 2, 16), nn.Tanh(), nn.Linear(16, event_size))

    def forward(self, x):
        a, b = x.chunk(2, dim=-1)
        if self.flip:
            a, b = b, a
        log_scale, shift = self.net(a).chunk(2, dim=-1)
        b = b * log_scale.exp() + shift
        return torch.cat([a, b], dim=-1), log_scale.sum(dim=-1)


class Flow(nn.Module):
    def __init__(self, event_size, n_layers=2):
        super().__init__()
        self.layers = nn.ModuleList([Coupling(event_size, bool(k % 2)) for k in range(n_layers)])
        self.base = torch.distributions.Normal(0.0, 1.0)

    def log_prob(self, x):
        log_det = torch.zeros(len(x))
        for layer in self.layers:
            x, ld = layer(x)
            log_det = log_det + ld
        return self.base.log_prob(x).sum(dim=-1) + log_det

    def fit(self, x_train, n_epochs=3, lr=0.01, batch_size=16):
        self.train()
        optimizer = torch.optim.AdamW(self.parameters(), lr=lr)
        loader = DataLoader(TensorDataset(x_train), batch_size=batch_size)
        for epoch in range(n_epochs):
            for (batch_x,) in loader:
                optimizer.zero_grad()
                train_loss = -self.log_prob(batch_x).mean()
                train_loss.backward()
                optimizer.step()
            print(epoch, train_loss.item())


class AutoEncoder(nn.Module):
    def __init__(self, n_features, latent):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(n_features, 32), nn.ReLU(), nn.Linear(32, latent))
        self.decoder = nn.Sequential(nn.Linear(latent, 32), nn.ReLU(), nn.Linear(32, n_features))

    def forward(self, x):
        return self.decoder(self.encoder(x))


torch.manual_seed(0)
data = torch.randn(64, 12) @ torch.randn(12, 12)

# 1. the autoencoder
ae = AutoEncoder(12, 6)
optim = torch.optim.Adam(ae.parameters(), lr=1e-2)
for _ in range(5):
    optim.zero_grad()
    rec_loss = nn.functional.mse_loss(ae(data), data)
    rec_loss.backward()
    optim.step()

# 2. the density of its latent space
n_epochs = 3
ae.eval()
latent_x = ae.encoder(data).detach()
flow = Flow(6)
flow.fit(latent_x, n_epochs=n_epochs)
