import torch
import torch.nn.functional as F
from torch import nn


class PropagatedEmbeddings(nn.Module):
    """Node embeddings after two hops; kept until the weights change."""

    def __init__(self, edges, n_nodes=16, dim=6):
        super().__init__()
        self.table = nn.Parameter(0.3 * torch.randn(n_nodes, dim))
        self.hop = nn.Linear(dim, dim)
        adjacency = torch.eye(n_nodes)
        adjacency[edges[0], edges[1]] = adjacency[edges[1], edges[0]] = 1
        self.register_buffer("walk", adjacency / adjacency.sum(1, keepdim=True))
        self._memo = None

    def invalidate(self, *_):
        self._memo = None

    def all(self):
        if self._memo is None:
            h = self.table
            for _ in range(2):
                h = torch.tanh(self.hop(self.walk @ h))
            self._memo = h
        return self._memo

    def forward(self, nodes):
        return self.all()[nodes]


class LinkScorer(nn.Module):
    def __init__(self, edges):
        super().__init__()
        self.nodes = PropagatedEmbeddings(edges)
        self.relation = nn.Parameter(torch.eye(6))

    def forward(self, source, target):
        return ((self.nodes(source) @ self.relation) * self.nodes(target)).sum(1)


def negative_sample(edges, n_nodes):
    return torch.stack([edges[0], torch.randint(n_nodes, (edges.size(1),))])


def main():
    torch.manual_seed(0)
    n_steps = 6
    edges = torch.randint(16, (2, 30))
    model = LinkScorer(edges)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    optimizer.register_step_post_hook(model.nodes.invalidate)
    for step in range(n_steps):
        wrong = negative_sample(edges, 16)
        score = torch.cat([model(*edges), model(*wrong)])
        truth = torch.cat([torch.ones(30), torch.zeros(30)])
        loss = F.binary_cross_entropy_with_logits(score, truth)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            spread = model.nodes.all().std().item()
        model.nodes.invalidate()
        print(step, loss.item(), spread)


if __name__ == "__main__":
    main()
