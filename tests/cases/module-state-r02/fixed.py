import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.save_for_backward(x)
        ctx.alpha = alpha
        return (x >= 0).to(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        s = (ctx.alpha * x).sigmoid()
        return grad_output * ctx.alpha * s * (1 - s), None


class BaseNode(nn.Module):
    def __init__(self, v_threshold=1.0, v_reset=0.0):
        super().__init__()
        self.v_threshold, self.v_reset = v_threshold, v_reset
        self.v = 0.0

    def charge(self, x):
        raise NotImplementedError

    def forward(self, x):
        self.charge(x)
        spike = Sigmoid.apply(self.v - self.v_threshold, 4.0)
        self.v = (1.0 - spike) * self.v + spike * self.v_reset
        return spike

    def reset(self):
        self.v = 0.0


class LIFNode(BaseNode):
    def __init__(self, tau=2.0, **kwargs):
        super().__init__(**kwargs)
        self.tau = tau

    def charge(self, x):
        self.v = self.v + (x - (self.v - self.v_reset)) / self.tau


class SEWBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))
        self.node = LIFNode(tau=2.0)

    def forward(self, x):
        return self.node(self.conv(x)) + x


class SpikingNet(nn.Module):
    def __init__(self, T, width=4, classes=3):
        super().__init__()
        self.T = T
        self.stem = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), LIFNode())
        self.blocks = nn.Sequential(*[SEWBlock(width) for _ in range(2)])
        self.fc = nn.Linear(width, classes)

    def forward(self, x):
        out = 0.0
        for _ in range(self.T):
            out = out + self.fc(self.blocks(self.stem(x)).mean(dim=(2, 3)))
        return out / self.T


def reset_net(net):
    for m in net.modules():
        if hasattr(m, "reset"):
            m.reset()


def fit_one_epoch(model, loader, loss_fn, optimizer):
    model.train()
    for iteration, batch in enumerate(loader):
        images, targets = batch
        optimizer.zero_grad()
        outputs = model(images)
        loss_value = loss_fn(outputs, targets)
        loss_value.backward()
        optimizer.step()
        reset_net(model)
        print(iteration, loss_value.item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-T", default=3, type=int)
    parser.add_argument("-b", default=4, type=int)
    args = parser.parse_args()
    torch.manual_seed(0)
    n_batches = 4
    images = torch.rand(n_batches * args.b, 1, 6, 6)
    loader = DataLoader(TensorDataset(images, torch.randint(0, 3, (len(images),))), args.b, drop_last=True)
    net = SpikingNet(args.T)
    fit_one_epoch(net, loader, nn.CrossEntropyLoss(), torch.optim.SGD(net.parameters(), lr=0.1))
