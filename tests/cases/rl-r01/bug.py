import torch
import torch.nn as nn
from torch.distributions import Normal


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).float()

    @staticmethod
    def backward(ctx, grad):
        (v,) = ctx.saved_tensors
        return grad / (1 + 10 * v.abs()) ** 2


class Leaky(nn.Module):
    """A leaky integrate-and-fire neuron that keeps its membrane potential itself."""

    def __init__(self, beta=0.9, threshold=1.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold
        self.reset_mem()

    def reset_mem(self):
        self.mem = torch.zeros(1)

    def forward(self, current):
        self.mem = self.beta * self.mem + current
        spk = Spike.apply(self.mem - self.threshold)
        self.mem = self.mem - spk.detach() * self.threshold
        return spk


class SpikingActor(nn.Module):
    def __init__(self, obs_dim, act_dim, num_steps=4):
        super().__init__()
        self.num_steps = num_steps
        self.net = nn.Sequential(nn.Linear(obs_dim, 16), Leaky(), nn.Linear(16, 16), Leaky())
        self.decode = nn.Linear(16, act_dim)
        self.log_std = nn.Parameter(torch.full((act_dim,), -0.5))

    def forward(self, obs):
        rate = 0
        for _ in range(self.num_steps):
            rate = rate + self.net(obs)
        return Normal(self.decode(rate / self.num_steps), self.log_std.exp())


def collect(actor, critic, frames):
    obs = torch.randn(frames, 3)
    with torch.no_grad():
        dist = actor(obs)
        action = dist.sample()
        reward = -(action.squeeze(-1) - obs.mean(dim=-1)).abs()
        advantage = reward - critic(obs).squeeze(-1)
        log_prob = dist.log_prob(action).sum(-1)
    return {"obs": obs, "action": action, "reward": reward, "advantage": advantage, "log_prob": log_prob}


def clip_loss(actor, critic, sub, eps=0.2):
    dist = actor(sub["obs"])
    ratio = (dist.log_prob(sub["action"]).sum(-1) - sub["log_prob"]).exp()
    gain = torch.min(ratio * sub["advantage"], ratio.clamp(1 - eps, 1 + eps) * sub["advantage"])
    value = critic(sub["obs"]).squeeze(-1)
    return -gain.mean() + 0.5 * (value - sub["reward"]).pow(2).mean() - 0.01 * dist.entropy().mean()


def reset(net):
    for layer in net.modules():
        if isinstance(layer, Leaky):
            layer.reset_mem()


torch.manual_seed(0)
sub_batch, n_sub = 8, 2
actor = SpikingActor(3, 1)
critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
optim = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-4)
n_rollouts = 3
for rollout in range(n_rollouts):
    reset(actor)
    data = collect(actor, critic, sub_batch * n_sub)
    order = torch.randperm(sub_batch * n_sub)
    reset(actor)
    for k in range(n_sub):
        index = order[k * sub_batch : (k + 1) * sub_batch]
        sub = {name: value[index] for name, value in data.items()}
        loss = clip_loss(actor, critic, sub)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(actor.parameters(), 1.0)
        optim.step()
        optim.zero_grad()
    print(rollout, loss.item())
