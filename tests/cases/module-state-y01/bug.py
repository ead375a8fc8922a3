import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

n_epochs = 4


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).float()

    @staticmethod
    def backward(ctx, grad):
        (v,) = ctx.saved_tensors
        return grad / (1 + 10 * v.abs()) ** 2


class LIFCell(nn.Module):
    def __init__(self, n_in, n_out, tau=0.9):
        super().__init__()
        self.linear = nn.Linear(n_in, n_out)
        self.tau = tau
        self.state = None

    def forward(self, x):
        if self.state is None:
            v = torch.zeros(x.size(0), self.linear.out_features, device=x.device)
            i = torch.zeros_like(v)
        else:
            v, i = self.state
        i = self.tau * i + self.linear(x)
        v = self.tau * v + i
        z = Spike.apply(v - 1.0)
        v = v - z
        self.state = (v, i)
        return z


class Net(nn.Module):
    def __init__(self, hidden=24, n_classes=4, n_steps=6):
        super().__init__()
        self.lif = LIFCell(16, hidden)
        self.readout = nn.Linear(hidden, n_classes)
        self.n_steps = n_steps

    def forward(self, images):
        votes = 0.0
        for _ in range(self.n_steps):
            votes = votes + self.readout(self.lif(images))
        return votes / self.n_steps


def train_epoch(model, loader, optimizer, device):
    model.train()
    losses = []
    for data, target in loader:
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        out = model(data)
        loss = nn.functional.cross_entropy(out, target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=n_epochs)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args([])
    torch.manual_seed(0)
    images, labels = torch.rand(32, 16), torch.randint(4, (32,))
    loader = DataLoader(TensorDataset(images, labels), batch_size=8, shuffle=True)
    model = Net().to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        print(epoch, train_epoch(model, loader, optimizer, args.device))


if __name__ == "__main__":
    main()
