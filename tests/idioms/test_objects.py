"""Objects that hold a graph of their own: what libraries' models, neurons, memories and outputs look like.

The libraries are not needed here: their pattern is written out, small, and executed.
"""

from __future__ import annotations

import pytest

from .judge import judge

PROGRAMS = {
    "mems of Transformer-XL, cut when they are renewed": """
        import torch
        N = 6

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = torch.nn.ModuleList([torch.nn.Linear(3, 3) for _ in range(2)])

            def forward(self, x, *mems):
                hids, h = [x], x
                mems = mems or [torch.zeros(2, 3) for _ in range(3)]
                for layer, mem in zip(self.layers, mems):
                    h = torch.tanh(layer(torch.cat([mem, h])))[-2:]
                    hids.append(h)
                with torch.no_grad():
                    new = [torch.cat([m, h])[-2:].detach() for m, h in zip(mems, hids)]
                return (h.square().mean(), *new)

        model = Model()
        mems = ()
        for i in range(N):
            loss, *mems = model(torch.randn(2, 3), *mems)
            loss.backward()
        """,
    "mems that are not cut": """
        import torch
        N = 6
        layer = torch.nn.Linear(3, 3)

        def forward(x, mem):
            h = torch.tanh(layer(torch.cat([mem, x])))[-2:]
            return h.square().mean(), h

        mem = torch.zeros(2, 3)
        for i in range(N):
            loss, mem = forward(torch.randn(2, 3), mem)  # error: LG101
            loss.backward()
        """,
    "past key values, cut layer by layer": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)
        past = None
        for i in range(N):
            x = torch.randn(2, 3)
            if past is not None:
                past = tuple(tuple(t.detach() for t in layer) for layer in past)
                x = x + past[0][0] * past[0][1]
            key, value = torch.tanh(net(x)), torch.sigmoid(net(x))
            past = ((key, value),)
            (key * value).mean().backward()
        """,
    "past key values, kept": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)
        past = None
        for i in range(N):
            x = torch.randn(2, 3)
            if past is not None:
                x = x + past[0][0] * past[0][1]
            key, value = torch.tanh(net(x)), torch.sigmoid(net(x))
            past = ((key, value),)  # error: LG101
            (key * value).mean().backward()
        """,
    "spiking neurons that are reset before each sample": """
        import torch
        N = 6

        class Neuron(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.mem = 0.0

            def forward(self, x):
                self.mem = 0.9 * self.mem + x
                spike = torch.sigmoid(self.mem - 1)
                self.mem = self.mem - spike
                return spike

            def reset(self):
                self.mem = 0.0

        def reset_net(net):
            for module in net.modules():
                if hasattr(module, "reset"):
                    module.reset()

        net = torch.nn.Sequential(torch.nn.Linear(3, 3), Neuron(), torch.nn.Linear(3, 1), Neuron())
        for i in range(N):
            reset_net(net)
            out = sum(net(torch.randn(2, 3)) for _ in range(3))
            out.mean().backward()
        """,
    "spiking neurons that are detached after each step": """
        import torch
        N = 6

        class Neuron(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.mem = torch.zeros(2, 3)

            def forward(self, x):
                self.mem = torch.sigmoid(0.9 * self.mem + x)
                return self.mem

            def detach_hidden(self):
                self.mem.detach_()

        def detach_net(net):
            for module in net.modules():
                if isinstance(module, Neuron):
                    module.detach_hidden()

        net = torch.nn.Sequential(torch.nn.Linear(3, 3), Neuron())
        for i in range(N):
            net(torch.randn(2, 3)).mean().backward()
            detach_net(net)
        """,
    "spiking neurons that nobody resets": """
        import torch
        N = 6

        class Neuron(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.mem = torch.zeros(2, 3)

            def forward(self, x):
                self.mem = torch.sigmoid(0.9 * self.mem + x)  # error: LG101
                return self.mem

        net = torch.nn.Sequential(torch.nn.Linear(3, 3), Neuron())
        for i in range(N):
            net(torch.randn(2, 3)).mean().backward()
        """,
    "a memory by node, written for the nodes of a batch": """
        import torch
        N = 6

        class Memory(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.cell = torch.nn.GRUCell(3, 3)
                self.register_buffer("memory", torch.zeros(5, 3))

            def forward(self, nodes, x):
                return self.cell(x, self.memory[nodes])

            def update_state(self, nodes, value):
                self.memory[nodes] = value

            def detach(self):
                self.memory.detach_()

        memory = Memory()
        for i in range(N):
            nodes = torch.tensor([0, 1])
            out = memory(nodes, torch.randn(2, 3))
            out.mean().backward()
            memory.update_state(nodes, out.detach())
            memory.detach()
        """,
    "a queue of features, as in MoCo": """
        import torch
        N = 6

        class MoCo(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.encoder_q, self.encoder_k = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
                self.register_buffer("queue", torch.randn(3, 8))
                self.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))

            @torch.no_grad()
            def _dequeue_and_enqueue(self, keys):
                ptr = int(self.queue_ptr)
                self.queue[:, ptr:ptr + 2] = keys.T
                self.queue_ptr[0] = (ptr + 2) % 8

            def forward(self, x):
                q = self.encoder_q(x)
                with torch.no_grad():
                    k = self.encoder_k(x)
                logits = q @ self.queue.clone().detach()
                self._dequeue_and_enqueue(k)
                return logits

        model = MoCo()
        for i in range(N):
            model(torch.randn(2, 3)).square().mean().backward()
        """,
    "no_sync but for the last step of an accumulation": """
        import contextlib
        import torch
        N = 6

        class Wrapped(torch.nn.Module):
            def __init__(self, module):
                super().__init__()
                self.module = module

            def forward(self, x):
                return self.module(x)

            @contextlib.contextmanager
            def no_sync(self):
                yield

        model = Wrapped(torch.nn.Linear(3, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for i in range(N):
            last = (i + 1) % 3 == 0
            with contextlib.nullcontext() if last else model.no_sync():
                (model(torch.randn(2, 3)).square().mean() / 3).backward()
            if last:
                optimizer.step()
                optimizer.zero_grad()
        """,
    "a metric object that cuts in its update": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 1)

        class MeanMetric(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.total, self.count = torch.zeros(()), 0

            @torch.no_grad()
            def update(self, value):
                self.total = self.total + value
                self.count += 1

            def compute(self):
                return self.total / self.count

        metric = MeanMetric()
        for i in range(N):
            loss = net(torch.randn(2, 3)).square().mean()
            loss.backward()
            metric.update(loss)
        """,
    "a metric object that does not": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 1)

        class MeanMetric:
            def __init__(self):
                self.values = []

            def update(self, value):
                self.values.append(value)  # warning: LG201

        metric = MeanMetric()
        for i in range(N):
            loss = net(torch.randn(2, 3)).square().mean()
            loss.backward()
            metric.update(loss)
        """,
    "an environment whose hidden state is part of the agent": """
        import torch
        N = 6

        class Agent(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.cell, self.head = torch.nn.GRUCell(3, 3), torch.nn.Linear(3, 2)
                self.saved_log_probs, self.rewards = [], []
                self.reset()

            def reset(self):
                self.h = torch.zeros(1, 3)

            def act(self, obs):
                self.h = self.cell(obs, self.h)
                dist = torch.distributions.Categorical(logits=self.head(self.h))
                action = dist.sample()
                self.saved_log_probs.append(dist.log_prob(action))
                return action.item()

            def learn(self, optimizer):
                loss = -torch.stack(self.saved_log_probs).sum() * sum(self.rewards)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                del self.saved_log_probs[:]
                del self.rewards[:]

        agent = Agent()
        optimizer = torch.optim.Adam(agent.parameters())
        for episode in range(N):
            agent.reset()
            for t in range(3):
                agent.act(torch.randn(1, 3))
                agent.rewards.append(1.0)
            agent.learn(optimizer)
        """,
    "the same without a reset between the episodes": """
        import torch
        N = 6

        class Agent(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.cell, self.head = torch.nn.GRUCell(3, 3), torch.nn.Linear(3, 2)
                self.saved_log_probs = []
                self.h = torch.zeros(1, 3)

            def act(self, obs):
                self.h = self.cell(obs, self.h)  # error: LG101
                dist = torch.distributions.Categorical(logits=self.head(self.h))
                action = dist.sample()
                self.saved_log_probs.append(dist.log_prob(action))
                return action.item()

            def learn(self):
                (-torch.stack(self.saved_log_probs).sum()).backward()
                self.saved_log_probs.clear()

        agent = Agent()
        for episode in range(N):
            for t in range(3):
                agent.act(torch.randn(1, 3))
            agent.learn()
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    judge(PROGRAMS[name])
