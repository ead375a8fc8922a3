import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_net(width):
    return nn.Sequential(nn.Linear(12, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, 4))


class MutualTrainer:
    """Several students that learn from the labels and from each other."""

    def __init__(self, widths, lr=1e-3):
        self.nets = [make_net(w) for w in widths]
        self.optimizers = [torch.optim.SGD(n.parameters(), lr=lr, momentum=0.9) for n in self.nets]
        self.ce = nn.CrossEntropyLoss()
        self.kl = nn.KLDivLoss(reduction="batchmean")

    def step(self, x, y):
        logits = [net(x) for net in self.nets]
        report = []
        for i, optimizer in enumerate(self.optimizers):
            peers = [self.kl(F.log_softmax(logits[i], 1), F.softmax(logits[j].detach(), 1)) for j in range(len(logits)) if j != i]
            loss = self.ce(logits[i], y) + sum(peers) / len(peers)
            optimizer.zero_grad()
            loss.backward()
            report.append(loss.item())
        for optimizer in self.optimizers:
            optimizer.step()
        return report


if __name__ == "__main__":
    torch.manual_seed(0)
    n_batches = 5
    x = torch.randn(n_batches * 16, 12)
    data = TensorDataset(x, x[:, :4].argmax(1))
    trainer = MutualTrainer([8, 16, 32])
    for batch in DataLoader(data, batch_size=16, shuffle=True):
        print(trainer.step(*batch))
