import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

N_SCALAR = 1


def scaled_l2(pred, target):
    diff = (pred - target).flatten(1).norm(dim=1)
    return (diff / target.flatten(1).norm(dim=1).clamp_min(1e-6)).mean()


class PDEModel(nn.Module):
    """Predicts the next scalar and vector fields of a flow."""

    def __init__(self, components):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(components, 8, 3, padding=1), nn.GELU(), nn.Conv2d(8, components, 3, padding=1))
        self.train_criterion = scaled_l2

    def forward(self, x):
        return self.net(x)

    def train_step(self, batch):
        x, y = batch
        pred = self(x)
        return self.train_criterion(pred, y), pred, y

    def training_step(self, batch, batch_idx):
        loss, preds, targets = self.train_step(batch)
        scalar_loss = self.train_criterion(preds[:, :N_SCALAR], targets[:, :N_SCALAR])
        vector_loss = self.train_criterion(preds[:, N_SCALAR:], targets[:, N_SCALAR:])
        return {"loss": loss, "scalar_loss": scalar_loss, "vector_loss": vector_loss}

    def training_epoch_end(self, outputs):
        for key in outputs[0]:
            mean = sum(float(out[key]) for out in outputs) / len(outputs)
            print(f"train/{key}_epoch {mean:.4f}")


class FitLoop:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.outputs = []

    def advance(self, batch, batch_idx):
        step_output = self.model.training_step(batch, batch_idx)
        closure_loss = step_output["loss"]
        self.optimizer.zero_grad()
        closure_loss.backward()
        self.optimizer.step()
        step_output["loss"] = closure_loss.detach()
        return step_output

    def run(self, loader, epochs):
        for _ in range(epochs):
            self.outputs = []
            for batch_idx, batch in enumerate(loader):
                self.outputs.append(self.advance(batch, batch_idx))
            self.model.training_epoch_end(self.outputs)


def main():
    torch.manual_seed(0)
    n_batches = 4
    fields = torch.randn(n_batches * 2, 3, 8, 8)
    loader = DataLoader(TensorDataset(fields, fields.roll(1, dims=3)), batch_size=2)
    model = PDEModel(3)
    FitLoop(model, torch.optim.AdamW(model.parameters(), lr=2e-4)).run(loader, epochs=2)


main()
