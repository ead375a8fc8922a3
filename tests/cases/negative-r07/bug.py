import torch
import torch.nn as nn
import torch.nn.functional as F


class Policy(nn.Module):
    """Writes a summary token by token; every prefix gets a score from the critic."""

    def __init__(self, vocab, dim=12):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.cell = nn.GRUCell(dim, dim)
        self.out = nn.Linear(dim, vocab)

    def forward(self, source, length):
        h = self.embed(source).mean(dim=1)
        token = source[:, 0]
        log_probs = []
        for _ in range(length):
            h = self.cell(self.embed(token), h)
            dist = torch.distributions.Categorical(logits=self.out(h))
            token = dist.sample()
            log_probs.append(dist.log_prob(token))
        return torch.stack(log_probs, dim=1), h.detach()


def td_errors(value, h, length, gamma=0.9):
    values = torch.stack([value(h * (k + 1) / length).squeeze(1) for k in range(length + 1)], dim=1)
    reward = torch.zeros(len(h), length)
    reward[:, -1] = h.mean(dim=1)
    return reward + gamma * values[:, 1:].detach() - values[:, :-1]


def optimize_G(policy, optimizer, log_probs, errors):
    """The gradients of the steps are gathered one after the other; one graph carries them all."""
    optimizer.zero_grad()
    length = log_probs.size(1)
    for k in range(length):
        loss = -(log_probs[:, k] * errors[:, k].detach()).mean()
        loss.backward(retain_graph=k + 1 < length)
    nn.utils.clip_grad_norm_(policy.parameters(), 5.0)
    optimizer.step()


def optimize_Q(optimizer, errors):
    loss = F.smooth_l1_loss(errors, torch.zeros_like(errors))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    n_updates = 4
    policy, value = Policy(15), nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Linear(16, 1))
    opt_G = torch.optim.Adam(policy.parameters(), lr=1e-3)
    opt_Q = torch.optim.Adam(value.parameters(), lr=1e-3)
    for update in range(n_updates):
        source = torch.randint(0, 15, (4, 6))
        log_probs, h = policy(source, length=5)
        errors = td_errors(value, h, length=5)
        optimize_G(policy, opt_G, log_probs, errors)
        print(update, optimize_Q(opt_Q, errors))
