import torch
from torch import nn


class EchoLayer(nn.Module):
    """A leaky reservoir that keeps its potential from call to call."""

    def __init__(self, n_in, n_out, leak=0.3):
        super().__init__()
        self.inward = nn.Linear(n_in, n_out)
        self.again = nn.Linear(n_out, n_out, bias=False)
        self.leak = leak
        self.register_buffer("potential", torch.zeros(1, n_out), persistent=False)

    def forget(self):
        self.potential = torch.zeros_like(self.potential)

    def forward(self, x):
        drive = torch.tanh(self.inward(x) + self.again(self.potential))
        self.potential = (1 - self.leak) * self.potential + self.leak * drive
        return self.potential


class StatefulModel(nn.Module):
    def __init__(self, n_in, width, n_out):
        super().__init__()
        self.layers = nn.Sequential(EchoLayer(n_in, width), nn.LayerNorm(width), EchoLayer(width, width))
        self.read = nn.Linear(width, n_out)
        self.register_forward_pre_hook(self._forget_all)

    @staticmethod
    def _forget_all(module, args):
        for child in module.modules():
            if hasattr(child, "forget"):
                child.forget()

    def forward(self, sequence):
        for x in sequence:
            h = self.layers(x)
        return self.read(h)


class Task:
    """Which of the two channels carried more energy?"""

    def __init__(self, length, batch):
        self.length, self.batch = length, batch

    def __iter__(self):
        return self

    def __next__(self):
        x = torch.randn(self.length, self.batch, 2)
        energy = x.square().sum(0)
        return x, (energy[:, 0] > energy[:, 1]).long()


def main():
    torch.manual_seed(0)
    n_batches = 6
    model = StatefulModel(2, 16, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss()
    for number, (sequence, label) in zip(range(n_batches), Task(length=9, batch=8)):
        loss = criterion(model(sequence), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(number, loss.item())


if __name__ == "__main__":
    main()
