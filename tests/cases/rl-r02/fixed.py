import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions import Categorical

GAMMA = 0.99
EPSILON = 0.2


class LineWorld:
    """Walk to the right end of a line."""

    def __init__(self, length=6, limit=8):
        self.length, self.limit = length, limit

    def reset(self):
        self.position, self.time = 0, 0
        return self._observe()

    def _observe(self):
        return torch.tensor([self.position / self.length, self.time / self.limit])

    def step(self, action):
        self.position = max(0, self.position + (1 if action == 1 else -1))
        self.time += 1
        done = self.position == self.length or self.time == self.limit
        return self._observe(), 1.0 if self.position == self.length else -0.1, done


class StateValue(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
        self.optimizer = optim.SGD(self.net.parameters(), lr=1e-2)

    def forward(self, state):
        return self.net(state)

    def mse(self, value, target):
        return (value - target).pow(2).mean()

    def sgd(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class ActionValue(StateValue):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
        self.optimizer = optim.SGD(self.net.parameters(), lr=1e-2)

    def forward(self, state, action):
        return self.net(torch.cat([state, nn.functional.one_hot(action, 2).float()]))


class PolicyNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
        self.optimizer = optim.Adam(self.parameters(), lr=1e-3)

    def forward(self, state):
        return Categorical(logits=self.net(state))

    def clipped_surrogate(self, log_prob, old_log_prob, advantage):
        ratio = torch.exp(log_prob - old_log_prob)
        return torch.min(ratio * advantage, torch.clamp(ratio, 1 - EPSILON, 1 + EPSILON) * advantage)

    def sga(self, objective):
        self.optimizer.zero_grad()
        (-objective).backward()
        self.optimizer.step()


def main():
    torch.manual_seed(4)
    env = LineWorld()
    policy, v_net, q_net = PolicyNetwork(), StateValue(), ActionValue()
    n_episodes = 4
    for episode in range(n_episodes):
        state, done = env.reset(), False
        surrogates = []
        while not done:
            dist = policy(state)
            action = dist.sample()
            log_prob = dist.log_prob(action)
            next_state, reward, done = env.step(action.item())

            v, q = v_net(state), q_net(state, action)
            with torch.no_grad():
                target = reward + GAMMA * v_net(next_state) * (not done)
            advantage = (q - v).detach()
            surrogates.append(policy.clipped_surrogate(log_prob, log_prob.detach(), advantage))

            v_net.sgd(v_net.mse(v, target))
            q_net.sgd(q_net.mse(q, target))
            state = next_state
        policy.sga(torch.stack(surrogates).mean())
        print(episode, len(surrogates))


if __name__ == "__main__":
    main()
