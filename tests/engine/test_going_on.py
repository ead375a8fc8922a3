"""Where every path ends before a backward, in what nobody knows, the analysis goes on without what failed."""

from __future__ import annotations

import textwrap

import pytest

from loopgrad.rules import check
from loopgrad.source import FileProvider, SourceFile

CARRY = """
    h = torch.zeros(2, 3)
    for x in {batches}:
        h = torch.tanh(net(h))
        optimizer.zero_grad()
        h.sum().backward()
        optimizer.step()
"""

FAILING = {
    "a call": """
        def setting(name):
            return {}[name]

        def main():
            net = nn.Linear(3, 3)
            rate = setting("rate")
            optimizer = torch.optim.SGD(net.parameters(), lr=rate)
        """
    + textwrap.indent(CARRY.format(batches="range(5)"), " " * 8)
    + """
        main()
        """,
    "the making of an object": """
        class State:
            shared = {}

            def __init__(self):
                self.rate = self.shared["rate"]

        def main():
            state = State()
            net = nn.Linear(3, 3)
            optimizer = torch.optim.SGD(net.parameters(), lr=state.rate)
        """
    + textwrap.indent(CARRY.format(batches="range(5)"), " " * 8)
    + """
        main()
        """,
    "the loader's collation": """
        def collate(samples):
            if isinstance(samples[0], int):
                return samples
            raise TypeError("invalid type")

        def main(rows):
            net = nn.Linear(3, 3)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            loader = torch.utils.data.DataLoader([torch.zeros(3)] * 8, collate_fn=collate)
        """
    + textwrap.indent(CARRY.format(batches="loader"), " " * 8)
    + """
        main(1)
        """,
    "the making of what has the training method": """
        class Trainer:
            def __init__(self, settings):
                self.rate = {}["rate"]
                self.net = nn.Linear(3, 3)
                self.optimizer = torch.optim.SGD(self.net.parameters(), lr=self.rate)

            def train(self):
                net, optimizer = self.net, self.optimizer
        """
    + textwrap.indent(CARRY.format(batches="range(5)"), " " * 12)
    + """
        """,
    "a check of the settings": """
        known = {}
        net = nn.Linear(3, 3)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        if "net" not in known:
            raise ValueError("not registered")
        """
    + textwrap.indent(CARRY.format(batches="range(5)").replace("\n    ", "\n"), " " * 8),
}

DEAD = {
    "numpy() on what requires a gradient": """
        net = nn.Linear(3, 3)
        h = net(torch.zeros(2, 3))
        print(h.numpy())
        h.sum().backward()
        h.sum().backward()
        """,
}


def found(program: str) -> list:
    text = "import torch\nfrom torch import nn\n" + textwrap.dedent(program)
    result = check(SourceFile("seen.py", text), FileProvider(["."]))
    return [each for each in result.findings if each.severity != "information"]


@pytest.mark.parametrize("name", FAILING)
def test_the_carry_is_found_and_nothing_is_certain(name: str) -> None:
    seen = found(FAILING[name])
    assert [(each.code, each.certainty) for each in seen] == [("LG101", "possible")]


@pytest.mark.parametrize("name", DEAD)
def test_what_torch_raises_is_the_end(name: str) -> None:
    assert found(DEAD[name]) == []
