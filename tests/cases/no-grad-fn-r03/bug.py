import contextlib

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LitFilter(nn.Module):
    """A filter whose test step adapts a noise level to each batch by a few steps of gradient descent."""

    def __init__(self, inner_steps):
        super().__init__()
        self.inner_steps = inner_steps
        self.model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 4))

    def training_step(self, batch):
        x, y = batch
        return nn.functional.mse_loss(self.model(x), y)

    def adapt(self, x, y):
        gain = torch.zeros(4, requires_grad=True)
        optimizer = torch.optim.SGD([gain], lr=0.1)
        for _ in range(self.inner_steps):
            estimate = x + torch.sigmoid(gain) * (self.model(x) - x)
            loss = nn.functional.mse_loss(estimate, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return loss.item()

    def test_step(self, batch):
        return self.adapt(*batch)


class Trainer:
    def __init__(self, max_epochs=1, inference_mode=True):
        self.max_epochs = max_epochs
        self.inference_mode = inference_mode

    def _evaluation_context(self):
        return torch.no_grad() if self.inference_mode else contextlib.nullcontext()

    def fit(self, module, loader):
        optimizer = torch.optim.Adam(module.model.parameters(), lr=1e-2)
        module.train()
        for _ in range(self.max_epochs):
            for batch in loader:
                optimizer.zero_grad()
                loss = module.training_step(batch)
                loss.backward()
                optimizer.step()

    def test(self, module, loader):
        module.eval()
        results = []
        with self._evaluation_context():
            for batch in loader:
                results.append(module.test_step(batch))
        return results


torch.manual_seed(0)
inner_steps = 3
x = torch.randn(24, 4)
loader = DataLoader(TensorDataset(x, x.cumsum(1)), batch_size=8)
module = LitFilter(inner_steps)
trainer = Trainer(max_epochs=2)
trainer.fit(module, loader)
print(trainer.test(module, loader))
