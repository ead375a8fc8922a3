import torch
from torch import nn


class SAM(torch.optim.Optimizer):
    """Sharpness-aware minimisation around another optimizer."""

    def __init__(self, params, base_optimizer, rho=0.05, **kwargs):
        super().__init__(params, dict(rho=rho, **kwargs))
        self.base_optimizer = base_optimizer(self.param_groups, **kwargs)
        self.param_groups = self.base_optimizer.param_groups

    @torch.no_grad()
    def first_step(self, zero_grad=False):
        norm = torch.norm(
            torch.stack([p.grad.norm(p=2) for g in self.param_groups for p in g["params"] if p.grad is not None]), p=2
        )
        for group in self.param_groups:
            scale = group["rho"] / (norm + 1e-12)
            for p in group["params"]:
                if p.grad is None:
                    continue
                self.state[p]["old_p"] = p.data.clone()
                p.add_(p.grad * scale)
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def second_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.data = self.state[p]["old_p"]
        self.base_optimizer.step()
        if zero_grad:
            self.zero_grad()


class MultiLabel(nn.Module):
    def __init__(self, num_tasks):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(10, 16), nn.Tanh())
        self.heads = nn.ModuleList([nn.Linear(16, 1) for _ in range(num_tasks)])

    def forward(self, image):
        feature = self.backbone(image)
        return [head(feature) for head in self.heads]


def get_loss(output, target, t):
    logit = output[t].view(-1)
    loss_t = nn.functional.binary_cross_entropy_with_logits(logit, target[:, t])
    acc_t = (torch.sigmoid(logit).ge(0.5) == target[:, t].bool()).float().mean()
    return loss_t, acc_t


def train_epoch(model, loader, optimizer, num_tasks):
    loss_sum = [0.0] * num_tasks
    acc_sum = [0.0] * num_tasks
    for image, target in loader:
        output = model(image)
        loss = 0
        for t in range(num_tasks):
            loss_t, acc_t = get_loss(output, target, t)
            loss += loss_t
            loss_sum[t] += loss_t.item()
            acc_sum[t] += acc_t.item()
        optimizer.zero_grad()
        loss.backward()
        optimizer.first_step(zero_grad=True)

        output = model(image)
        for t in range(num_tasks):
            loss_t, acc_t = get_loss(output, target, t)
            loss += loss_t
        loss.backward()
        optimizer.second_step(zero_grad=True)
    return loss_sum, acc_sum


torch.manual_seed(0)
num_tasks = 3
n_batches = 4
batches = [(torch.randn(8, 10), torch.randint(0, 2, (8, num_tasks)).float()) for _ in range(n_batches)]
net = MultiLabel(num_tasks)
sam = SAM(net.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9)
for epoch in range(2):
    print(epoch, train_epoch(net, batches, sam, num_tasks))
