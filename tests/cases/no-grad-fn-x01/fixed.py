import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Restorer(nn.Module):
    """Predicts the clean signal at three scales."""

    def __init__(self, width=12):
        super().__init__()
        self.stem = nn.Conv1d(1, width, 5, padding=2)
        self.stages = nn.ModuleList([nn.Conv1d(width, width, 3, padding=1) for _ in range(3)])
        self.outs = nn.ModuleList([nn.Conv1d(width, 1, 1) for _ in range(3)])

    def forward(self, x):
        h = torch.relu(self.stem(x))
        restored = []
        for stage, out in zip(self.stages, self.outs):
            h = h + torch.relu(stage(h))
            restored.append(x + out(h))
        return restored


class CharbonnierLoss(nn.Module):
    def __init__(self, eps=1e-3):
        super().__init__()
        self.eps = eps

    def forward(self, x, y):
        return torch.sqrt((x - y) ** 2 + self.eps**2).mean()


class EdgeLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = CharbonnierLoss()

    def forward(self, x, y):
        return self.inner(x.diff(dim=-1), y.diff(dim=-1))


criterion_char, criterion_edge = CharbonnierLoss(), EdgeLoss()


def total_loss(restored, target, edge_weight=0.05):
    char = torch.stack([criterion_char(r, target) for r in restored]).sum()
    edge = torch.stack([criterion_edge(r, target) for r in restored]).sum()
    return char + edge_weight * edge


def main():
    torch.manual_seed(0)
    n_batches = 4
    t = torch.linspace(0, 6, 40)
    clean = torch.sin(t * (1 + torch.rand(n_batches * 4, 1, 1)))
    noisy = clean + 0.2 * torch.randn_like(clean)
    loader = DataLoader(TensorDataset(noisy, clean), batch_size=4, shuffle=True)
    model = Restorer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for i, (x, target) in enumerate(loader):
        optimizer.zero_grad()
        loss = total_loss(model(x), target)
        loss.backward()
        optimizer.step()
        print(i, loss.item())


if __name__ == "__main__":
    main()
