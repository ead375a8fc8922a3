import torch
import torch.nn as nn


class GlobalPruner:
    """Auxiliary activations of one feed-forward block, fitted chunk by chunk."""

    def __init__(self, n_tokens, width=8):
        torch.manual_seed(0)
        self.up = nn.Linear(width, 2 * width)
        self.gate = nn.Linear(width, 2 * width)
        self.inputs = torch.randn(n_tokens, width)
        self.alpha, self.beta = 5.0, 0.1

    @torch.no_grad()
    def prepare(self):
        self.z = self.up(self.inputs)
        self.p = nn.functional.silu(self.gate(self.inputs)) * self.z
        self.s = self.gate(self.inputs).t()

    def fit(self, n_chunks, n_inner=3, s_learning_rate=0.01):
        self.prepare()
        size = len(self.inputs) // n_chunks
        for k in range(n_chunks):
            chunk = slice(k * size, (k + 1) * size)
            s_batch = self.s[:, chunk].clone().float().requires_grad_(True)
            target = self.gate(self.inputs[chunk]).t().detach()
            for _ in range(n_inner):
                act = nn.functional.silu(s_batch) * self.z[chunk].t()
                loss_s = self.alpha * (act - self.p[chunk].t()).pow(2).sum() + self.beta * (s_batch - target).pow(2).sum()
                loss_s.backward()
                with torch.no_grad():
                    s_batch -= s_learning_rate * s_batch.grad
                s_batch.grad.zero_()
            self.s[:, chunk] = s_batch.detach()
            print(k, loss_s.item())


n_chunks = 4
GlobalPruner(32).fit(n_chunks)
