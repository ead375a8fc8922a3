"""Grad mode and freezing: where a graph is recorded, and which parameters take part in it."""

from __future__ import annotations

import pytest

from .judge import judge, written

#: The carried value is made under a grad mode: right where nothing is recorded, LG101 where something is.
CARRIED = """
import contextlib
from contextlib import nullcontext
import torch
N = 6
net = torch.nn.Linear(3, 3)
state = torch.zeros(2, 3)
flag, off = True, False


@torch.no_grad()
def advance(x, h):
    return torch.tanh(net(x) + h)


def advance_with_graph(x, h):
    return torch.tanh(net(x) + h)


@torch.inference_mode()
def infer(x, h):
    return torch.tanh(net(x) + h)


@torch.set_grad_enabled(False)
def disabled(x, h):
    return torch.tanh(net(x) + h)


@torch.no_grad()
def enabled_inside(x, h):
    with torch.enable_grad():
        return torch.tanh(net(x) + h)


@contextlib.contextmanager
def evaluating():
    with torch.no_grad():
        yield


@evaluating()
def evaluated(x, h):
    return torch.tanh(net(x) + h)


for i in range(N):
    x = torch.randn(2, 3)
    (net(x) + state).square().mean().backward()
    STATEMENT
"""

CUTS = {
    "no_grad as a context": "with torch.no_grad(): state = torch.tanh(net(x) + state)",
    "no_grad as a decorator": "state = advance(x, state)",
    "inference_mode as a decorator": "state = infer(x, state).clone()",
    "set_grad_enabled as a decorator": "state = disabled(x, state)",
    "set_grad_enabled as a context": "with torch.set_grad_enabled(off): state = torch.tanh(net(x) + state)",
    "set_grad_enabled of an expression": "with torch.set_grad_enabled(not flag): state = torch.tanh(net(x) + state)",
    "no_grad if a flag": "with torch.no_grad() if flag else nullcontext(): state = torch.tanh(net(x) + state)",
    "no_grad in a generator context": "with evaluating(): state = torch.tanh(net(x) + state)",
    "a generator context as a decorator": "state = evaluated(x, state)",
    "no_grad around a module": "state = torch.no_grad()(net)(x + state)",
    "no_grad around a bound method": "state = torch.no_grad()(net.forward)(x + state)",
    "no_grad within enable_grad": "with torch.enable_grad(), torch.no_grad(): state = torch.tanh(net(x) + state)",
    "no_grad that wraps a function": "state = torch.no_grad()(advance_with_graph)(x, state)",
    "a mode held in a name": "mode = torch.no_grad()\n    with mode: state = torch.tanh(net(x) + state)",
    "set_grad_enabled as a statement": (
        "torch.set_grad_enabled(False)\n    state = torch.tanh(net(x) + state)\n    torch.set_grad_enabled(True)"
    ),
    "an exit stack": (
        "with contextlib.ExitStack() as stack:\n        stack.enter_context(torch.no_grad())\n"
        "        state = torch.tanh(net(x) + state)"
    ),
    "an exit stack that is closed": (
        "stack = contextlib.ExitStack()\n    stack.enter_context(torch.no_grad())\n"
        "    state = torch.tanh(net(x) + state)\n    stack.close()"
    ),
    "the functional way in and out": (
        "mode = torch.no_grad()\n    mode.__enter__()\n    state = torch.tanh(net(x) + state)\n"
        "    mode.__exit__(None, None, None)"
    ),
    "a value made under no_grad, stored outside": (
        "with torch.no_grad():\n        new = torch.tanh(net(x) + state)\n    state = new"
    ),
}

KEEPS = {
    "no mode at all": "state = torch.tanh(net(x) + state)",
    "enable_grad within no_grad": "state = enabled_inside(x, state)",
    "set_grad_enabled(True)": "with torch.set_grad_enabled(flag): state = torch.tanh(net(x) + state)",
    "no_grad if a flag that is off": "with torch.no_grad() if off else nullcontext(): state = torch.tanh(net(x) + state)",
    "eval is no grad mode": "net.eval(); state = torch.tanh(net(x) + state)",
    "a value made with a graph, stored under no_grad": (
        "new = torch.tanh(net(x) + state)\n    with torch.no_grad():\n        state = new"
    ),
    "no_grad over something else": "with torch.no_grad(): y = x * 2\n    state = torch.tanh(net(y) + state)",
    "an exit stack that is closed before": (
        "with contextlib.ExitStack() as stack:\n        stack.enter_context(torch.no_grad())\n"
        "    state = torch.tanh(net(x) + state)"
    ),
    "enable_grad around a module": "state = torch.enable_grad()(net)(x + state)",
    "a statement that switches off too late": (
        "state = torch.tanh(net(x) + state)\n    torch.set_grad_enabled(False)\n    torch.set_grad_enabled(True)"
    ),
}


@pytest.mark.parametrize("statement", CUTS.values(), ids=CUTS.keys())
def test_no_graph_is_recorded(statement: str) -> None:
    judge(CARRIED.replace("STATEMENT", statement))


@pytest.mark.parametrize("statement", KEEPS.values(), ids=KEEPS.keys())
def test_a_graph_is_recorded(statement: str) -> None:
    """The store of ``state`` is marked: the line that assigns it."""
    lines = CARRIED.replace("STATEMENT", statement).splitlines()
    last = max(n for n, line in enumerate(lines) if "state = " in line)
    lines[last] += "  # error: LG101"
    judge("\n".join(lines))


HEAD = """
import torch
N = 6
encoder = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 3))
head = torch.nn.Linear(3, 1)
x = torch.randn(2, 3)


"""

