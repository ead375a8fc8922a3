import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Tides(Dataset):
    """Consecutive windows of a gauge; batches must not be shuffled, the level goes on."""

    def __init__(self, n_windows, width):
        t = torch.arange(n_windows * width + 1).float()
        self.level = torch.sin(0.21 * t) + 0.4 * torch.sin(0.05 * t + 1)
        self.width = width

    def __len__(self):
        return (len(self.level) - 1) // self.width

    def __getitem__(self, i):
        a = i * self.width
        return self.level[a:a + self.width, None], self.level[a + 1:a + self.width + 1, None]


class StatefulLSTM(nn.LSTM):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._state = None

    @property
    def state(self):
        return self._state

    @state.setter
    def state(self, value):
        self._state = value

    def reset(self):
        self.state = None

    def forward(self, x):
        y, self.state = super().forward(x, self.state)
        return y


class Forecaster(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.body = StatefulLSTM(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.head(self.body(x))


def run_epoch(model, loader, optimizer, criterion):
    model.train()
    model.body.reset()
    seen = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        error = criterion(model(x), y)
        error.backward()
        optimizer.step()
        seen += error.item() * len(x)
    return seen / len(loader.dataset)


def main():
    torch.manual_seed(1)
    n_windows = 6
    loader = DataLoader(Tides(n_windows, width=12), batch_size=1, shuffle=False)
    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(3):
        print(f"{epoch}: {run_epoch(model, loader, optimizer, nn.MSELoss()):.4f}")


main()
