from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TinyDetector(nn.Module):
    def __init__(self, n_classes=3):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.SiLU(), nn.Flatten(), nn.Linear(8 * 16, 32))
        self.box = nn.Linear(32, 4)
        self.cls = nn.Linear(32, n_classes)

    def forward(self, image):
        h = F.silu(self.body(image))
        return self.box(h).sigmoid(), self.cls(h)


class DetectionLoss:
    def __init__(self, **rates):
        self.rates = rates

    def __call__(self, outputs, boxes, labels):
        box, cls = outputs
        parts = {
            "BoxLoss": F.smooth_l1_loss(box, boxes),
            "BCELoss": F.binary_cross_entropy_with_logits(cls, F.one_hot(labels, cls.size(1)).float()),
        }
        loss = sum(self.rates[name] * value for name, value in parts.items())
        return loss, parts


class ModelTrainer:
    def __init__(self, model, loss_fn, lr=1e-3):
        self.model, self.loss_fn = model, loss_fn
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, nesterov=True)

    def train_one_batch(self, image, boxes, labels):
        self.optimizer.zero_grad()
        loss, loss_item = self.loss_fn(self.model(image), boxes, labels)
        loss.backward()
        self.optimizer.step()
        return loss_item

    def train_one_epoch(self, dataloader):
        self.model.train()
        total_loss = defaultdict(lambda: torch.tensor(0.0))
        for batch in dataloader:
            batch_loss = self.train_one_batch(*batch)
            for loss_name, loss_val in batch_loss.items():
                total_loss[loss_name] += loss_val
        for name in total_loss:
            total_loss[name] /= len(dataloader)
        return {name: round(value.item(), 4) for name, value in total_loss.items()}


if __name__ == "__main__":
    torch.manual_seed(0)
    n_batches = 6
    count = n_batches * 4
    data = TensorDataset(torch.rand(count, 1, 8, 8), torch.rand(count, 4), torch.randint(0, 3, (count,)))
    trainer = ModelTrainer(TinyDetector(), DetectionLoss(BoxLoss=7.5, BCELoss=0.5))
    for epoch in range(2):
        print(epoch, trainer.train_one_epoch(DataLoader(data, batch_size=4, shuffle=True)))
