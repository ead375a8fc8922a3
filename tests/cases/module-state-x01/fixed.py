import torch
import torch.nn.functional as F
from torch import nn


class NodeMemory(nn.Module):
    """Keeps one vector for each node that was ever seen in the stream of interactions."""

    def __init__(self, dim, n_features):
        super().__init__()
        self.dim = dim
        self.updater = nn.GRUCell(2 * dim + n_features, dim)
        self.container = {}

    def get(self, node):
        if node not in self.container:
            self.container[node] = torch.zeros(self.dim)
        return self.container[node]

    def put(self, node, value):
        self.container[node] = value

    def detach_tensor_grads(self):
        for node, value in self.container.items():
            self.container[node] = value.detach()

    def absorb(self, interactions):
        messages = {}
        for source, target, features in interactions:
            s, t = self.get(source), self.get(target)
            messages[source] = torch.cat([s, t, features])
            messages[target] = torch.cat([t, s, features])
        nodes = list(messages)
        old = torch.stack([self.get(n) for n in nodes])
        new = self.updater(torch.stack([messages[n] for n in nodes]), old)
        for node, row in zip(nodes, new):
            self.put(node, row)


class LinkPredictor(nn.Module):
    def __init__(self, dim=8, n_features=3):
        super().__init__()
        self.memory = NodeMemory(dim, n_features)
        self.score = nn.Bilinear(dim, dim, 1)

    def forward(self, interactions, n_nodes):
        self.memory.absorb(interactions)
        source = torch.stack([self.memory.get(s) for s, _, _ in interactions])
        target = torch.stack([self.memory.get(t) for _, t, _ in interactions])
        wrong = torch.stack([self.memory.get(int(n)) for n in torch.randint(n_nodes, (len(interactions),))])
        return self.score(source, target), self.score(source, wrong)


def interaction_stream(n_batches, n_nodes, size=6):
    for _ in range(n_batches):
        pairs = torch.randint(n_nodes, (size, 2)).tolist()
        yield [(s, t, torch.rand(3)) for s, t in pairs]


def main():
    torch.manual_seed(0)
    n_batches = 5
    n_nodes = 8
    model = LinkPredictor()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for batch in interaction_stream(n_batches, n_nodes):
        optimizer.zero_grad()
        good, bad = model(batch, n_nodes)
        loss = F.softplus(-good).mean() + F.softplus(bad).mean()
        loss.backward()
        optimizer.step()
        model.memory.detach_tensor_grads()
        print(loss.item())


if __name__ == "__main__":
    main()
