import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LRFinder:
    """Raises the rate exponentially and keeps the smoothed loss of each batch."""

    def __init__(self, model, optimizer, criterion):
        self.model, self.optimizer, self.criterion = model, optimizer, criterion
        self.history = {"lr": [], "loss": []}
        self.best_loss = None

    def range_test(self, loader, start_lr, end_lr, num_iter, smooth_f=0.05, diverge_th=5):
        factor = (end_lr / start_lr) ** (1 / num_iter)
        lr = start_lr
        batches = iter(loader)
        for iteration in range(num_iter):
            for group in self.optimizer.param_groups:
                group["lr"] = lr
            try:
                x, y = next(batches)
            except StopIteration:
                batches = iter(loader)
                x, y = next(batches)
            loss = self._train_batch(x, y)
            if iteration == 0:
                self.best_loss = loss
            else:
                if smooth_f > 0:
                    loss = smooth_f * loss + (1 - smooth_f) * self.history["loss"][-1]
                if loss < self.best_loss:
                    self.best_loss = loss
            self.history["lr"].append(lr)
            self.history["loss"].append(loss)
            if loss > diverge_th * self.best_loss:
                break
            lr *= factor

    def _train_batch(self, x, y):
        self.model.train()
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def suggestion(self):
        losses = [float(v) for v in self.history["loss"]]
        slopes = [b - a for a, b in zip(losses, losses[1:])]
        return self.history["lr"][slopes.index(min(slopes))]


if __name__ == "__main__":
    torch.manual_seed(0)
    num_iter = 8
    x = torch.randn(40, 6)
    y = (x @ torch.randn(6) > 0).long()
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
    finder = LRFinder(model, torch.optim.SGD(model.parameters(), lr=1e-4), F.cross_entropy)
    finder.range_test(DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True), 1e-4, 1.0, num_iter)
    print(finder.suggestion(), math.log10(finder.suggestion()))
