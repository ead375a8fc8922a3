import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader


class LearnedGraph(nn.Module):
    """Sensors on a network whose strength of coupling is learned."""

    def __init__(self, n_nodes, n_features):
        super().__init__()
        self.source = nn.Parameter(torch.randn(n_nodes, n_features))
        self.target = nn.Parameter(torch.randn(n_nodes, n_features))

    @property
    def propagation(self):
        adjacency = F.relu(torch.tanh(self.source @ self.target.t())) + torch.eye(len(self.source))
        return adjacency / adjacency.sum(1, keepdim=True)


class DiffusionForecast(nn.Module):
    def __init__(self, n_nodes=7, width=12, hops=2):
        super().__init__()
        self.graph = LearnedGraph(n_nodes, 5)
        self.mix = nn.ModuleList(nn.Linear(width, width) for _ in range(hops))
        self.enter, self.leave = nn.Linear(3, width), nn.Linear(width, 1)

    def forward(self, x):
        h = self.enter(x)
        for layer in self.mix:
            h = h + F.relu(layer(self.graph.propagation @ h))
        return self.leave(h)


def windows(series, past=3):
    return [(series[t:t + past].t(), series[t + past].unsqueeze(1)) for t in range(len(series) - past)]


def mae(prediction, target):
    return (prediction - target).abs().mean()


def main():
    torch.manual_seed(0)
    n_batches = 5
    drift = torch.randn(4 * n_batches + 3, 7).cumsum(0) * 0.2
    loader = DataLoader(windows(drift), batch_size=4, shuffle=True)
    model = DiffusionForecast()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for batch, (x, y) in enumerate(loader):
        if batch == 0:
            print("edges", (model.graph.propagation > 0).sum().item())
        optimizer.zero_grad()
        loss = mae(model(x), y)
        loss.backward()
        optimizer.step()
        print(batch, loss.item())


if __name__ == "__main__":
    main()
