from collections import deque

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class CrossBatchMemory:
    def __init__(self, n_batches):
        self.entries = deque(maxlen=n_batches)

    def push(self, features, labels):
        self.entries.append((features, labels))

    @property
    def full(self):
        return len(self.entries) == self.entries.maxlen

    def everything(self):
        features, labels = zip(*self.entries)
        return torch.cat(features), torch.cat(labels)


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=0.5):
        super().__init__()
        self.margin = margin

    def forward(self, anchors, anchor_labels, others, other_labels):
        similarity = anchors @ others.t()
        same = anchor_labels[:, None] == other_labels[None]
        pull = (1 - similarity)[same & (similarity < 1 - 1e-5)]
        push = similarity[~same & (similarity > self.margin)]
        return (pull.sum() + push.sum()) / len(anchors)


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 6))

    def forward(self, x):
        return F.normalize(self.net(x))


def train(model, loader, start=1, weight=1.0):
    criterion, memory = ContrastiveLoss(), CrossBatchMemory(3)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=5e-4)
    for iteration, (images, labels) in enumerate(loader):
        features = model(images)
        loss = criterion(features, labels, features, labels)
        if iteration >= start:
            memory_features, memory_labels = memory.everything()
            loss = loss + weight * criterion(features, labels, memory_features, memory_labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        memory.push(features, labels)
        yield iteration, loss.item(), memory.full


if __name__ == "__main__":
    torch.manual_seed(0)
    n_batches = 6
    centres = torch.randn(4, 10)
    labels = torch.randint(4, (n_batches * 16,))
    data = TensorDataset(centres[labels] + 0.5 * torch.randn(len(labels), 10), labels)
    for row in train(Embedder(), DataLoader(data, batch_size=16)):
        print(*row)
