import copy

import torch
import torch.nn as nn
from torch.distributions import Normal


class Actor(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, 24), nn.ReLU())
        self.mu, self.log_std = nn.Linear(24, act), nn.Linear(24, act)

    def forward(self, obs):
        h = self.body(obs)
        dist = Normal(self.mu(h), self.log_std(h).clamp(-5, 2).exp())
        u = dist.rsample()
        a = torch.tanh(u)
        logp = (dist.log_prob(u) - torch.log(1 - a.pow(2) + 1e-6)).sum(-1)
        return a, logp


def q_net(obs, act):
    return nn.Sequential(nn.Linear(obs + act, 24), nn.ReLU(), nn.Linear(24, 1))


class SAC:
    def __init__(self, obs=5, act=2, gamma=0.99, polyak=0.99):
        self.actor = Actor(obs, act)
        self.q1, self.q2 = q_net(obs, act), q_net(obs, act)
        self.q1_targ, self.q2_targ = copy.deepcopy(self.q1), copy.deepcopy(self.q2)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.alpha = self.log_alpha.exp()
        self.target_entropy = -float(act)
        self.gamma, self.polyak = gamma, polyak
        self.pi_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.q_opt = torch.optim.Adam([*self.q1.parameters(), *self.q2.parameters()], lr=1e-3)
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=1e-3)

    def update(self, o, a, r, o2, d):
        with torch.no_grad():
            a2, logp2 = self.actor(o2)
            sa2 = torch.cat([o2, a2], dim=-1)
            q_targ = torch.min(self.q1_targ(sa2), self.q2_targ(sa2)).squeeze(-1)
            backup = r + self.gamma * (1 - d) * (q_targ - self.alpha * logp2)
        sa = torch.cat([o, a], dim=-1)
        loss_q = sum(((q(sa).squeeze(-1) - backup) ** 2).mean() for q in (self.q1, self.q2))
        self.q_opt.zero_grad()
        loss_q.backward()
        self.q_opt.step()

        pi, logp = self.actor(o)
        sp = torch.cat([o, pi], dim=-1)
        loss_pi = (self.alpha.detach() * logp - torch.min(self.q1(sp), self.q2(sp)).squeeze(-1)).mean()
        self.pi_opt.zero_grad()
        loss_pi.backward()
        self.pi_opt.step()

        alpha_loss = -(self.log_alpha * (logp + self.target_entropy).detach()).mean()
        self.alpha_opt.zero_grad()
        alpha_loss.backward()
        self.alpha_opt.step()
        self.alpha = self.log_alpha.exp()

        with torch.no_grad():
            for net, targ in ((self.q1, self.q1_targ), (self.q2, self.q2_targ)):
                for p, p_targ in zip(net.parameters(), targ.parameters()):
                    p_targ.mul_(self.polyak).add_((1 - self.polyak) * p)
        return loss_q.item(), loss_pi.item(), self.alpha.item()


torch.manual_seed(0)
n_updates = 4
agent = SAC()
for t in range(n_updates):
    print(agent.update(torch.randn(8, 5), torch.rand(8, 2) * 2 - 1, torch.randn(8), torch.randn(8, 5), (torch.rand(8) < 0.1).float()))
