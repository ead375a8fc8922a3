import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 16), nn.ReLU())
        self.fc = nn.Linear(16, 4)

    def forward(self, x):
        return self.fc(self.body(x))


def noisy(targets, n_classes=4, share=0.5):
    flip = torch.rand(len(targets)) < share
    return torch.where(flip, torch.randint(n_classes, (len(targets),)), targets)


def train(n_batches, num_fast=3, meta_lr=0.2):
    net, tch_net = Net(), Net()
    tch_net.load_state_dict(net.state_dict())
    for param in tch_net.parameters():
        param.requires_grad = False
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    consistent_criterion = nn.KLDivLoss(reduction="batchmean")
    for batch_idx in range(n_batches):
        inputs, targets = torch.randn(8, 10), torch.randint(4, (8,))
        optimizer.zero_grad()
        meta_loss = 0.0
        p_tch = F.softmax(tch_net(inputs), dim=1)
        for i in range(num_fast):
            targets_fast = noisy(targets)
            outputs = net(inputs)
            fast_loss = F.cross_entropy(outputs, targets_fast)
            grads = torch.autograd.grad(fast_loss, list(net.parameters()))
            fast_weights = {name: p - meta_lr * g for (name, p), g in zip(net.named_parameters(), grads)}
            fast_out = functional_call(net, fast_weights, (inputs,))
            consistent_loss = consistent_criterion(F.log_softmax(fast_out, dim=1), p_tch)
            consistent_loss.backward()
            meta_loss += consistent_loss.item()
        class_loss = F.cross_entropy(net(inputs), targets)
        class_loss.backward()
        optimizer.step()
        with torch.no_grad():
            for p, p_t in zip(net.parameters(), tch_net.parameters()):
                p_t.mul_(0.99).add_(p, alpha=0.01)
        print(batch_idx, class_loss.item(), meta_loss / num_fast)


torch.manual_seed(0)
n_batches = 4
train(n_batches)
