import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable


def _pgd(model, X, y, epsilon, niters=5, alpha=0.01):
    """Projected gradient descent: the error of the model on the perturbed batch."""
    out = model(X)
    ce = nn.CrossEntropyLoss()(out, y)
    err = (out.data.max(1)[1] != y.data).float().sum() / X.size(0)

    X_pgd = Variable(X.data, requires_grad=True)
    for i in range(niters):
        opt = torch.optim.Adam([X_pgd], lr=1e-3)
        opt.zero_grad()
        loss = nn.CrossEntropyLoss()(model(X_pgd), y)
        loss.backward()
        eta = alpha * X_pgd.grad.data.sign()
        X_pgd = Variable(X_pgd.data + eta, requires_grad=True)
        eta = torch.clamp(X_pgd.data - X.data, -epsilon, epsilon)
        X_pgd = Variable(X.data + eta, requires_grad=True)

    err_pgd = (model(X_pgd).data.max(1)[1] != y.data).float().sum() / X.size(0)
    return err, err_pgd


def train_baseline(loader, model, opt):
    model.train()
    for X, y in loader:
        ce = F.cross_entropy(model(Variable(X)), Variable(y))
        opt.zero_grad()
        ce.backward()
        opt.step()


def evaluate_robust(loader, model, epsilon):
    model.eval()
    errors, robust_errors = [], []

    torch.set_grad_enabled(False)
    for i, (X, y) in enumerate(loader):
        out = model(Variable(X))
        err = (out.max(1)[1] != y).float().mean().item()
        _, pgd_err = _pgd(model, Variable(X), Variable(y), epsilon)
        errors.append(err)
        robust_errors.append(pgd_err.item())
    torch.set_grad_enabled(True)
    return sum(errors) / len(errors), sum(robust_errors) / len(robust_errors)


if __name__ == "__main__":
    torch.manual_seed(0)
    n_batches = 4
    batches = [(torch.rand(6, 10), torch.randint(0, 2, (6,))) for _ in range(n_batches)]
    net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 2))
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for t in range(2):
        train_baseline(batches, net, opt)
        print(t, evaluate_robust(batches, net, 0.1))
