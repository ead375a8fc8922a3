import queue
import threading

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Policy(nn.Module):
    def __init__(self, n_obs=4, n_actions=3):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, 24), nn.Tanh())
        self.logits, self.value = nn.Linear(24, n_actions), nn.Linear(24, 1)

    def forward(self, obs):
        h = self.body(obs)
        return self.logits(h), self.value(h).squeeze(-1)


class Worker(threading.Thread):
    """Plays with the newest policy and hands over arrays."""

    def __init__(self, policy, outbox, go, n_rollouts, length=12, seed=0):
        super().__init__(daemon=True)
        self.policy, self.outbox, self.go = policy, outbox, go
        self.n_rollouts, self.length = n_rollouts, length
        self.rng = np.random.default_rng(seed)
        self.hidden = np.zeros(4, dtype=np.float32)

    def play(self):
        rows = []
        for _ in range(self.length):
            logits, value = self.policy(torch.from_numpy(self.hidden))
            p = logits.softmax(-1).detach().numpy()
            action = self.rng.choice(len(p), p=p / p.sum())
            reward = float(action == self.hidden.argmax() % 3)
            rows.append((self.hidden, action, reward, np.log(p[action]), value.item()))
            self.hidden = np.roll(self.hidden, 1) * 0.9 + self.rng.normal(size=4).astype(np.float32)
        return [np.asarray(column) for column in zip(*rows)]

    def run(self):
        for _ in range(self.n_rollouts):
            self.go.acquire()
            self.outbox.put(self.play())


def advantages(reward, value, gamma=0.9, lam=0.95):
    out, running = np.zeros_like(reward), 0.0
    for t in reversed(range(len(reward))):
        following = value[t + 1] if t + 1 < len(value) else 0.0
        running = reward[t] + gamma * following - value[t] + gamma * lam * running
        out[t] = running
    return out


def learn(policy, optimizer, rollout, epochs=3, clip=0.2):
    obs, action, reward, old, value = rollout
    adv = torch.as_tensor(advantages(reward, value), dtype=torch.float32)
    goal = adv + torch.as_tensor(value, dtype=torch.float32)
    obs, action, old = torch.as_tensor(obs), torch.as_tensor(action), torch.as_tensor(old)
    for _ in range(epochs):
        logits, v = policy(obs)
        dist = torch.distributions.Categorical(logits=logits)
        ratio = (dist.log_prob(action) - old).exp()
        surrogate = torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv).mean()
        loss = -surrogate + 0.5 * F.mse_loss(v, goal) - 0.01 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item(), reward.mean()


def main():
    torch.manual_seed(0)
    n_rollouts = 4
    policy = Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    outbox, go = queue.Queue(maxsize=2), threading.Semaphore(1)
    worker = Worker(policy, outbox, go, n_rollouts)
    worker.start()
    for k in range(n_rollouts):
        print(k, learn(policy, optimizer, outbox.get()))
        go.release()
    worker.join()


if __name__ == "__main__":
    main()
