import copy
import random
from collections import deque, namedtuple

import torch
import torch.nn.functional as F
from torch import nn

Step = namedtuple("Step", ["state", "action", "reward", "next_state", "done"])


class Twin(nn.Module):
    def __init__(self, n_state, n_action, width=32):
        super().__init__()
        make = lambda: nn.Sequential(nn.Linear(n_state + n_action, width), nn.ReLU(), nn.Linear(width, 1))
        self.first, self.second = make(), make()

    def forward(self, state, action):
        both = torch.cat([state, action], dim=-1)
        return self.first(both), self.second(both)


class Actor(nn.Module):
    def __init__(self, n_state, n_action, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_state, width), nn.ReLU(), nn.Linear(width, 2 * n_action))

    def forward(self, state):
        mean, log_std = self.body(state).chunk(2, dim=-1)
        normal = torch.distributions.Normal(mean, log_std.clamp(-5, 1).exp())
        raw = normal.rsample()
        action = torch.tanh(raw)
        log_prob = normal.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)
        return action, log_prob.sum(-1, keepdim=True)


class SoftActorCritic:
    def __init__(self, n_state, n_action, gamma=0.97, tau=0.05):
        self.gamma, self.tau = gamma, tau
        self.actor, self.critic = Actor(n_state, n_action), Twin(n_state, n_action)
        self.target = copy.deepcopy(self.critic).requires_grad_(False)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.target_entropy = -float(n_action)
        self.opt = {
            "actor": torch.optim.Adam(self.actor.parameters(), lr=1e-3),
            "critic": torch.optim.Adam(self.critic.parameters(), lr=1e-3),
            "alpha": torch.optim.Adam([self.log_alpha], lr=1e-3),
        }

    @property
    def alpha(self):
        return self.log_alpha.exp()

    def descend(self, name, loss):
        self.opt[name].zero_grad()
        loss.backward()
        self.opt[name].step()
        return loss.item()

    def update(self, batch):
        with torch.no_grad():
            next_action, next_log_prob = self.actor(batch.next_state)
            q_next = torch.min(*self.target(batch.next_state, next_action)) - self.alpha * next_log_prob
            y = batch.reward + self.gamma * (1 - batch.done) * q_next
        q1, q2 = self.critic(batch.state, batch.action)
        losses = {"critic": self.descend("critic", F.mse_loss(q1, y) + F.mse_loss(q2, y))}
        action, log_prob = self.actor(batch.state)
        q = torch.min(*self.critic(batch.state, action))
        losses["actor"] = self.descend("actor", (self.alpha * log_prob - q).mean())
        losses["alpha"] = self.descend("alpha", -(self.log_alpha * (log_prob + self.target_entropy).detach()).mean())
        with torch.no_grad():
            for slow, fast in zip(self.target.parameters(), self.critic.parameters()):
                slow.lerp_(fast, self.tau)
        return losses


def main():
    torch.manual_seed(0)
    random.seed(0)
    n_steps = 20
    agent, memory = SoftActorCritic(2, 1), deque(maxlen=200)
    state = torch.randn(2)
    for step in range(n_steps):
        with torch.no_grad():
            action, _ = agent.actor(state)
        position = state[0] + 0.2 * action
        next_state = torch.cat([position, state[:1]])
        done = (position.abs() > 2).float()
        memory.append(Step(state, action, -position.abs(), next_state, done))
        state = torch.randn(2) if done else next_state
        if len(memory) >= 3:
            rows = random.choices(memory, k=16)
            losses = agent.update(Step(*(torch.stack(column) for column in zip(*rows))))
    print(losses, agent.alpha.item())


if __name__ == "__main__":
    main()
