from contextlib import contextmanager

import torch
from torch import nn


class ConvLSTMCell(nn.Module):
    def __init__(self, n_in, n_hidden, kernel=3):
        super().__init__()
        self.n_hidden = n_hidden
        self.gates = nn.Conv2d(n_in + n_hidden, 4 * n_hidden, kernel, padding=kernel // 2)

    def forward(self, x, state):
        h, c = state
        i, f, o, g = self.gates(torch.cat([x, h], dim=1)).chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        return h, c


class RainNowcaster(nn.Module):
    def __init__(self, hidden=(4, 4)):
        super().__init__()
        sizes = (1, *hidden)
        self.cells = nn.ModuleList(ConvLSTMCell(a, b) for a, b in zip(sizes, hidden))
        self.out = nn.Conv2d(hidden[-1], 1, 1)
        self.states = {}

    def zero_states(self, like):
        b, _, h, w = like.shape
        for k, cell in enumerate(self.cells):
            self.states[k] = tuple(like.new_zeros(b, cell.n_hidden, h, w) for _ in range(2))

    def detach_states(self):
        for k in self.states:
            h, c = self.states[k]
            self.states[k] = h.detach(), c.detach()

    def forward(self, frame):
        if not self.states:
            self.zero_states(frame)
        x = frame
        for k, cell in enumerate(self.cells):
            x, c = cell(x, self.states[k])
            self.states[k] = (x, c)
        return frame + self.out(x)

    @contextmanager
    def warm(self, frames):
        with torch.no_grad():
            for frame in frames:
                self(frame)
        yield self
        self.states.clear()


def radar(length, size=8):
    y, x = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    for t in range(length):
        yield torch.exp(-((x - 0.4 * t - 1) ** 2 + (y - 3) ** 2) / 4.0)[None, None] + 0.02 * torch.rand(1, 1, size, size)


def main():
    torch.manual_seed(0)
    n_frames = 6
    frames = list(radar(n_frames + 4))
    model = RainNowcaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(2):
        with model.warm(frames[:3]) as nowcast:
            for now, then in zip(frames[3:-1], frames[4:]):
                loss = (nowcast(now) - then).abs().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                model.detach_states()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
