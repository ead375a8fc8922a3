import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class PrototypeBank(nn.Module):
    def __init__(self, n_classes, dim, momentum=0.8):
        super().__init__()
        self.momentum = momentum
        self.register_buffer("prototypes", torch.zeros(n_classes, dim))
        self.register_buffer("seen", torch.zeros(n_classes, dtype=torch.bool))

    def update(self, features, labels):
        fresh = self.prototypes.clone()
        for c in labels.unique():
            centre = features[labels == c].mean(0)
            if self.seen[c]:
                fresh[c] = self.momentum * self.prototypes[c] + (1 - self.momentum) * centre
            else:
                fresh[c] = centre
        self.seen[labels] = True
        self.prototypes = fresh

    def forward(self, features, temperature=0.3):
        return F.normalize(features) @ F.normalize(self.prototypes).t() / temperature


class Classifier(nn.Module):
    def __init__(self, n_in=6, dim=10, n_classes=3):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(n_in, 20), nn.GELU(), nn.Linear(20, dim))
        self.bank = PrototypeBank(n_classes, dim)
        self.head = nn.Linear(dim, n_classes)

    def forward(self, x, labels=None):
        z = self.embed(x)
        if self.training and labels is not None:
            self.bank.update(z, labels)
        return self.head(z), self.bank(z)


def epoch(model, loader, optimizer=None):
    model.train(optimizer is not None)
    right = 0
    for x, labels in loader:
        logits, similarity = model(x, labels)
        if optimizer is not None:
            loss = F.cross_entropy(logits, labels) + 0.5 * F.cross_entropy(similarity, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        right += (similarity.argmax(1) == labels).sum().item()
    return right / len(loader.dataset)


def main():
    torch.manual_seed(0)
    n_batches = 5
    centres = 2 * torch.randn(3, 6)
    labels = torch.randint(3, (n_batches * 16,))
    data = TensorDataset(centres[labels] + torch.randn(len(labels), 6), labels)
    loader = DataLoader(data, batch_size=16, shuffle=True)
    model = Classifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(2):
        print(epoch(model, loader, optimizer), epoch(model, loader))


if __name__ == "__main__":
    main()
