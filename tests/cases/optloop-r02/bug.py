import argparse
from collections import OrderedDict

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class AverageMeter(object):
    def __init__(self, name):
        self.name = name
        self.sum, self.count = 0.0, 0

    def update(self, val, n=1):
        self.sum += val * n
        self.count += n

    def __str__(self):
        return f"{self.name} {self.sum / max(1, self.count):.4f}"


class TwoStep:
    """Ascent to the worst weights near by, then the descent of the base optimizer from where it was."""

    def __init__(self, params, lr, rho):
        self.params = list(params)
        self.base = torch.optim.SGD(self.params, lr=lr)
        self.rho = rho
        self.moved = []

    def first_step(self, zero_grad=False):
        with torch.no_grad():
            norm = sum(p.grad.pow(2).sum() for p in self.params).sqrt() + 1e-12
            self.moved = [p.grad * (self.rho / norm) for p in self.params]
            for p, e in zip(self.params, self.moved):
                p.add_(e)
        if zero_grad:
            self.zero_grad()

    def second_step(self, zero_grad=False):
        with torch.no_grad():
            for p, e in zip(self.params, self.moved):
                p.sub_(e)
        self.base.step()
        if zero_grad:
            self.zero_grad()

    def zero_grad(self):
        self.base.zero_grad()


def accuracy(output, target):
    return (output.argmax(1) == target).float().mean() * 100


def train(train_loader, model, criterion, optimizer, epoch, args):
    losses, top1 = AverageMeter("Loss"), AverageMeter("Acc@1")
    model.train()
    for i, (images, target) in enumerate(train_loader):
        # compute output
        output = model(images)

        # first forward-backward pass
        loss = criterion(output, target)
        loss.backward()
        optimizer.first_step(zero_grad=True)

        # second forward-backward pass
        criterion(output, target).backward()
        optimizer.second_step(zero_grad=True)

        losses.update(loss.item(), images.size(0))
        top1.update(accuracy(output, target).item(), images.size(0))
        if i % args.print_freq == 0:
            print(f"Epoch [{epoch}][{i}]", losses, top1)


def main(argv=None):
    parser = argparse.ArgumentParser(description="small classifier")
    parser.add_argument("-b", "--batch-size", default=8, type=int)
    parser.add_argument("-p", "--print-freq", default=2, type=int)
    parser.add_argument("--rho", default=0.05, type=float)
    args = parser.parse_args(argv)
    torch.manual_seed(0)
    n_batches = 4
    x = torch.randn(n_batches * args.batch_size, 3, 6, 6)
    data = TensorDataset(x, x.mean(dim=(2, 3)).argmax(1))
    loader = DataLoader(data, batch_size=args.batch_size, shuffle=True)
    model = nn.Sequential(OrderedDict(conv=nn.Conv2d(3, 4, 3), act=nn.ReLU(), flat=nn.Flatten(), fc=nn.Linear(64, 3)))
    optimizer = TwoStep(model.parameters(), lr=0.05, rho=args.rho)
    for epoch in range(2):
        train(loader, model, nn.CrossEntropyLoss(), optimizer, epoch, args)


if __name__ == "__main__":
    main()
