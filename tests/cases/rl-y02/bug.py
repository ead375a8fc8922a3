import torch
from torch import nn
from torch.distributions import Categorical


class Encoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.embed = nn.Linear(2, dim)
        self.att = nn.MultiheadAttention(dim, 2, batch_first=True)

    def forward(self, x):
        h = self.embed(x)
        return h + self.att(h, h, h, need_weights=False)[0]


class Actor(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.encoder = Encoder(dim)
        self.query = nn.Linear(dim, dim)

    def forward(self, coords):
        h = self.encoder(coords)
        state = h.mean(dim=1)
        visited = torch.zeros(coords.shape[:2], dtype=torch.bool)
        tour, log_probs = [], 0
        for _ in range(coords.shape[1]):
            scores = (h @ self.query(state).unsqueeze(-1)).squeeze(-1).masked_fill(visited, -1e9)
            m = Categorical(logits=scores)
            city = m.sample()
            log_probs = log_probs + m.log_prob(city)
            visited = visited.scatter(1, city[:, None], True)
            state = h[torch.arange(len(h)), city]
            tour.append(city)
        return torch.stack(tour, dim=1), log_probs


class Critic(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.encoder = Encoder(dim)
        self.value = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 1))

    def forward(self, coords):
        return self.value(self.encoder(coords).mean(dim=1)).squeeze(-1)


def reward_fn(coords, tour):
    ordered = coords.gather(1, tour[:, :, None].expand(-1, -1, 2))
    return (ordered - ordered.roll(1, dims=1)).norm(dim=-1).sum(dim=1)


def main():
    torch.manual_seed(0)
    n_batches = 4
    actor, critic = Actor(), Critic()
    act_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
    cri_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
    mse = nn.MSELoss()
    for step in range(n_batches):
        coords = torch.rand(6, 5, 2)
        tour, log_probs = actor(coords)
        reward = reward_fn(coords, tour)
        baseline = critic(coords)

        act_loss = ((reward - baseline) * log_probs).mean()
        act_opt.zero_grad()
        act_loss.backward()
        act_opt.step()

        cri_loss = mse(reward, baseline)
        cri_opt.zero_grad()
        cri_loss.backward()
        cri_opt.step()
        print(step, reward.mean().item(), cri_loss.item())


main()
