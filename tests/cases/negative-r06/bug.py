import torch
import torch.nn as nn


class MergeModule(nn.Module):
    """Adds what comes in and hands it on; a growing method reads what it stored."""

    def __init__(self, post_merge_function):
        super().__init__()
        self.post_merge_function = post_merge_function
        self.store_input = 0
        self.store_activity = 0
        self.input = None
        self.activity = None

    def forward(self, x):
        if self.store_input > 0:
            self.input = x
            self.input.retain_grad()
        y = self.post_merge_function(x)
        if self.store_activity > 0:
            self.activity = y
        return y


class GrowingNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 6)
        self.merge = MergeModule(nn.SELU())
        self.second = nn.Linear(6, 1)
        self.s_statistic = torch.zeros(6, 6)
        self.m_statistic = torch.zeros(6)

    def forward(self, x):
        return self.second(self.merge(self.first(x)))

    def init_computation(self):
        self.merge.store_input = self.merge.store_activity = 1

    def update_computation(self):
        activity = self.merge.activity.detach()
        self.s_statistic += activity.t() @ activity
        self.m_statistic += (self.merge.input.grad * activity).sum(dim=0)


torch.manual_seed(0)
n_batches = 6
net = GrowingNet()
net.init_computation()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(n_batches):
    x = torch.randn(10, 4)
    loss = (net(x) - x.prod(dim=1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    net.update_computation()
    optimizer.step()
print(torch.linalg.matrix_rank(net.s_statistic), net.m_statistic)
