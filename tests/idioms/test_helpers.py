"""Helpers are executed, not recognised by name: what they do decides, wherever they cut and whatever they are called."""

from __future__ import annotations

import pytest

from .judge import judge

HEAD = """
import torch
N = 6
lstm = torch.nn.LSTM(3, 4)
state = (torch.zeros(1, 2, 4), torch.zeros(1, 2, 4))
"""

LOOP = """
for i in range(N):
    out, state = lstm(torch.randn(5, 2, 3), state)
    out.square().mean().backward()
    state = HELPER  # MARK
"""

HELPERS = {
    "repackage_hidden": (
        "repackage_hidden(state)",
        """
        def repackage_hidden(h):
            if isinstance(h, torch.Tensor):
                return h.detach()
            else:
                return tuple(repackage_hidden(v) for v in h)
        """,
    ),
    "repackage_hidden of old, by type": (
        "repackage_hidden(state)",
        """
        def repackage_hidden(h):
            if type(h) == torch.Tensor:
                return torch.autograd.Variable(h.data)
            return tuple(repackage_hidden(v) for v in h)
        """,
    ),
    "a list of states": (
        "detach(state)",
        """
        def detach(states):
            return [state.detach() for state in states]
        """,
    ),
    "recursive_detach over any nesting": (
        "recursive_detach({'h': list(state)})['h']",
        """
        def recursive_detach(value):
            if isinstance(value, dict):
                return {k: recursive_detach(v) for k, v in value.items()}
            if isinstance(value, (list, tuple)):
                return type(value)(recursive_detach(v) for v in value)
            if torch.is_tensor(value):
                return value.detach()
            return value
        """,
    ),
    "an unbound method that is passed": (
        "apply_to_tensor(state, torch.Tensor.detach)",
        """
        def apply_to_tensor(value, fn):
            if torch.is_tensor(value):
                return fn(value)
            return tuple(apply_to_tensor(v, fn) for v in value)
        """,
    ),
    "apply_to_collection with a type and a lambda": (
        "apply_to_collection(state, torch.Tensor, lambda t: t.detach())",
        """
        def apply_to_collection(data, dtype, function, *args, **kwargs):
            if isinstance(data, dtype):
                return function(data, *args, **kwargs)
            if isinstance(data, (list, tuple)):
                return type(data)([apply_to_collection(d, dtype, function, *args, **kwargs) for d in data])
            return data
        """,
    ),
    "recursively_apply with a test": (
        "recursively_apply(lambda t: t.detach(), state, test=torch.is_tensor)",
        """
        def recursively_apply(func, data, *args, test=lambda x: True, **kwargs):
            if isinstance(data, (tuple, list)):
                return type(data)(recursively_apply(func, o, *args, test=test, **kwargs) for o in data)
            return func(data, *args, **kwargs) if test(data) else data
        """,
    ),
    "a static method of a class": (
        "State.cut(state)",
        """
        class State:
            @staticmethod
            def cut(pair):
                h, c = pair
                return h.detach(), c.detach()
        """,
    ),
    "a helper that cuts in place and returns nothing": (
        "cut(state) or state",
        """
        def cut(states):
            for s in states:
                s.detach_()
        """,
    ),
    "a decorated helper": (
        "cut(state)",
        """
        @torch.no_grad()
        def cut(states):
            return tuple(s + 0.0 for s in states)
        """,
    ),
    "a name that says nothing": (
        "f(state)",
        """
        f = lambda pair: tuple(x.data for x in pair)
        """,
    ),
    "a singledispatch of hidden states": (
        "cut(state)",
        """
        import functools

        @functools.singledispatch
        def cut(value):
            raise TypeError(value)

        @cut.register(torch.Tensor)
        def _(value):
            return value.detach()

        @cut.register(tuple)
        def _(value):
            return tuple(cut(v) for v in value)
        """,
    ),
}

LIARS = {
    "detach that only clones": (
        "detach(state)",
        """
        def detach(states):
            return tuple(s.clone() for s in states)
        """,
    ),
    "repackage_hidden that forgets to return the cut": (
        "repackage_hidden(state)",
        """
        def repackage_hidden(h):
            for v in h:
                v.detach()  # warning: LG402
            return h
        """,
    ),
    "repackage_hidden that cuts the first of two": (
        "repackage_hidden(state)",
        """
        def repackage_hidden(h):
            return h[0].detach(), h[1]
        """,
    ),
    "a mapping function that is given what keeps": (
        "apply_to_tensor(state, torch.Tensor.clone)",
        """
        def apply_to_tensor(value, fn):
            if torch.is_tensor(value):
                return fn(value)
            return tuple(apply_to_tensor(v, fn) for v in value)
        """,
    ),
    "a type that no state has": (
        "cut(state)",
        """
        def cut(h):
            if isinstance(h, torch.Tensor):
                return h.detach()
            return h
        """,
    ),
}


def program(call: str, helper: str, mark: str) -> str:
    import textwrap

    return HEAD + textwrap.dedent(helper) + LOOP.replace("HELPER", call).replace("# MARK", mark)


