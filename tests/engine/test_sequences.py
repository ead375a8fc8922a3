"""A loop over the steps of one input builds one graph; a loop over batches, or an evaluation, lets graphs grow."""

from __future__ import annotations

import textwrap

import pytest

from loopgrad.rules import check
from loopgrad.source import FileProvider, SourceFile

HEAD = """
import torch
from torch import nn

cell, read = nn.RNNCell(3, 4), nn.Linear(4, 1)
"""

SILENT = {
    "a sequence is unrolled, and its states are plotted": """
        from plots import draw

        song, state, states = torch.randn(25, 2, 3), torch.zeros(2, 4), []
        for t in range(25):
            state = cell(song[t], state)
            states.append(state)
        draw(torch.stack(states).detach())
        """,
    "the number of steps is the input's": """
        def last(song):
            state = torch.zeros(2, 4)
            for t in range(song.size(0)):
                state = cell(song[t], state)
            return state

        for k in range(100):
            print(read(last(torch.randn(9, 2, 3))).argmax())
        """,
    "the rows of a tensor are the steps": """
        state = torch.zeros(2, 4)
        for k, row in enumerate(torch.randn(9, 2, 3)):
            state = cell(row, state)
        print(state)
        """,
    "text is generated in training mode": """
        def generate(length=100):
            state, said = torch.zeros(1, 4), torch.zeros(1, 3)
            words = []
            for _ in range(length):
                state = cell(said, state)
                word = int(read(state).data.argmax())
                words.append(word)
                said = torch.full((1, 3), float(word))
            return words

        print(generate())
        """,
    "the state is an attribute of a layer": """
        class Neuron(nn.Module):
            def __init__(self):
                super().__init__()
                self.v = torch.zeros(2, 3)

            def forward(self, x):
                self.v = self.v * 0.5 * (1 - torch.sigmoid(self.v)) + x
                return torch.sigmoid(self.v)

        net, x = nn.Sequential(nn.Linear(3, 3), Neuron()), torch.rand(2, 3)
        steps, spikes, potentials = 20, [], []
        for t in range(steps):
            spikes.append(net(x))
            potentials.append(net[1].v)
        print(torch.cat(spikes), potentials)
        """,
    "slices of leaves are put into a file": """
        noises = [torch.randn(8, 3, requires_grad=True) for _ in range(2)]
        optimizer = torch.optim.Adam(noises)
        for _ in range(5):
            optimizer.zero_grad()
            sum(noise.pow(2).sum() for noise in noises).backward()
            optimizer.step()
        found = {}
        for k in range(8):
            found[k] = [noise[k : k + 1] for noise in noises]
        torch.save(found, "found.pt")
        """,
    "a table is filled from the parts of what is there": """
        spread = torch.ones(3, 10, requires_grad=True)
        variance = torch.mm(torch.rand(2, 3) ** 2, spread**2)
        variance.sum().backward()
        table = torch.zeros_like(spread)
        for j in range(10):
            for i in range(3):
                table[i, j] = (spread[i, j] / torch.sqrt(variance[:, j])).mean()
        print(spread.grad.allclose(table))
        """,
    "torch 0.1: multinomial() without a number raises": """
        from gym import make

        env, values = make("maze"), []
        for _ in range(20):
            score = read(torch.tanh(torch.randn(1, 4)))
            action = torch.softmax(score, 1).multinomial()
            env.step(action)
            values.append(score)
        """,
    "torch 0.1: retain_variables is no argument any more, so the first backward() raises": """
        matrix = torch.ones(1, 2, requires_grad=True)
        k = matrix**2
        k.backward(torch.ones(1, 2), retain_variables=True)
        k.backward(torch.ones(1, 2))
        """,
    "layers that are unrolled in a forward, whatever the script calls x": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = [nn.Linear(4, 4) for _ in range(8)]
                for k, layer in enumerate(self.layers):
                    setattr(self, f"layer{k}", layer)

            def forward(self, x):
                seen = [x]
                for k in range(8):
                    x = torch.relu(self.layers[k](x))
                    seen.append(x)
                return x, seen

        x = torch.linspace(0, 1, 20)
        net = Net().eval()
        for _ in range(10):
            out, seen = net(torch.randn(2, 4))
            print([s.mean().item() for s in seen])
        """,
    "a frozen module from out of reach is written to": """
        from factory import build

        ema = build("net").eval().requires_grad_(False).to("cpu")
        for name, tensor in list(ema.named_parameters()) + list(ema.named_buffers()):
            tensor.copy_(torch.zeros(1))
        """,
    "layers with names that nobody knows": """
        from settings import width

        net = nn.Sequential()
        net.add_module("first:{0}".format(width), nn.Linear(4, 4))
        net.add_module("then:{0}".format(width), nn.Linear(4, 1))
        for _ in range(5):
            net(torch.randn(2, 4)).sum().backward()
        """,
    "torch 0.1: what topk gives is no number, so a table of words does not have it": """
        words = {0: "start", 1: "end"}
        for line in open("words.txt"):
            words[len(words)] = line
        cell.train(False)
        state, said = torch.zeros(1, 4), []
        for _ in range(100):
            state = cell(torch.zeros(1, 3), state)
            value, index = read(state).data.topk(1)
            said.append(words[index[0][0]])
        print(said)
        """,
    "an unknown layer may keep what it is given, or not": """
        from neurons import IFNode

        linear, neuron, x = nn.Linear(4, 1), IFNode(), torch.rand(4)
        spikes = []
        for t in range(20):
            spikes.append(neuron(linear(x)))
        print(spikes)
        """,
}

GROWING = {
    "a sum is no recurrence": (
        "total",
        """
        total = torch.zeros(1)
        for _ in range(20):
            total = total + read(torch.randn(5, 4)).mean()
        print(total)
        """,
    ),
    "a table that is filled is no recurrence": (
        "table",
        """
        table = torch.zeros(20, 5, 1)
        for k in range(20):
            table[k] = read(torch.randn(5, 4))
        print(table)
        """,
    ),
    "outputs of independent inputs": (
        "outputs",
        """
        outputs = []
        for _ in range(20):
            outputs.append(read(torch.randn(5, 4) @ torch.ones(4, 4)))
        print(torch.cat(outputs))
        """,
    ),
    "the rows of a weight are no parts of it when it is transposed": (
        "outputs",
        """
        weight, outputs = nn.Parameter(torch.randn(4, 4)), []
        for _ in range(20):
            outputs.append(torch.randn(5, 4) @ weight.T)
        print(torch.cat(outputs))
        """,
    ),
    "a state that goes from batch to batch": (
        "state",
        """
        from torch.utils.data import DataLoader, TensorDataset

        state = torch.zeros(4, 4)
        for (x,) in DataLoader(TensorDataset(torch.randn(40, 3)), batch_size=4):
            state = cell(x, state)
        print(state)
        """,
    ),
    "a rollout in eval()": (
        "state",
        """
        cell.eval()
        state = torch.zeros(2, 4)
        for _ in range(20):
            state = cell(torch.ones(2, 3), state)
        print(state)
        """,
    ),
}


def severe(program: str) -> list:
    result = check(SourceFile("seen.py", HEAD + textwrap.dedent(program)), FileProvider(["."]))
    assert not result.partial
    return [found for found in result.findings if found.severity != "information"]


@pytest.mark.parametrize("name", SILENT)
def test_one_sequence_is_no_growth(name: str) -> None:
    assert severe(SILENT[name]) == []


@pytest.mark.parametrize("name", GROWING)
def test_growth_is_told(name: str) -> None:
    carrier, program = GROWING[name]
    found = severe(program)
    assert [f.outcome for f in found] == ["grows"]
    assert carrier in found[0].carriers[0]
