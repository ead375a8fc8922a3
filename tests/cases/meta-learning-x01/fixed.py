import torch
import torch.nn.functional as F
from torch import nn

N_WAY, K_SHOT, DIM = 3, 4, 8


class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.vars = nn.ParameterList(
            [nn.Parameter(nn.init.kaiming_normal_(torch.empty(16, DIM))), nn.Parameter(torch.zeros(16)),
             nn.Parameter(nn.init.kaiming_normal_(torch.empty(N_WAY, 16))), nn.Parameter(torch.zeros(N_WAY))]
        )

    def forward(self, x, vars=None):
        w1, b1, w2, b2 = self.vars if vars is None else vars
        return F.linear(F.relu(F.linear(x, w1, b1)), w2, b2)


class Meta(nn.Module):
    def __init__(self, update_step, update_lr=0.1, meta_lr=1e-3):
        super().__init__()
        self.update_step, self.update_lr = update_step, update_lr
        self.net = Learner()
        self.meta_optim = torch.optim.Adam(self.net.parameters(), lr=meta_lr)

    def adapt(self, x, y, weights=None):
        loss = F.cross_entropy(self.net(x, weights), y)
        weights = list(self.net.parameters()) if weights is None else weights
        grad = torch.autograd.grad(loss, weights)
        return [p - self.update_lr * g for p, g in zip(weights, grad)]

    def forward(self, tasks):
        losses_q = [0 for _ in range(self.update_step + 1)]
        corrects = [0 for _ in range(self.update_step + 1)]
        for x_spt, y_spt, x_qry, y_qry in tasks:
            fast_weights = self.adapt(x_spt, y_spt)
            with torch.no_grad():
                logits_q = self.net(x_qry)
                losses_q[0] += F.cross_entropy(logits_q, y_qry)
                corrects[0] += (logits_q.argmax(1) == y_qry).sum().item()
            with torch.set_grad_enabled(self.update_step == 1):
                logits_q = self.net(x_qry, fast_weights)
                losses_q[1] += F.cross_entropy(logits_q, y_qry)
                corrects[1] += (logits_q.argmax(1) == y_qry).sum().item()
            for k in range(1, self.update_step):
                fast_weights = self.adapt(x_spt, y_spt, fast_weights)
                logits_q = self.net(x_qry, fast_weights)
                losses_q[k + 1] += F.cross_entropy(logits_q, y_qry)
                corrects[k + 1] += (logits_q.argmax(1) == y_qry).sum().item()
        loss_q = losses_q[-1] / len(tasks)
        self.meta_optim.zero_grad()
        loss_q.backward()
        self.meta_optim.step()
        return [c / (len(tasks) * N_WAY * K_SHOT) for c in corrects]


def sample_task():
    centres = 1.5 * torch.randn(N_WAY, DIM)
    y = torch.arange(N_WAY).repeat_interleave(K_SHOT)
    draw = lambda: centres[y] + 0.5 * torch.randn(len(y), DIM)
    return draw(), y, draw(), y


def main():
    torch.manual_seed(0)
    n_meta_steps = 4
    meta = Meta(update_step=1)
    for step in range(n_meta_steps):
        print(step, meta([sample_task() for _ in range(4)]))


if __name__ == "__main__":
    main()
