"""Hand-written programs whose outcome in PyTorch is known: the test of the oracle itself.

Each stands for a fact that was measured by hand; `expected` is compared with what `observe` says.
"""

from __future__ import annotations

from dataclasses import dataclass

HEAD = """\
import torch
from torch import nn
torch.manual_seed(0)
N = 6
w = torch.randn(3, requires_grad=True)
u = nn.Parameter(torch.randn(3))
opt = torch.optim.SGD([w, u], lr=0.01)
"""
FLAGS = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--a", action="store_true")
flags = parser.parse_args()
"""


@dataclass(frozen=True)
class Sample:
    """A program and what PyTorch does with it; `line` counts in the body, after `HEAD`."""

    name: str
    body: str
    outcome: str
    line: int | None = None
    iteration: int | None = None
    silent: str | None = None
    head: str = HEAD

    @property
    def source(self) -> str:
        """The whole program."""
        return self.head + self.body

    @property
    def raising_line(self) -> int | None:
        """The line of the whole program that raises."""
        return None if self.line is None else self.line + self.head.count("\n")


def _loop(*lines: str, before: str = "", after: str = "") -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f"{before}for i in range(N):\n{body}{after}"


ZERO = "h = torch.zeros(3)\n"
STEP = ["opt.zero_grad()", "loss.backward()", "opt.step()"]
SAMPLES = [
    Sample(
        "carried", _loop("h = torch.tanh(h * w)", "h.sum().backward()", before=ZERO), "second-backward", 4, 2
    ),
    Sample(
        "carried and cut", _loop("h = torch.tanh(h.detach() * w)", "h.sum().backward()", before=ZERO), "clean"
    ),
    Sample(
        "carried, clone is no cut",
        _loop("h = (h.clone() * w)", "h.sum().backward()", before=ZERO),
        "second-backward",
        4,
        2,
    ),
    Sample(
        "carried additions", _loop("h = h + w", "h.sum().backward()", before=ZERO), "grows", silent="carried"
    ),
    Sample(
        "zero weight", _loop("h = w * u + 0 * h", "h.sum().backward()", before=ZERO), "second-backward", 4, 2
    ),
    Sample(
        "zeroed in place",
        _loop("h = h * w", "h.sum().backward()", "h.zero_()", before=ZERO),
        "second-backward",
        4,
        2,
    ),
    Sample(
        "zeros_like resets",
        _loop("h = h * w", "h.sum().backward()", "h = torch.zeros_like(h)", before=ZERO),
        "clean",
    ),
    Sample(
        "third iteration",
        _loop("if i > 1:", "    h = h * w", "    h.sum().backward()", before=ZERO),
        "second-backward",
        5,
        4,
    ),
    Sample(
        "outside",
        _loop("loss = (g + u).sum()", "loss.backward()", before="g = w * 2.0\n"),
        "second-backward",
        4,
        2,
    ),
    Sample(
        "outside view", _loop("(g * u).sum().backward()", before="g = w.view(-1)\n"), "clean", silent="views"
    ),
    Sample("outside view, stepped", _loop("loss = (g * u).sum()", *STEP, before="g = w.view(-1)\n"), "clean"),
    Sample(
        "one sum, a pass for each task",
        _loop("g = w + 1", "for task in range(2):", "    (g * u).sum().backward()", "opt.step()"),
        "clean",
        silent="shared",
    ),
    Sample(
        "outside sum, stale",
        _loop("loss = (g * u).sum()", *STEP, before="g = w + 1\n"),
        "clean",
        silent="carried",
    ),
    Sample("two losses", "h = w * w\nh.sum().backward()\n(h + 1).sum().backward()\n", "second-backward", 3),
    Sample(
        "two losses, one detached",
        "h = w * w\nh.sum().backward()\n(h.detach() * u).sum().backward()\n",
        "clean",
    ),
    Sample("one pass for two", "h = w * w\ntorch.autograd.backward([h.sum(), (h + 1).sum()])\n", "clean"),
    Sample(
        "retained first",
        "h = w * w\nh.sum().backward(retain_graph=True)\n(h + 1).sum().backward()\n",
        "clean",
    ),
    Sample(
        "create_graph frees",
        "l = (w * w).sum()\nl.backward(create_graph=True, retain_graph=False)\nl.backward()\n",
        "second-backward",
        3,
    ),
    Sample(
        "grad above, backward below",
        "h = w * w\nl = h.exp().sum()\ntorch.autograd.grad(l, [h])\nh.sum().backward()\n",
        "clean",
    ),
    Sample(
        "stepped under a kept graph",
        _loop(
            "v = w * torch.tanh(u)",
            "a = (v * u).sum()",
            "a.backward(retain_graph=True)",
            "opt.step()",
            "a.backward()",
        ),
        "inplace-version",
        6,
        1,
    ),
    Sample(
        "value changed", _loop("v = torch.exp(w)", "v.add_(1)", "v.sum().backward()"), "inplace-version", 4, 1
    ),
    Sample("value not saved", _loop("v = w + 1", "v.add_(1)", "v.sum().backward()"), "clean"),
    Sample(
        "no graph",
        _loop("loss = (w * u).sum().detach()", "if i == 3:", "    loss.backward()"),
        "no-grad-fn",
        4,
        4,
    ),
    Sample(
        "built under no_grad", "with torch.no_grad():\n    loss = w.sum()\nloss.backward()\n", "no-grad-fn", 3
    ),
    Sample("leaf", _loop("(w * u).sum().backward()", "w.sub_(0.1)"), "leaf-inplace", 3, 1),
    Sample(
        "leaf under no_grad",
        _loop("(w * u).sum().backward()", "with torch.no_grad():", "    w.sub_(0.1)"),
        "clean",
    ),
    Sample(
        "sum of losses",
        _loop("loss = (w * u).sum()", "total += loss", "loss.backward()", before="total = 0\n"),
        "grows",
    ),
    Sample(
        "sum consumed",
        _loop("total = total + (w * u).sum()", before="total = 0\n", after="total.backward()\n"),
        "clean",
    ),
    Sample(
        "sum of numbers", _loop("loss = (w * u).sum()", "total += loss.item()", before="total = 0\n"), "clean"
    ),
    Sample("list", _loop("kept.append((w * u).sum())", before="kept = []\n"), "grows"),
    Sample(
        "rare append",
        _loop("if i % 3 == 0:", "    kept.append((w * u).sum())", before="kept = []\n"),
        "grows",
    ),
    Sample("window", _loop("kept = [*kept, (w * u).sum()][-2:]", before="kept = []\n"), "clean"),
    Sample("previous value", _loop("last = (w * u).sum()"), "clean"),
    Sample(
        "list of finished losses",
        _loop("loss = (w * u).sum()", "loss.backward()", "kept.append(loss)", before="kept = []\n"),
        "grows",
    ),
    Sample(
        "caught",
        _loop("try:", "    w.detach().sum().backward()", "except RuntimeError:", "    pass"),
        "clean",
    ),
]
