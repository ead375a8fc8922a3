import torch
from torch import nn
from torch.distributions import Normal


class GaussianPolicy(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(n_obs, 32), nn.Tanh(), nn.Linear(32, n_act))
        self.log_std = nn.Parameter(torch.full((n_act,), -0.5))

    def dist(self, obs):
        return Normal(self.mean(obs), self.log_std.exp())


class Buffer:
    FIELDS = ("obs", "act", "logp", "reward")

    def __init__(self):
        self.clear()

    def clear(self):
        self._rows = {name: [] for name in self.FIELDS}

    def store(self, **row):
        for name, value in row.items():
            self._rows[name].append(value)

    def minibatches(self, size):
        data = {name: torch.stack(values) for name, values in self._rows.items()}
        order = torch.randperm(len(data["obs"]))
        for idx in order.split(size):
            yield {name: column[idx] for name, column in data.items()}


class PPO:
    def __init__(self, policy, clip=0.2, epochs=3, minibatch=8, lr=3e-4):
        self.policy, self.clip, self.epochs, self.minibatch = policy, clip, epochs, minibatch
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=lr)
        self.buffer = Buffer()

    def act(self, obs):
        dist = self.policy.dist(obs)
        action = dist.sample()
        return action, dist.log_prob(action).sum(-1)

    def objective(self, batch):
        logp = self.policy.dist(batch["obs"]).log_prob(batch["act"]).sum(-1)
        ratio = torch.exp(logp - batch["logp"])
        weight = (batch["reward"] - batch["reward"].mean()) / (batch["reward"].std() + 1e-5)
        return -torch.min(ratio * weight, ratio.clamp(1 - self.clip, 1 + self.clip) * weight).mean()

    def learn(self):
        for _ in range(self.epochs):
            for batch in self.buffer.minibatches(self.minibatch):
                loss = self.objective(batch)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
        self.buffer.clear()


def reach_task(agent, n_rounds, horizon=16):
    for _ in range(n_rounds):
        target = torch.randn(2)
        where = torch.zeros(2)
        for _ in range(horizon):
            obs = torch.cat([where, target])
            action, logp = agent.act(obs)
            where = where + 0.2 * action.clamp(-1, 1)
            agent.buffer.store(obs=obs, act=action, logp=logp, reward=-(where - target).norm())
        agent.learn()
        yield (where - target).norm().item()


torch.manual_seed(0)
n_rounds = 4
agent = PPO(GaussianPolicy(4, 2))
for k, distance in enumerate(reach_task(agent, n_rounds)):
    print(k, round(distance, 3))
