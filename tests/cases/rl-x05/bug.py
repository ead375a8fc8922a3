import random

import torch
import torch.nn.functional as F
from torch import nn


class RecurrentQ(nn.Module):
    def __init__(self, n_obs, n_actions, hidden=16):
        super().__init__()
        self.hidden = hidden
        self.encode = nn.Linear(n_obs, hidden)
        self.rnn = nn.GRUCell(hidden, hidden)
        self.q = nn.Linear(hidden, n_actions)

    def forward(self, obs, h):
        h = self.rnn(F.relu(self.encode(obs)), h)
        return self.q(h), h


class VectorEnv:
    """Several corridors at once; walk to the right end."""

    def __init__(self, count, length=5):
        self.count, self.length = count, length
        self.position = torch.zeros(count)

    def observe(self):
        return torch.stack([self.position / self.length, torch.rand(self.count)], dim=1)

    def step(self, action):
        self.position = (self.position + action * 2 - 1).clamp(min=0)
        done = self.position >= self.length
        reward = done.float() - 0.05
        self.position = torch.where(done, torch.zeros_like(self.position), self.position)
        return self.observe(), reward, done.float()


class OnlineAgent:
    def __init__(self, net, count, gamma=0.9, epsilon=0.3):
        self.net, self.gamma, self.epsilon = net, gamma, epsilon
        self.optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3)
        self.h = torch.zeros(count, net.hidden)

    def act(self, q):
        greedy = q.argmax(1)
        explore = torch.rand(len(q)) < self.epsilon
        return torch.where(explore, torch.randint_like(greedy, q.size(1)), greedy)

    def learn(self, env, obs):
        q, h = self.net(obs, self.h)
        action = self.act(q)
        next_obs, reward, done = env.step(action)
        with torch.no_grad():
            next_q, _ = self.net(next_obs, h)
            target = reward + self.gamma * (1 - done) * next_q.max(1).values
        loss = F.smooth_l1_loss(q.gather(1, action[:, None]).squeeze(1), target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.h = h * (1 - done).unsqueeze(1)
        return next_obs, loss.item(), reward.mean().item()


if __name__ == "__main__":
    random.seed(0)
    torch.manual_seed(0)
    total_steps = 8
    env = VectorEnv(count=6)
    agent = OnlineAgent(RecurrentQ(2, 2), count=6)
    obs = env.observe()
    while total_steps:
        obs, loss, reward = agent.learn(env, obs)
        total_steps -= 1
        print(total_steps, loss, reward)
