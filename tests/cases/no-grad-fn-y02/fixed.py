import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


class DQN(nn.Module):
    def __init__(self, n_obs=4, n_actions=2):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_obs, 24), nn.ReLU(), nn.Linear(24, n_actions))

    def q_values(self, states):
        return self.net(states)


class Agent:
    def __init__(self, gamma=0.95, batch_size=4):
        self.policy, self.target = DQN(), DQN()
        self.target.load_state_dict(self.policy.state_dict())
        self.optimizer = torch.optim.RMSprop(self.policy.parameters(), lr=1e-3)
        self.memory = deque(maxlen=100)
        self.gamma, self.batch_size = gamma, batch_size

    def act(self, state, eps=0.1):
        if random.random() < eps:
            return random.randrange(2)
        return self.policy.q_values(state.unsqueeze(0)).argmax(1).item()

    def replay(self):
        if len(self.memory) < self.batch_size:
            return None
        states, actions, rewards, next_states = zip(*random.sample(self.memory, self.batch_size))
        states, next_states = torch.stack(states), torch.stack(next_states)
        actions, rewards = torch.tensor(actions), torch.tensor(rewards)
        q = self.policy.q_values(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        expected = rewards + self.gamma * self.target.q_values(next_states).max(1)[0].detach()
        loss = F.smooth_l1_loss(q, expected)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


random.seed(0)
torch.manual_seed(0)
n_episodes = 4
agent = Agent()
for episode in range(n_episodes):
    state = torch.randn(4)
    for t in range(6):
        action = agent.act(state)
        next_state = torch.randn(4)
        agent.memory.append((state, action, float(action == t % 2), next_state))
        state = next_state
        agent.replay()
    print(episode, len(agent.memory))
