import math

import torch


class Layer:
    def __init__(self, n_in, n_out):
        bound = 1 / math.sqrt(n_in)
        self.w = torch.empty(n_in, n_out).uniform_(-bound, bound).requires_grad_()
        self.b = torch.zeros(n_out, requires_grad=True)

    def __call__(self, x):
        return x @ self.w + self.b

    @property
    def parameters(self):
        return {"w": self.w, "b": self.b}


class Net:
    def __init__(self, *sizes):
        self.layers = [Layer(a, b) for a, b in zip(sizes, sizes[1:])]

    def __call__(self, x):
        *hidden, last = self.layers
        for layer in hidden:
            x = torch.relu(layer(x))
        return last(x)

    def parameters(self):
        for layer in self.layers:
            yield from layer.parameters.values()


def sgd_step(parameters, lr):
    for p in parameters:
        p -= lr * p.grad
        p.grad.zero_()


def mse(prediction, target):
    return ((prediction - target) ** 2).mean()


def main():
    torch.manual_seed(0)
    n_epochs = 6
    x = torch.linspace(-2, 2, 64)[:, None]
    y = torch.cos(2 * x) + 0.3 * x
    net = Net(1, 24, 24, 1)
    for epoch in range(n_epochs):
        loss = mse(net(x), y)
        loss.backward()
        sgd_step(net.parameters(), lr=5e-2)
        if epoch % 2 == 0:
            print(epoch, loss.item())


main()
