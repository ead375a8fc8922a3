import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Scans(Dataset):
    """Time series of regions of interest, one row for each scan."""

    def __init__(self, n, length, regions):
        generator = torch.Generator().manual_seed(3)
        self.series = torch.randn(n, length, regions, generator=generator)
        self.labels = (self.series.mean(dim=(1, 2)) > 0).float()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.series[i], self.labels[i]


class ScanLSTM(nn.Module):
    def __init__(self, regions, hidden_dim, batch_size):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.batch_size = batch_size
        self.lstm = nn.LSTM(regions, hidden_dim, batch_first=True)
        self.dropout = nn.Dropout(p=0.2)
        self.linear = nn.Linear(hidden_dim, 1)
        self.hidden = self.init_hidden()

    def init_hidden(self):
        shape = (1, self.batch_size, self.hidden_dim)
        return torch.randn(*shape), torch.randn(*shape)

    def forward(self, x):
        out, _ = self.lstm(x)
        out = self.dropout(out[:, -1, :])
        return torch.sigmoid(self.linear(out)).squeeze(1)


def train_one_epoch(model, loader, loss_fn, optimizer):
    total = 0.0
    for series, label in loader:
        optimizer.zero_grad()
        prob = model(series)
        loss = loss_fn(prob, label)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(label)
    return total / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args()

    torch.manual_seed(0)
    n_batches = 5
    data = Scans(n_batches * args.batch_size, 12, 6)
    loader = DataLoader(data, batch_size=args.batch_size, shuffle=True, drop_last=True)
    model = ScanLSTM(6, 16, args.batch_size)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        loss = train_one_epoch(model, loader, nn.BCELoss(), optimizer)
        print(f"epoch {epoch}: {loss:.4f}")


if __name__ == "__main__":
    main()
