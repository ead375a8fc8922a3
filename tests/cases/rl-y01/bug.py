import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class PPO(nn.Module):
    def __init__(self, num_inputs, num_actions):
        super().__init__()
        self.linear = nn.Linear(num_inputs, 32)
        self.critic_linear = nn.Linear(32, 1)
        self.actor_linear = nn.Linear(32, num_actions)

    def forward(self, x):
        x = F.relu(self.linear(x))
        return self.actor_linear(x), self.critic_linear(x)


class Env:
    def reset(self, n):
        self.state = torch.randn(n, 6)
        return self.state

    def step(self, action):
        self.state = 0.9 * self.state + 0.1 * torch.randn_like(self.state)
        reward = (action == (self.state[:, 0] > 0).long()).float()
        done = (torch.rand(len(action)) < 0.05).float()
        return self.state, reward, done


def train(num_epochs, num_processes=3, num_local_steps=5, gamma=0.9, tau=1.0, batch_size=2, epsilon=0.2):
    envs = Env()
    model = PPO(6, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    curr_states = envs.reset(num_processes)

    old_log_policies, actions, values, states, rewards, dones = [], [], [], [], [], []
    for _ in range(num_local_steps):
        states.append(curr_states)
        logits, value = model(curr_states)
        values.append(value.squeeze(-1))
        policy = F.softmax(logits, dim=1)
        old_m = Categorical(policy)
        action = old_m.sample()
        actions.append(action)
        old_log_policies.append(old_m.log_prob(action))
        curr_states, reward, done = envs.step(action)
        rewards.append(reward)
        dones.append(done)

    _, next_value = model(curr_states)
    next_value = next_value.squeeze(-1)
    old_log_policies = torch.cat(old_log_policies)
    actions, states = torch.cat(actions), torch.cat(states)
    gae = 0
    R = []
    for value, reward, done in list(zip(values, rewards, dones))[::-1]:
        gae = gae * gamma * tau
        gae = gae + reward + gamma * next_value.detach() * (1 - done) - value.detach()
        next_value = value
        R.append(gae + value)
    values = torch.cat(values).detach()
    R = torch.cat(R[::-1]).detach()
    advantages = R - values
    for i in range(num_epochs):
        indice = torch.randperm(num_local_steps * num_processes)
        for j in range(batch_size):
            batch_indices = indice[j::batch_size]
            logits, value = model(states[batch_indices])
            new_m = Categorical(F.softmax(logits, dim=1))
            new_log_policy = new_m.log_prob(actions[batch_indices])
            ratio = torch.exp(new_log_policy - old_log_policies[batch_indices])
            actor_loss = -torch.mean(torch.min(ratio * advantages[batch_indices], torch.clamp(ratio, 1 - epsilon, 1 + epsilon) * advantages[batch_indices]))
            critic_loss = F.smooth_l1_loss(R[batch_indices], value.squeeze(-1))
            total_loss = actor_loss + critic_loss - 0.01 * new_m.entropy().mean()
            optimizer.zero_grad()
            total_loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
        print("epoch", i, total_loss.item())


torch.manual_seed(123)
num_epochs = 4
train(num_epochs)
