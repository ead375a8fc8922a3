import argparse

import torch
import torch.nn as nn

n_steps = 4


class ConvLayer(nn.Sequential):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.add_module("conv", nn.Conv2d(n_in, n_out, 3, padding=1, bias=False))
        self.add_module("norm", nn.BatchNorm2d(n_out))
        self.add_module("relu", nn.ReLU(inplace=True))


def fuse_bn_recursively(model):
    previous = None
    for name in model._modules:
        child = model._modules[name]
        if len(child._modules) > 0:
            fuse_bn_recursively(child)
        if isinstance(child, nn.BatchNorm2d) and isinstance(previous, nn.Conv2d):
            scale = child.weight.data / torch.sqrt(child.running_var + child.eps)
            W = previous.weight.data * scale.view(-1, 1, 1, 1)
            previous.weight.data[:, :, :, :] = W[:, :, :, :]
            previous.bias = nn.Parameter(child.bias.data - child.running_mean * scale)
            model._modules[name] = nn.Identity()
        previous = child


def main(args):
    torch.manual_seed(0)
    channels = [3] + [6] * 3
    model = nn.Sequential(*[ConvLayer(a, b) for a, b in zip(channels, channels[1:])], nn.Conv2d(6, 2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(args.steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(torch.rand(2, 3, 8, 8)), torch.randint(2, (2, 8, 8)))
        loss.backward()
        optimizer.step()
    model.eval()
    images = torch.rand(1, 3, 8, 8)
    with torch.no_grad():
        before = model(images)
    fuse_bn_recursively(model)
    with torch.no_grad():
        print((model(images) - before).abs().max().item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Params")
    parser.add_argument("--steps", type=int, default=n_steps)
    main(parser.parse_args([]))