@pytest.mark.parametrize("name", HELPERS)
def test_a_helper_that_cuts(name: str) -> None:
    judge(program(*HELPERS[name], ""))


@pytest.mark.parametrize("name", LIARS)
def test_a_helper_that_keeps_whatever_its_name_says(name: str) -> None:
    judge(program(*LIARS[name], "# error: LG101"))


UTILS = """
import torch

def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.RESULT()
    return tuple(repackage_hidden(v) for v in h)
"""


@pytest.mark.parametrize(("method", "mark"), [("detach", ""), ("clone", "# error: LG101")])
def test_a_helper_in_a_module_beside(method: str, mark: str) -> None:
    text = HEAD.replace("import torch\n", "import torch\nfrom utils import repackage_hidden\n")
    judge(
        text + LOOP.replace("HELPER", "repackage_hidden(state)").replace("# MARK", mark),
        {"utils.py": UTILS.replace("RESULT", method)},
    )


PROGRAMS = {
    "reduce_tensor returns its own input where there is one process": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 1)
        world_size = 1

        def reduce_tensor(tensor, world_size):
            if world_size == 1:
                return tensor
            rt = tensor.clone()
            rt /= world_size
            return rt

        total = 0.0
        for i in range(N):
            loss = net(torch.randn(2, 3)).square().mean()
            loss.backward()
            total += reduce_tensor(loss, world_size)  # warning: LG201
        """,
    "reduce_tensor of what was cut": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 1)

        def reduce_tensor(tensor, world_size):
            if world_size == 1:
                return tensor
            rt = tensor.clone()
            rt /= world_size
            return rt

        total = 0.0
        for i in range(N):
            loss = net(torch.randn(2, 3)).square().mean()
            loss.backward()
            total += reduce_tensor(loss.data, 1)
        """,
    "a meter that is given numbers": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 1)

        class AverageMeter:
            def __init__(self):
                self.reset()

            def reset(self):
                self.val = self.avg = self.sum = self.count = 0

            def update(self, val, n=1):
                self.val = val
                self.sum += val * n
                self.count += n
                self.avg = self.sum / self.count

        losses = AverageMeter()
        for i in range(N):
            loss = net(torch.randn(2, 3)).square().mean()
            loss.backward()
            losses.update(loss.item(), 2)
        """,
    "a meter that is given tensors": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 1)

        class AverageMeter:
            def __init__(self):
                self.reset()

            def reset(self):
                self.val = self.avg = self.sum = self.count = 0

            def update(self, val, n=1):
                self.val = val
                self.sum += val * n  # warning: LG201
                self.count += n
                self.avg = self.sum / self.count

        losses = AverageMeter()
        for i in range(N):
            loss = net(torch.randn(2, 3)).square().mean()
            loss.backward()
            losses.update(loss, 2)
        """,
    "a meter that cuts for itself": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 1)

        class Meter:
            sum = 0.0

            def update(self, value):
                if torch.is_tensor(value):
                    value = value.detach().item()
                self.sum += value

        meter = Meter()
        for i in range(N):
            loss = net(torch.randn(2, 3)).square().mean()
            loss.backward()
            meter.update(loss)
        """,
    "a meter that is reset in each round of the outer loop, by clear": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 1)

        class Log:
            def __init__(self):
                self.rows = []

            def add(self, row):
                self.rows.append(row)

            def flush(self):
                del self.rows[:]

        log = Log()
        for i in range(N):
            for j in range(2):
                loss = net(torch.randn(2, 3)).square().mean()
                loss.backward()
                log.add(loss)
            log.flush()
        """,
    "the callee cuts one element of what it returns": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)

        def step(x, h):
            out = torch.tanh(net(x) + h)
            return out.square().mean(), out.detach()

        h = torch.zeros(2, 3)
        for i in range(N):
            loss, h = step(torch.randn(2, 3), h)
            loss.backward()
        """,
    "the callee cuts the other element of what it returns": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 3)

        def step(x, h):
            out = torch.tanh(net(x) + h)
            return out.square().mean(), out, out.detach()

        h = torch.zeros(2, 3)
        for i in range(N):
            loss, h, free = step(torch.randn(2, 3), h)  # error: LG101
            loss.backward()
        """,
    "a module with a detach of its own, as a statement": """
        import torch
        N = 6

        class Memory(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.cell = torch.nn.GRUCell(3, 3)
                self.state = torch.zeros(2, 3)

            def forward(self, x):
                self.state = self.cell(x, self.state)
                return self.state

            def detach(self):
                self.state = self.state.detach()

        memory = Memory()
        for i in range(N):
            memory(torch.randn(2, 3)).square().mean().backward()
            memory.detach()
        """,
    "a module whose state nobody cuts": """
        import torch
        N = 6

        class Memory(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.cell = torch.nn.GRUCell(3, 3)
                self.state = torch.zeros(2, 3)

            def forward(self, x):
                self.state = self.cell(x, self.state)  # error: LG101
                return self.state

        memory = Memory()
        for i in range(N):
            memory(torch.randn(2, 3)).square().mean().backward()
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    judge(PROGRAMS[name])
