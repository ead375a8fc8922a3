import torch
from torch import nn


class Warp(nn.Module):
    """A monotone warp of the unit cube with learned exponents."""

    def __init__(self, d):
        super().__init__()
        self.log_power = nn.Parameter(torch.zeros(d))

    def forward(self, X):
        return X.clamp_min(1e-6) ** self.log_power.exp()


class Normalize(nn.Module):
    """Maps the inputs to the unit cube, by bounds that are learned from the training data."""

    def __init__(self, d):
        super().__init__()
        self.register_buffer("offset", torch.zeros(1, d))
        self.register_buffer("coefficient", torch.ones(1, d))

    def forward(self, X):
        if self.training:
            self._update_coefficients(X)
        return (X - self.offset) / self.coefficient

    def _update_coefficients(self, X):
        self.offset = X.min(dim=-2, keepdim=True).values
        self.coefficient = X.max(dim=-2, keepdim=True).values - self.offset


class ChainedInputTransform(nn.ModuleDict):
    def __init__(self, **transforms):
        super().__init__(transforms)

    def forward(self, X):
        for transform in self.values():
            X = transform(X)
        return X


class Surrogate(nn.Module):
    def __init__(self, transform, d):
        super().__init__()
        self.input_transform = transform
        self.net = nn.Sequential(nn.Linear(d, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, X):
        return self.net(self.input_transform(X))


def fit(model, train_X, train_Y, epochs=3):
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = (model(train_X) - train_Y).pow(2).mean()
        loss.backward()
        optimizer.step()
    return model


def optimize_acqf(model, start, maxiter):
    model.eval()
    candidate = start.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([candidate], lr=0.05)
    for i in range(maxiter):
        optimizer.zero_grad()
        loss = -model(candidate).sum()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            candidate.clamp_(0, 1)
    return candidate.detach()


torch.manual_seed(0)
maxiter = 5
train_X = torch.tensor([[0.0, 0.0], [0.1, 0.1], [0.5, 0.5]])
train_Y = torch.tensor([[0.1], [0.5], [1.0]])
surrogate = Surrogate(ChainedInputTransform(warp=Warp(2), normalize=Normalize(2)), 2)
fit(surrogate, train_X, train_Y)
print(optimize_acqf(surrogate, torch.tensor([[0.3, 0.3]]), maxiter))
