import torch
import torch.nn.functional as F
from torch import nn


class GridEnv:
    """A batch of walkers on a grid; an action adds one to a coordinate, the last one stays."""

    def __init__(self, batch, ndim, height):
        self.height, self.ndim, self.time = height, ndim, 0
        self.state = torch.zeros(batch, ndim)
        self.done = torch.zeros(batch, dtype=torch.bool)
        self.terminal_index = ndim

    def step(self, actions):
        stay = actions == self.terminal_index
        move = F.one_hot(actions.clamp_max(self.ndim - 1), self.ndim).float()
        self.state = torch.where((stay | self.done).unsqueeze(1), self.state, self.state + move)
        self.time += 1
        self.done = torch.full_like(self.done, self.time >= self.height)

    def log_reward(self):
        return -(self.state / self.height - 0.7).pow(2).sum(dim=1)


class FlowPolicy(nn.Module):
    def __init__(self, ndim):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(ndim, 24), nn.LeakyReLU())
        self.forward_head = nn.Linear(24, ndim + 1)
        self.backward_head = nn.Linear(24, ndim)

    def forward(self, state):
        h = self.trunk(state)
        return self.forward_head(h).log_softmax(dim=1), self.backward_head(h).log_softmax(dim=1)


class ManualModule(nn.Module):
    """The part of a trainer's module that is needed: optimizers and a backward of one's own."""

    def configure(self, lr):
        self._optimizer = torch.optim.Adam(self.parameters(), lr=lr)

    def optimizers(self):
        return self._optimizer

    def manual_backward(self, loss):
        loss.backward()


class DetailedBalance(ManualModule):
    def __init__(self, ndim, height):
        super().__init__()
        self.ndim, self.height = ndim, height
        self.policy = FlowPolicy(ndim)
        self.configure(1e-3)

    def training_step(self, batch_size, batch_idx):
        env = GridEnv(batch_size, self.ndim, self.height)
        optimizer = self.optimizers()
        prev_log_rewards, prev_forward, actions = None, None, None
        total = 0.0
        while not torch.all(env.done):
            forward_logprob, back_logprob = self.policy(env.state / self.height)
            log_rewards = env.log_reward()
            if actions is not None:
                taken = prev_forward.gather(1, actions.unsqueeze(1)).squeeze(1)
                back = back_logprob.gather(1, actions.clamp_max(self.ndim - 1).unsqueeze(1)).squeeze(1)
                error = log_rewards - prev_log_rewards + back + prev_forward[:, -1]
                error = error - forward_logprob[:, -1].detach() - taken
                loss = F.huber_loss(error, torch.zeros_like(error))
                optimizer.zero_grad()
                self.manual_backward(loss)
                optimizer.step()
                total += loss.item()
            actions = torch.distributions.Categorical(logits=forward_logprob.detach()).sample()
            env.step(actions)
            prev_log_rewards, prev_forward = log_rewards, forward_logprob
        return total


def main():
    torch.manual_seed(1)
    n_steps = 3
    module = DetailedBalance(ndim=2, height=6)
    for i in range(n_steps):
        print(i, module.training_step(16, i))


if __name__ == "__main__":
    main()
