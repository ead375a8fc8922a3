import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def keep_largest(weight, share):
    count = max(1, int(share * weight.numel()))
    threshold = weight.abs().flatten().topk(count).values[-1]
    return torch.where(weight.abs() >= threshold, weight, torch.zeros_like(weight))


class ADMM:
    def __init__(self, model, share, rho=1e-2):
        self.model, self.share, self.rho = model, share, rho
        self.Z, self.U = {}, {}
        for name, w in self.prunable():
            self.Z[name] = keep_largest(w.detach(), share)
            self.U[name] = torch.zeros_like(w)

    def prunable(self):
        return ((name, w) for name, w in self.model.named_parameters() if name.endswith("weight"))

    def penalty(self):
        total = 0.0
        for name, w in self.prunable():
            total = total + 0.5 * self.rho * (w - self.Z[name] + self.U[name]).pow(2).sum()
        return total

    def update(self):
        for name, w in self.prunable():
            self.Z[name] = keep_largest(w + self.U[name], self.share)
            self.U[name] = self.U[name] + w - self.Z[name]


def train(model, admm, loader, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(epochs):
        for x, y in loader:
            loss = F.cross_entropy(model(x), y) + admm.penalty()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        admm.update()
        print(f"epoch {epoch} loss {loss.item():.3f}")


def sparsify(model, admm):
    with torch.no_grad():
        for name, w in admm.prunable():
            w.copy_(keep_largest(w, admm.share))
    return {name: (w == 0).float().mean().item() for name, w in admm.prunable()}


def main():
    torch.manual_seed(0)
    epochs = 5
    x = torch.randn(48, 12)
    y = (x[:, :3].sum(1) > 0).long()
    model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 2))
    admm = ADMM(model, share=0.2)
    train(model, admm, DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True), epochs)
    print(sparsify(model, admm))


main()
