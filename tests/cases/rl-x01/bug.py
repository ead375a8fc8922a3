from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical


@dataclass
class Rollout:
    log_probs: list = field(default_factory=list)
    values: list = field(default_factory=list)
    rewards: list = field(default_factory=list)

    def add(self, log_prob, value, reward):
        self.log_probs.append(log_prob)
        self.values.append(value)
        self.rewards.append(reward)

    def returns(self, bootstrap, gamma):
        out, running = [], bootstrap
        for reward in reversed(self.rewards):
            running = reward + gamma * running
            out.append(running)
        return torch.stack(out[::-1])


class ActorCritic(nn.Module):
    def __init__(self, n_obs=3, n_actions=2, width=24):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_obs, width), nn.Tanh())
        self.actor = nn.Linear(width, n_actions)
        self.critic = nn.Linear(width, 1)

    def forward(self, obs):
        h = self.trunk(obs)
        return Categorical(logits=self.actor(h)), self.critic(h).squeeze(-1)


class Thermostat:
    def reset(self):
        self.temp = torch.randn(())
        return self._obs()

    def _obs(self):
        return torch.stack([self.temp, self.temp.square(), torch.ones(())])

    def step(self, action):
        self.temp = self.temp + (0.3 if action == 1 else -0.3) + 0.05 * torch.randn(())
        return self._obs(), -self.temp.abs().item()


def collect(policy, env, obs, horizon):
    rollout = Rollout()
    for _ in range(horizon):
        dist, value = policy(obs)
        action = dist.sample()
        obs, reward = env.step(action.item())
        rollout.add(dist.log_prob(action), value, reward)
    with torch.no_grad():
        _, last_value = policy(obs)
    return rollout, obs, last_value


def update(policy, actor_opt, critic_opt, rollout, last_value, gamma=0.95):
    returns = rollout.returns(last_value, gamma)
    values = torch.stack(rollout.values)
    advantage = (returns - values).detach()
    actor_loss = -(torch.stack(rollout.log_probs) * advantage).mean()
    critic_loss = F.smooth_l1_loss(values, returns)
    actor_opt.zero_grad()
    critic_opt.zero_grad()
    actor_loss.backward()
    critic_loss.backward()
    actor_opt.step()
    critic_opt.step()
    return actor_loss.item(), critic_loss.item()


def main():
    torch.manual_seed(0)
    n_updates = 5
    policy, env = ActorCritic(), Thermostat()
    actor_opt = torch.optim.Adam([*policy.trunk.parameters(), *policy.actor.parameters()], lr=1e-3)
    critic_opt = torch.optim.Adam(policy.critic.parameters(), lr=3e-3)
    obs = env.reset()
    for k in range(n_updates):
        rollout, obs, last_value = collect(policy, env, obs, horizon=8)
        print(k, update(policy, actor_opt, critic_opt, rollout, last_value))


if __name__ == "__main__":
    main()
