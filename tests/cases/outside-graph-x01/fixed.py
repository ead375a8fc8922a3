import torch
import torch.nn.functional as F
from torch import nn


def normalised_adjacency(n_users, n_items, pairs):
    n = n_users + n_items
    u, i = pairs[:, 0], pairs[:, 1] + n_users
    index = torch.stack([torch.cat([u, i]), torch.cat([i, u])])
    degree = torch.bincount(index[0], minlength=n).clamp(min=1).float()
    weight = degree[index[0]].rsqrt() * degree[index[1]].rsqrt()
    return torch.sparse_coo_tensor(index, weight, (n, n)).coalesce()


class LightRecommender(nn.Module):
    def __init__(self, n_users, n_items, pairs, dim=8, n_layers=2):
        super().__init__()
        self.n_users, self.n_items, self.n_layers = n_users, n_items, n_layers
        self.embedding = nn.Embedding(n_users + n_items, dim)
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.graph = normalised_adjacency(n_users, n_items, pairs)
        self.importance = nn.Parameter(torch.ones(n_layers + 1))

    def propagate(self):
        layer = self.embedding.weight
        layers = [layer]
        for _ in range(self.n_layers):
            layer = torch.sparse.mm(self.graph, layer)
            layers.append(layer)
        weight = self.importance.softmax(0)
        mixed = sum(w * e for w, e in zip(weight, layers))
        return mixed.split([self.n_users, self.n_items])

    def bpr(self, users, items, user, liked, other):
        gap = (users[user] * (items[liked] - items[other])).sum(1)
        return -F.logsigmoid(gap).mean()


def sample_triples(pairs, n_items, batch_size):
    order = torch.randperm(len(pairs))
    for chunk in pairs[order].split(batch_size):
        yield chunk[:, 0], chunk[:, 1], torch.randint(n_items, (len(chunk),))


def train_epoch(model, pairs, optimizer, batch_size=32):
    total = 0.0
    for user, liked, other in sample_triples(pairs, model.n_items, batch_size):
        users, items = model.propagate()
        loss = model.bpr(users, items, user, liked, other)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += float(loss)
    return total


def main():
    torch.manual_seed(0)
    n_epochs = 3
    pairs = torch.stack([torch.randint(20, (120,)), torch.randint(30, (120,))], dim=1)
    model = LightRecommender(20, 30, pairs)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(n_epochs):
        print(epoch, train_epoch(model, pairs, optimizer))


if __name__ == "__main__":
    main()
