import torch
import torch.nn.functional as F
from torch import nn


class EvolveGCNO(nn.Module):
    """The weight of a graph convolution is the state of a GRU."""

    def __init__(self, in_channels):
        super().__init__()
        self.in_channels = in_channels
        self.initial_weight = nn.Parameter(torch.empty(1, in_channels, in_channels))
        nn.init.xavier_uniform_(self.initial_weight)
        self.weight = None
        self.recurrent_layer = nn.GRU(in_channels, in_channels, num_layers=1)

    def forward(self, X, adjacency):
        if self.weight is None:
            _, self.weight = self.recurrent_layer(self.initial_weight, self.initial_weight)
        else:
            _, self.weight = self.recurrent_layer(self.weight, self.weight)
        return adjacency @ X @ self.weight.squeeze(0)


class RecurrentGCN(nn.Module):
    def __init__(self, node_features):
        super().__init__()
        self.recurrent = EvolveGCNO(node_features)
        self.linear = nn.Linear(node_features, 1)

    def forward(self, x, adjacency):
        h = F.relu(self.recurrent(x, adjacency))
        return self.linear(h)


class Snapshot:
    def __init__(self, x, adjacency, y):
        self.x, self.adjacency, self.y = x, adjacency, y


torch.manual_seed(0)
n_epochs = 4
graph = torch.rand(6, 6)
graph = graph / graph.sum(dim=1, keepdim=True)
train_dataset = [Snapshot(torch.randn(6, 4), graph, torch.randn(6, 1)) for _ in range(3)]

model = RecurrentGCN(node_features=4)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
model.train()
for epoch in range(n_epochs):
    cost = 0
    for time, snapshot in enumerate(train_dataset):
        y_hat = model(snapshot.x, snapshot.adjacency)
        cost = cost + torch.mean((y_hat - snapshot.y) ** 2)
    cost = cost / (time + 1)
    cost.backward()
    optimizer.step()
    optimizer.zero_grad()
    model.recurrent.weight = None
    print(epoch, cost.item())
