"""Cuts of a state that is a tuple, a list or a dict: element by element, by comprehensions and by mapping functions.

Each expression stands where the state of an LSTM is carried into the next iteration.
"""

from __future__ import annotations

import pytest

from .judge import judge

LSTM = """
import torch
from torch import nn
from torch.utils._pytree import tree_map, tree_map_only
N = 6
lstm = nn.LSTM(3, 4, batch_first=True)
optimizer = torch.optim.SGD(lstm.parameters(), lr=0.1)
state = (torch.zeros(1, 2, 4), torch.zeros(1, 2, 4))
for i in range(N):
    optimizer.zero_grad()
    out, state = lstm(torch.randn(2, 5, 3), state)
    out.square().mean().backward()
    optimizer.step()
    STATEMENT
"""

CUTS = {
    "tuple of two": "state = (state[0].detach(), state[1].detach())",
    "unpacked": "h, c = state; state = (h.detach(), c.detach())",
    "list comprehension": "state = [s.detach() for s in state]",
    "list comprehension with data": "state = [s.data for s in state]",
    "tuple of a generator": "state = tuple(s.detach() for s in state)",
    "tuple of a list": "state = tuple([s.data for s in state])",
    "map of a lambda": "state = tuple(map(lambda t: t.detach(), state))",
    "map of the unbound method": "state = tuple(map(torch.Tensor.detach, state))",
    "loop in place": "for s in state: s.detach_()",
    "detach_ by index": "state[0].detach_(); state[1].detach_()",
    "tree_map": "state = tree_map(lambda t: t.detach(), state)",
    "tree_map_only": "state = tree_map_only(torch.Tensor, lambda t: t.detach(), state)",
    "dict and back": "state = tuple({k: v.detach() for k, v in zip('hc', state)}.values())",
    "clone under detach": "state = tuple(s.detach().clone() for s in state)",
    "Variable of data": "state = tuple(torch.autograd.Variable(s.data) for s in state)",
    "data written": "state = tuple(torch.zeros_like(s).copy_(s.data) for s in state)",
    "zeros anew": "state = tuple(torch.zeros_like(s) for s in state)",
    "under no_grad": "with torch.no_grad(): state = tuple(s * 1.0 for s in state)",
    "numbers": "state = tuple(torch.tensor(s.tolist()) for s in state)",
    "new_zeros": "state = tuple(s.new_zeros(s.size()) for s in state)",
    "start again": "state = None",
}

KEEPS = {
    "the hidden state alone": "state = (state[0].detach(), state[1])",
    "the cell state alone": "state = (state[0], state[1].detach())",
    "clone": "state = tuple(s.clone() for s in state)",
    "to": "state = [s.to('cpu') for s in state]",
    "results dropped": "[s.detach() for s in state]",
    "map of a lambda": "state = tuple(map(lambda t: t.cpu(), state))",
    "tree_map": "state = tree_map(lambda t: t.contiguous(), state)",
    "tree_map_only of another type": "state = tree_map_only(float, lambda t: t * 2, state)",
    "a name of the loop": "for s in state: s = s.detach()",
}


@pytest.mark.parametrize("statement", CUTS.values(), ids=CUTS.keys())
def test_cut(statement: str) -> None:
    judge(LSTM.replace("STATEMENT", statement))


@pytest.mark.parametrize("statement", KEEPS.values(), ids=KEEPS.keys())
def test_kept(statement: str) -> None:
    """The carry is marked at the statement that stores last: the call of the LSTM, or the one that follows."""
    again = statement.startswith("state = ")
    text = LSTM.replace("STATEMENT", statement + ("  # error: LG101" if again else ""))
    if not again:
        text = text.replace("3), state)\n", "3), state)  # error: LG101\n")
    judge(text)


PROGRAMS = {
    "a dict of states, cut in a comprehension": """
        import torch
        N = 6
        cells = torch.nn.ModuleDict({"a": torch.nn.GRUCell(3, 3), "b": torch.nn.GRUCell(3, 3)})
        states = {name: torch.zeros(2, 3) for name in cells}
        for i in range(N):
            states = {name: cell(torch.randn(2, 3), states[name]) for name, cell in cells.items()}
            sum(s.square().mean() for s in states.values()).backward()
            states = {name: s.detach() for name, s in states.items()}
        """,
    "a dict of states, copied": """
        import torch
        N = 6
        cells = torch.nn.ModuleDict({"a": torch.nn.GRUCell(3, 3), "b": torch.nn.GRUCell(3, 3)})
        states = {name: torch.zeros(2, 3) for name in cells}
        for i in range(N):
            states = {name: cell(torch.randn(2, 3), states[name]) for name, cell in cells.items()}
            sum(s.square().mean() for s in states.values()).backward()
            states = {name: s.clone() for name, s in states.items()}  # error: LG101
        """,
    "a dict whose items are replaced one by one": """
        import torch
        N = 6
        cell = torch.nn.GRUCell(3, 3)
        states = {"h": torch.zeros(2, 3)}
        for i in range(N):
            states["h"] = cell(torch.randn(2, 3), states["h"])
            states["h"].square().mean().backward()
            for key in states:
                states[key] = states[key].detach()
        """,
    "losses in a list, as numbers": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 1)
        seen = []
        for i in range(N):
            losses = [net(torch.randn(2, 3)).square().mean() for _ in range(2)]
            sum(losses).backward()
            seen.append([x.item() for x in losses])
            seen.append(tuple(x.detach() for x in losses))
            seen.append({k: x.data for k, x in enumerate(losses)})
        """,
    "losses in a list, in a dict of tensors": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 1)
        seen = []
        for i in range(N):
            losses = [net(torch.randn(2, 3)).square().mean() for _ in range(2)]
            sum(losses).backward()
            seen.append({k: x for k, x in enumerate(losses)})  # warning: LG201
        """,
    "hidden state of one layer out of several, detached by index in place": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)
        hidden = [torch.zeros(2, 3), torch.zeros(2, 3)]
        for i in range(N):
            hidden[0] = torch.tanh(net(torch.randn(2, 3)) + hidden[0])
            hidden[1] = torch.tanh(net(hidden[0]) + hidden[1])
            hidden[1].mean().backward()
            hidden[0].detach_()
            hidden[1].detach_()
        """,
    "hidden state of one layer out of several, one forgotten": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)
        hidden = [torch.zeros(2, 3), torch.zeros(2, 3)]
        for i in range(N):
            hidden[0] = torch.tanh(net(torch.randn(2, 3)) + hidden[0])
            hidden[1] = torch.tanh(net(hidden[0]) + hidden[1])  # error: LG101
            hidden[1].mean().backward()
            hidden[0].detach_()
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    judge(PROGRAMS[name])
