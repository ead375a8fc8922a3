"""Containers of one's own: model outputs, subclasses of Python's containers, named tuples."""

from __future__ import annotations

import pytest

from .judge import judge

PROGRAMS = {
    "outputs with a loss, by attribute and by key": """
        from dataclasses import dataclass
        from typing import Optional
        import torch
        N = 6

        @dataclass
        class ModelOutput:
            loss: Optional[torch.Tensor] = None
            logits: Optional[torch.Tensor] = None

            def __getitem__(self, key):
                return getattr(self, key)

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.net = torch.nn.Linear(3, 3)

            def forward(self, x, labels=None):
                logits = self.net(x)
                return ModelOutput(loss=logits.square().mean(), logits=logits)

        model = Model()
        total, seen = 0.0, []
        for i in range(N):
            outputs = model(torch.randn(2, 3), labels=1)
            outputs.loss.backward()
            total += outputs["loss"].item()
            seen.append(outputs.logits.detach())
        """,
    "outputs that are kept whole": """
        from collections import namedtuple
        import torch
        N = 6
        Output = namedtuple("Output", "loss logits")
        net = torch.nn.Linear(3, 3)
        seen = []
        for i in range(N):
            logits = net(torch.randn(2, 3))
            outputs = Output(logits.square().mean(), logits)
            outputs.loss.backward()
            seen.append(outputs)  # warning: LG201
        """,
    "an OrderedDict of outputs": """
        from collections import OrderedDict
        import torch
        N = 6

        class Output(OrderedDict):
            def __getattr__(self, name):
                return self[name]

        net = torch.nn.Linear(3, 3)
        total = 0.0
        for i in range(N):
            outputs = Output(loss=net(torch.randn(2, 3)).square().mean())
            outputs.loss.backward()
            total += outputs.loss.item()
        """,
    "an OrderedDict of outputs that are kept": """
        from collections import OrderedDict
        import torch
        N = 6

        class Output(OrderedDict):
            def __getattr__(self, name):
                return self[name]

        net = torch.nn.Linear(3, 3)
        seen = []
        for i in range(N):
            outputs = Output(loss=net(torch.randn(2, 3)).square().mean())
            outputs.loss.backward()
            seen.append(outputs)  # warning: LG201
        """,
    "a defaultdict and a deque of one's own": """
        from collections import defaultdict, deque
        import torch
        N = 6

        class Meters(defaultdict):
            def update_all(self, **values):
                for name, value in values.items():
                    self[name] += value

        class Window(deque):
            def mean(self):
                return sum(self) / len(self)

        meters, window = Meters(float), Window(maxlen=3)
        net = torch.nn.Linear(3, 1)
        for i in range(N):
            loss = net(torch.randn(2, 3)).square().mean()
            loss.backward()
            meters.update_all(loss=loss.item())
            window.append(loss)
        """,
    "a defaultdict of one's own that is given tensors": """
        from collections import defaultdict
        import torch
        N = 6

        class Meters(defaultdict):
            def update_all(self, **values):
                for name, value in values.items():
                    self[name] += value  # warning: LG201

        meters = Meters(float)
        net = torch.nn.Linear(3, 1)
        for i in range(N):
            loss = net(torch.randn(2, 3)).square().mean()
            loss.backward()
            meters.update_all(loss=loss)
        """,
    "states that are named tuples, replaced field by field": """
        from typing import NamedTuple
        import torch
        N = 6

        class State(NamedTuple):
            v: torch.Tensor
            i: torch.Tensor

        net = torch.nn.Linear(3, 3)

        def step(x, state):
            i = 0.8 * state.i + net(x)
            v = torch.sigmoid(state.v + i)
            return v, State(v, i)

        state = State(torch.zeros(2, 3), torch.zeros(2, 3))
        for n in range(N):
            out, state = step(torch.randn(2, 3), state)
            out.mean().backward()
            state = state._replace(v=state.v.detach(), i=state.i.detach())
        """,
    "states that are named tuples, made anew from their parts": """
        from typing import NamedTuple
        import torch
        N = 6

        class State(NamedTuple):
            v: torch.Tensor
            i: torch.Tensor

        net = torch.nn.Linear(3, 3)
        state = State(torch.zeros(2, 3), torch.zeros(2, 3))
        for n in range(N):
            i = 0.8 * state.i + net(torch.randn(2, 3))
            v = torch.sigmoid(state.v + i)
            v.mean().backward()
            state = State(v, i)
            state = type(state)(*[part.detach() for part in state])
        """,
    "states that are named tuples, one field forgotten": """
        from typing import NamedTuple
        import torch
        N = 6

        class State(NamedTuple):
            v: torch.Tensor
            i: torch.Tensor

        net = torch.nn.Linear(3, 3)
        state = State(torch.zeros(2, 3), torch.zeros(2, 3))
        for n in range(N):
            i = torch.tanh(0.8 * state.i + net(torch.randn(2, 3)))
            v = torch.sigmoid(state.v + i)
            v.mean().backward()
            state = State(v.detach(), i)  # error: LG101
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    judge(PROGRAMS[name])
