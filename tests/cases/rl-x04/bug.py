from collections import defaultdict

import torch
from torch import nn, optim
from torch.distributions import Categorical


class Trader(nn.Module):
    def __init__(self, n_goods):
        super().__init__()
        self.policy = nn.Sequential(nn.Linear(2 * n_goods, 16), nn.ReLU(), nn.Linear(16, n_goods))

    def forward(self, stock, prices):
        return Categorical(logits=self.policy(torch.cat([stock, prices])))


class Market:
    def __init__(self, traders, n_goods=4, length=6):
        self.traders, self.n_goods, self.length = traders, n_goods, length

    def __iter__(self):
        stock = {name: torch.zeros(self.n_goods) for name in self.traders}
        for _ in range(self.length):
            prices = torch.rand(self.n_goods)
            for name in self.traders:
                good = yield name, stock[name].clone(), prices
                stock[name][good] += 1
                yield 1.0 - prices[good].item() - 0.1 * stock[name][good].item()


class Learner:
    def __init__(self, names, n_goods):
        self.agents = {name: Trader(n_goods) for name in names}
        self.optimizers = {name: optim.Adam(agent.parameters(), lr=5e-3) for name, agent in self.agents.items()}
        self.saved_log_probs = defaultdict(list)
        self.rewards = defaultdict(list)

    def episode(self, market):
        game = iter(market)
        for name, stock, prices in game:
            dist = self.agents[name](stock, prices)
            action = dist.sample()
            self.saved_log_probs[name].append(dist.log_prob(action))
            self.rewards[name].append(game.send(action.item()))

    def finish_episode(self, gamma=0.95):
        for name, rewards in self.rewards.items():
            returns, running = [], 0.0
            for reward in rewards[::-1]:
                running = reward + gamma * running
                returns.insert(0, running)
            returns = torch.tensor(returns)
            returns = (returns - returns.mean()) / (returns.std() + 1e-5)
            log_probs = torch.stack(self.saved_log_probs[name][: len(returns)])
            loss = -(log_probs * returns).sum()
            self.optimizers[name].zero_grad()
            loss.backward()
            self.optimizers[name].step()
        self.rewards.clear()


def main():
    torch.manual_seed(0)
    n_episodes = 5
    names = ["ada", "bob"]
    learner = Learner(names, n_goods=4)
    for k in range(n_episodes):
        learner.episode(Market(names))
        print(k, {name: round(sum(r), 2) for name, r in learner.rewards.items()})
        learner.finish_episode()


if __name__ == "__main__":
    main()
