import torch
import torch.nn as nn
from torch.distributions import Normal


class Actor(nn.Module):
    def __init__(self, state_size, action_size):
        super().__init__()
        self.fc = nn.Linear(state_size, 16)
        self.mu, self.log_std = nn.Linear(16, action_size), nn.Linear(16, action_size)

    def evaluate(self, state):
        x = torch.relu(self.fc(state))
        dist = Normal(self.mu(x), self.log_std(x).clamp(-20, 2).exp())
        e = dist.rsample()
        action = torch.tanh(e)
        log_prob = (dist.log_prob(e) - torch.log(1 - action.pow(2) + 1e-6)).sum(1, keepdim=True)
        return action, log_prob


class Critic(nn.Module):
    def __init__(self, state_size, action_size):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(state_size + action_size, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, state, action):
        return self.net(torch.cat((state, action), dim=1))


class Agent:
    def __init__(self, state_size, action_size, lr=5e-4):
        self.target_entropy = -action_size
        self.log_alpha = torch.tensor([0.0], requires_grad=True)
        self.alpha = self.log_alpha.exp()
        self.alpha_optimizer = torch.optim.Adam(params=[self.log_alpha], lr=lr)
        self.actor = Actor(state_size, action_size)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.critic = Critic(state_size, action_size)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=lr)

    def learn(self, states, actions, rewards, next_states, gamma=0.99):
        with torch.no_grad():
            next_action, next_log_pi = self.actor.evaluate(next_states)
            target = rewards + gamma * (self.critic(next_states, next_action) - self.alpha * next_log_pi)
        critic_loss = 0.5 * (self.critic(states, actions) - target).pow(2).mean()
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        actions_pred, log_pis = self.actor.evaluate(states)
        self.alpha = self.log_alpha.exp()
        alpha_loss = -(self.alpha * (log_pis + self.target_entropy).detach()).mean()
        self.alpha_optimizer.zero_grad()
        alpha_loss.backward()
        self.alpha_optimizer.step()

        actor_loss = (self.alpha.detach() * log_pis - self.critic(states, actions_pred)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
        return critic_loss.item(), actor_loss.item()


torch.manual_seed(0)
n_updates = 4
agent = Agent(4, 2)
for i in range(n_updates):
    batch = torch.randn(8, 4), torch.rand(8, 2) * 2 - 1, torch.randn(8, 1), torch.randn(8, 4)
    print(i, agent.learn(*batch))
