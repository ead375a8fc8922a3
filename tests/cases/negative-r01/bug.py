import argparse
from collections import namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F

Transition = namedtuple("Transition", ("log_prob", "value", "reward", "alive"))


class CommNet(nn.Module):
    """Agents that share their recurrent state with one another."""

    def __init__(self, args):
        super().__init__()
        self.args = args
        self.encoder = nn.Linear(args.num_inputs, args.hid_size)
        if args.rnn_type == "LSTM":
            self.f_module = nn.LSTMCell(args.hid_size, args.hid_size)
        else:
            self.f_module = nn.GRUCell(args.hid_size, args.hid_size)
        self.comm = nn.Linear(args.hid_size, args.hid_size)
        self.head = nn.Linear(args.hid_size, 2)
        self.value_head = nn.Linear(args.hid_size, 1)

    def init_hidden(self, n):
        h = torch.zeros(n, self.args.hid_size)
        return (h, torch.zeros_like(h)) if self.args.rnn_type == "LSTM" else h

    def forward(self, obs, prev):
        h = prev[0] if self.args.rnn_type == "LSTM" else prev
        shared = self.comm(h.sum(0, keepdim=True) - h) / max(1, len(h) - 1)
        state = self.f_module(self.encoder(obs) + shared, prev)
        h = state[0] if self.args.rnn_type == "LSTM" else state
        return F.log_softmax(self.head(h), dim=-1), self.value_head(h), state


class Trainer(object):
    def __init__(self, args, net):
        self.args, self.net = args, net
        self.optimizer = torch.optim.RMSprop(net.parameters(), lr=args.lrate)

    def get_episode(self):
        episode = []
        position = torch.randn(self.args.nagents, self.args.num_inputs)
        prev_hid = self.net.init_hidden(self.args.nagents)
        for t in range(self.args.max_steps):
            log_p, value, prev_hid = self.net(position, prev_hid)
            if (t + 1) % self.args.detach_gap == 0:
                if self.args.rnn_type == "LSTM":
                    prev_hid = (prev_hid[0].detach(), prev_hid[1].detach())
                else:
                    prev_hid = prev_hid.detach()
            action = torch.multinomial(log_p.detach().exp(), 1)
            position = position + 0.1 * (2 * action.float() - 1)
            reward = -position.abs().mean(dim=1)
            episode.append(Transition(log_p.gather(1, action).squeeze(1), value.squeeze(1), reward, 1.0))
        return episode

    def compute_grad(self, batch):
        returns = torch.zeros(self.args.nagents)
        loss = 0
        for step in reversed(batch):
            returns = step.reward + self.args.gamma * returns * step.alive
            advantage = returns - step.value.detach()
            loss = loss - (advantage * step.log_prob).sum() + 0.5 * (step.value - returns).pow(2).sum()
        loss.backward()
        return loss.item()

    def train_batch(self):
        self.optimizer.zero_grad()
        batch = self.get_episode()
        stat = self.compute_grad(batch)
        self.optimizer.step()
        return stat


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rnn_type", default="LSTM")
    parser.add_argument("--detach_gap", default=3, type=int)
    parser.add_argument("--max_steps", default=7, type=int)
    parser.add_argument("--nagents", default=3, type=int)
    parser.add_argument("--hid_size", default=8, type=int)
    parser.add_argument("--gamma", default=0.95, type=float)
    parser.add_argument("--lrate", default=1e-3, type=float)
    args = parser.parse_args()
    args.num_inputs = 2
    torch.manual_seed(0)
    trainer = Trainer(args, CommNet(args))
    n_batches = 5
    for n in range(n_batches):
        print(n, trainer.train_batch())
