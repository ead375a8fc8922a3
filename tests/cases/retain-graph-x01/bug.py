import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class BaseModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.reg_loss = torch.zeros(1)

    def add_regularization_loss(self, weights, decay, p=2):
        for name, w in weights:
            if p == 1:
                term = decay * w.abs().sum()
            else:
                term = decay * (w**2).sum()
            self.reg_loss = self.reg_loss + term

    def compile(self, optimizer, metrics):
        self.optim = optimizer
        self.metrics = metrics

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            logs = dict.fromkeys(self.metrics, 0.0)
            for x, y in loader:
                pred = self(x).squeeze(1)
                self.optim.zero_grad()
                loss = F.binary_cross_entropy(pred, y, reduction="sum")
                total_loss = loss + self.reg_loss.squeeze()
                total_loss.backward(retain_graph=True)
                self.optim.step()
                for name, metric in self.metrics.items():
                    logs[name] += metric(pred.detach(), y)
            print(epoch, {name: float(value) / len(loader) for name, value in logs.items()})


class DeepFM(BaseModel):
    def __init__(self, fields, dim=4, hidden=16, l2_embedding=1e-5, l2_linear=1e-5):
        super().__init__()
        self.linear = nn.ModuleList(nn.Embedding(n, 1) for n in fields)
        self.embedding = nn.ModuleList(nn.Embedding(n, dim) for n in fields)
        self.dnn = nn.Sequential(nn.Linear(dim * len(fields), hidden), nn.ReLU(), nn.Linear(hidden, 1))
        self.add_regularization_loss(self.embedding.named_parameters(), l2_embedding)
        self.add_regularization_loss(self.linear.named_parameters(), l2_linear)

    def forward(self, x):
        wide = sum(table(x[:, i]) for i, table in enumerate(self.linear))
        e = torch.stack([table(x[:, i]) for i, table in enumerate(self.embedding)], dim=1)
        cross = 0.5 * (e.sum(1) ** 2 - (e**2).sum(1)).sum(1, keepdim=True)
        return torch.sigmoid(wide + cross + self.dnn(e.flatten(1)))


if __name__ == "__main__":
    torch.manual_seed(0)
    n_batches = 5
    fields = (10, 20, 5)
    x = torch.stack([torch.randint(n, (n_batches * 16,)) for n in fields], dim=1)
    y = ((x[:, 0] + x[:, 2]) % 2).float()
    model = DeepFM(fields)
    model.compile(
        torch.optim.Adam(model.parameters(), lr=1e-3),
        {"accuracy": lambda p, t: ((p > 0.5) == t.bool()).float().mean(), "mean": lambda p, t: p.mean()},
    )
    model.fit(DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True), epochs=2)
