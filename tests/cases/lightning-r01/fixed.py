import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Spots(Dataset):
    """A spot holds several cells; some of them lie inside of it."""

    def __init__(self, n, cells=5, dim=8, genes=3):
        g = torch.Generator().manual_seed(0)
        self.x = torch.randn(n, cells, dim, generator=g)
        self.y = torch.randn(n, cells, genes, generator=g)
        self.inside = torch.rand(n, cells, generator=g) > 0.3

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"cells": self.x[i], "targets": self.y[i], "inside": self.inside[i]}


class SpotToCell(nn.Module):
    def __init__(self, dim=8, genes=3, lr=1e-3):
        super().__init__()
        self.lr = lr
        self.phi = nn.Sequential(nn.Linear(dim, 16), nn.GELU(), nn.Linear(16, 16))
        self.rho = nn.Linear(16, genes)
        self._reset()

    def _reset(self):
        self.train_preds, self.train_targets = [], []
        self.val_preds, self.val_targets = [], []

    def forward(self, cells):
        h = self.phi(cells)
        return self.rho(h + h.mean(dim=1, keepdim=True))

    def training_step(self, batch, batch_idx):
        preds = self(batch["cells"])
        loss = F.mse_loss(preds.mean(dim=1), batch["targets"].mean(dim=1))
        inside_mask = batch["inside"]
        if inside_mask.any():
            self.train_preds.append(preds[inside_mask].detach())
            self.train_targets.append(batch["targets"][inside_mask])
        return loss

    def on_train_epoch_end(self):
        preds, targets = torch.cat(self.train_preds), torch.cat(self.train_targets)
        corr = F.cosine_similarity(preds - preds.mean(0), targets - targets.mean(0), dim=0)
        print("train corr", [round(c, 3) for c in corr.tolist()])
        self._reset()

    @torch.no_grad()
    def validation_step(self, batch, batch_idx):
        preds = self(batch["cells"])
        self.val_preds.append(preds[batch["inside"]])
        self.val_targets.append(batch["targets"][batch["inside"]])

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.lr)


class Trainer:
    def __init__(self, max_epochs):
        self.max_epochs = max_epochs

    def fit(self, model, train_loader, val_loader):
        optimizer = model.configure_optimizers()
        for _ in range(self.max_epochs):
            model.train()
            for i, batch in enumerate(train_loader):
                loss = model.training_step(batch, i)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            model.eval()
            for i, batch in enumerate(val_loader):
                model.validation_step(batch, i)
            model.on_train_epoch_end()


if __name__ == "__main__":
    torch.manual_seed(0)
    n_batches = 5
    train = DataLoader(Spots(n_batches * 4), batch_size=4, shuffle=True)
    val = DataLoader(Spots(8), batch_size=4)
    Trainer(max_epochs=2).fit(SpotToCell(), train, val)
