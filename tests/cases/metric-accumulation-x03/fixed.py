from dataclasses import dataclass, field
from typing import Dict, List

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Event:
    step: int
    tag: str
    value: float


@dataclass
class Tracker:
    """Collects scalars and writes a summary at the end of the run."""

    events: List[Event] = field(default_factory=list)
    best: Dict[str, float] = field(default_factory=dict)

    def add_scalar(self, tag, value, step):
        value = float(value)
        self.events.append(Event(step, tag, value))
        if tag not in self.best or value < self.best[tag]:
            self.best[tag] = value

    def add_scalars(self, prefix, values, step):
        for tag, value in values.items():
            self.add_scalar(f"{prefix}/{tag}", value, step)

    def summary(self):
        for tag, best in sorted(self.best.items()):
            values = [e.value for e in self.events if e.tag == tag]
            yield f"{tag:<16} best {best:.4f} last {values[-1]:.4f}"


class VAE(nn.Module):
    def __init__(self, n_in=16, z=3):
        super().__init__()
        self.enc = nn.Linear(n_in, 2 * z)
        self.dec = nn.Sequential(nn.Linear(z, 16), nn.Tanh(), nn.Linear(16, n_in))

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=1)
        z = mu + (0.5 * logvar).exp() * torch.randn_like(mu)
        return self.dec(z), mu, logvar


def elbo(model, x, beta):
    out, mu, logvar = model(x)
    reconstruction = F.mse_loss(out, x, reduction="sum") / len(x)
    kl = 0.5 * (mu**2 + logvar.exp() - 1 - logvar).sum(1).mean()
    return reconstruction + beta * kl, {"reconstruction": reconstruction, "kl": kl}


def train(n_iterations, warmup=4):
    model, tracker = VAE(), Tracker()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    basis = torch.randn(3, 16)
    for i in range(n_iterations):
        x = torch.randn(12, 3) @ basis
        loss, parts = elbo(model, x, beta=min(1.0, i / warmup))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tracker.add_scalar("loss", loss.item(), i)
        tracker.add_scalars("parts", parts, i)
    return tracker


if __name__ == "__main__":
    torch.manual_seed(0)
    n_iterations = 6
    print("\n".join(train(n_iterations).summary()))
