import random
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class SAC:
    def __init__(self, cfg):
        self.cfg = cfg
        self.actor = mlp(cfg.obs_dim, 32, 2 * cfg.act_dim)
        self.qf, self.qf_target = mlp(cfg.obs_dim + cfg.act_dim, 32, 1), mlp(cfg.obs_dim + cfg.act_dim, 32, 1)
        self.qf_target.load_state_dict(self.qf.state_dict())
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=cfg.lr)
        self.q_opt = torch.optim.Adam(self.qf.parameters(), lr=cfg.lr)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=cfg.lr)
        self.alpha = self.log_alpha.exp().detach()
        self.updates = 0

    def sample(self, obs):
        mean, log_std = self.actor(obs).chunk(2, dim=-1)
        dist = Normal(mean, log_std.clamp(-5, 2).exp())
        u = dist.rsample()
        log_prob = dist.log_prob(u) - 2 * (0.6931 - u - F.softplus(-2 * u))
        return torch.tanh(u), log_prob.sum(1, keepdim=True)

    def update_critic(self, obs, act, reward, next_obs):
        with torch.no_grad():
            next_act, next_log_prob = self.sample(next_obs)
            target = self.qf_target(torch.cat([next_obs, next_act], 1)) - self.alpha * next_log_prob
            target = reward + self.cfg.gamma * target
        q_loss = F.mse_loss(self.qf(torch.cat([obs, act], 1)), target)
        self.q_opt.zero_grad()
        q_loss.backward()
        self.q_opt.step()
        return q_loss.item()

    def update_actor(self, obs):
        for _ in range(self.cfg.policy_frequency):
            act, log_prob = self.sample(obs)
            actor_loss = (self.alpha * log_prob - self.qf(torch.cat([obs, act], 1))).mean()
            self.actor_opt.zero_grad()
            actor_loss.backward()
            self.actor_opt.step()

            if self.cfg.autotune:
                alpha_loss = (-self.log_alpha * (log_prob.detach() + self.cfg.target_entropy)).mean()
                self.alpha_opt.zero_grad()
                alpha_loss.backward()
                self.alpha_opt.step()
                self.alpha = self.log_alpha.exp().detach()

    def update(self, batch):
        q_loss = self.update_critic(*batch)
        self.updates += 1
        if self.updates % self.cfg.policy_frequency == 0:
            self.update_actor(batch[0])
        with torch.no_grad():
            for p, t in zip(self.qf.parameters(), self.qf_target.parameters()):
                t.lerp_(p, self.cfg.tau)
        return q_loss


def main():
    random.seed(1)
    torch.manual_seed(1)
    n_updates = 6
    cfg = SimpleNamespace(obs_dim=3, act_dim=1, lr=1e-3, gamma=0.98, tau=0.01, policy_frequency=2, autotune=True, target_entropy=-1.0)
    agent = SAC(cfg)
    transitions = [(torch.randn(3), torch.rand(1) * 2 - 1) for _ in range(50)]
    replay = [(o, a, -(o[:1] + a).abs(), o + 0.1 * a) for o, a in transitions]
    for k in range(n_updates):
        batch = [torch.stack(column) for column in zip(*random.sample(replay, 8))]
        print(k, agent.update(batch), agent.alpha.item())


if __name__ == "__main__":
    main()
