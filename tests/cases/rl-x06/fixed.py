import torch
from torch import nn


class RandomWalk:
    """Seven states in a row; the right end pays."""

    def __init__(self, n=7):
        self.n = n

    def reset(self):
        self.at = self.n // 2
        return self.features()

    def features(self):
        return nn.functional.one_hot(torch.tensor(self.at), self.n).float()

    def step(self):
        self.at += 1 if torch.rand(()) < 0.5 else -1
        if (done := self.at in (0, self.n - 1)):
            return self.features(), float(self.at == self.n - 1), done
        return self.features(), 0.0, done


class ValueLearner:
    def __init__(self, n_states, gamma=0.98, lr=0.02):
        self.value = nn.Sequential(nn.Linear(n_states, 16), nn.Tanh(), nn.Linear(16, 1))
        self.optimizer = torch.optim.SGD(self.value.parameters(), lr=lr)
        self.gamma = gamma
        self.previous = None

    def begin(self, state):
        self.previous = state

    def observe(self, state, reward, done):
        value = self.value(state)
        target = reward + self.gamma * value.detach() * (not done)
        delta = target - self.value(self.previous)
        loss = delta.pow(2).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.previous = state
        return delta.item()


def run(env, learner, n_episodes, max_length):
    for episode in range(n_episodes):
        learner.begin(env.reset())
        errors = []
        for _ in range(max_length):
            state, reward, done = env.step()
            errors.append(learner.observe(state, reward, done))
            if done:
                break
        print(episode, len(errors), sum(map(abs, errors)) / len(errors))


if __name__ == "__main__":
    torch.manual_seed(0)
    n_episodes = 4
    run(RandomWalk(), ValueLearner(7), n_episodes, max_length=30)