#: What is encoded once before the loop is right if it has no graph, and LG102 if it has one.
OUTSIDE = """
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
features = encoder(x)MARK
for i in range(N):
    optimizer.zero_grad()
    head(features).square().mean().backward()
    optimizer.step()
"""

FREEZES = {
    "requires_grad_(False) on the module": "encoder.requires_grad_(False)",
    "requires_grad of each parameter": "for p in encoder.parameters(): p.requires_grad = False",
    "requires_grad_ of each parameter": "for p in encoder.parameters(): p.requires_grad_(False)",
    "of each named parameter": "for name, p in encoder.named_parameters(): p.requires_grad = False",
    "of the layers one by one": "for layer in encoder: layer.requires_grad_(False)",
    "of the children": "for child in encoder.children():\n    for p in child.parameters(): p.requires_grad = False",
    "of the modules": "for m in encoder.modules():\n    m.requires_grad_(False)",
    "a flag that is false": "train_encoder = False\nencoder.requires_grad_(train_encoder)",
    "set_requires_grad": (
        "def set_requires_grad(nets, requires_grad=False):\n"
        "    if not isinstance(nets, list):\n        nets = [nets]\n"
        "    for net in nets:\n        if net is not None:\n"
        "            for param in net.parameters():\n                param.requires_grad = requires_grad\n"
        "set_requires_grad([encoder], False)"
    ),
    "requires_grad(model, flag)": (
        "def requires_grad(model, flag=True):\n    for p in model.parameters():\n        p.requires_grad = flag\n"
        "requires_grad(encoder, False)"
    ),
    "freeze": (
        "def freeze(model):\n    model.eval()\n    for p in model.parameters():\n        p.requires_grad_(False)\n"
        "    return model\nencoder = freeze(encoder)"
    ),
    "a method of its own": (
        "class Encoder(torch.nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.net = torch.nn.Linear(3, 3)\n"
        "    def freeze(self):\n        for p in self.parameters():\n            p.requires_grad = False\n"
        "    def forward(self, x):\n        return torch.tanh(self.net(x))\n"
        "encoder = Encoder()\nencoder.freeze()"
    ),
    "toggled by name": (
        "for name, p in encoder.named_parameters():\n    p.requires_grad = name.startswith('nothing')"
    ),
    "map": "list(map(lambda p: p.requires_grad_(False), encoder.parameters()))",
    "torch.no_grad around it": "encode = encoder\nencoder = torch.no_grad()(lambda x: encode(x))",
}

TRAINABLE = {
    "nothing is frozen": "pass",
    "eval alone": "encoder.eval()",
    "a part alone": "encoder[0].requires_grad_(False)",
    "frozen and freed again": "encoder.requires_grad_(False)\nencoder.requires_grad_(True)",
    "the attribute of the module, which torch does not know": "encoder.requires_grad = False",
    "a helper that is given True": (
        "def requires_grad(model, flag=True):\n    for p in model.parameters():\n        p.requires_grad = flag\n"
        "requires_grad(encoder, True)"
    ),
}


@pytest.mark.parametrize("statement", FREEZES.values(), ids=FREEZES.keys())
def test_frozen(statement: str) -> None:
    judge(HEAD + statement + OUTSIDE.replace("MARK", ""))


@pytest.mark.parametrize("statement", TRAINABLE.values(), ids=TRAINABLE.keys())
def test_not_frozen(statement: str) -> None:
    judge(HEAD + statement + OUTSIDE.replace("MARK", "  # error: LG102"))


PROGRAMS = {
    "frozen after the forward: the graph is there already": """
        import torch
        N = 6
        encoder = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh())
        head = torch.nn.Linear(3, 1)
        features = encoder(torch.randn(2, 3))  # error: LG102
        encoder.requires_grad_(False)
        for i in range(N):
            head(features).square().mean().backward()
        """,
    "toggle_optimizer and untoggle_optimizer of a GAN": """
        import torch
        N = 6
        G, D = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)
        opt_g = torch.optim.SGD(G.parameters(), lr=0.1)
        opt_d = torch.optim.SGD(D.parameters(), lr=0.1)

        def toggle(on, off):
            for p in off.parameters():
                p.requires_grad = False
            for p in on.parameters():
                p.requires_grad = True

        for i in range(N):
            toggle(G, D)
            opt_g.zero_grad()
            (-D(G(torch.randn(2, 3))).mean()).backward()
            opt_g.step()
            toggle(D, G)
            opt_d.zero_grad()
            (D(G(torch.randn(2, 3))).mean() - D(torch.randn(2, 3)).mean()).backward()
            opt_d.step()
        """,
    "everything is frozen, and a loss is asked for": """
        import torch
        net = torch.nn.Linear(3, 1)
        for p in net.parameters():
            p.requires_grad = False  # error: LG301
        loss = net(torch.randn(2, 3)).mean()
        loss.backward()
        """,
    "no_grad around the loss": """
        import torch
        net = torch.nn.Linear(3, 1)
        with torch.no_grad():  # error: LG301
            loss = net(torch.randn(2, 3)).mean()
        loss.backward()
        """,
    "an evaluation that stores under inference_mode": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 1)

        @torch.inference_mode()
        def evaluate():
            net.eval()
            outputs = []
            for i in range(N):
                outputs.append(net(torch.randn(2, 3)))
            return torch.cat(outputs)

        evaluate()
        """,
    "an evaluation that stores with a graph": """
        import torch
        N = 6
        net = torch.nn.Linear(3, 1)

        def evaluate():
            net.eval()
            outputs = []
            for i in range(N):
                outputs.append(net(torch.randn(2, 3)))  # warning: LG203
            return torch.cat(outputs)

        evaluate()
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    judge(written(PROGRAMS[name]))
