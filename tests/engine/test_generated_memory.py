"""Generated programs on which the analysis and PyTorch disagreed: what is written to memory that a graph needs.

Each is cut down to what mattered and run under PyTorch with every assignment of its conditions; the analysis has to
agree with all of these runs (``tests/oracle`` says how). Named after what they taught.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.engine.told import EVERY, every_run_is_told
from tests.oracle.judge import judge

PROGRAMS: dict[str, tuple[list[str], str]] = {
    "the gradient of a leaf that no name holds any more goes on growing with create_graph": (
        ["grows"] * EVERY,
        """
        loss = (w ** 3).sum()
        for i in range(N):
            loss.backward(create_graph=True)
            with torch.no_grad():
                w = w - 0.1
        """,
    ),
    "the gradient of a leaf that is made anew each time goes with it": (
        ["clean"] * EVERY,
        """
        for i in range(N):
            fast = u.detach().requires_grad_()
            loss = (fast ** 3).sum()
            (step,) = torch.autograd.grad(loss, [fast], create_graph=True)
            loss = (step * fast).sum()
        """,
    ),
    "LBFGS moves what has no gradient too": (
        ["inplace-version"] * EVERY,
        """
        x = torch.randn(3)
        net = nn.Linear(3, 3)
        solver = torch.optim.LBFGS([x, w])
        loss = net(x).sum()
        def closure():
            solver.zero_grad()
            out = (w * 2).sum()
            out.backward()
            return out
        solver.step(closure)
        loss.backward()
        """,
    ),
    "LBFGS without a gradient moves nothing": (
        ["clean"] * EVERY,
        """
        x = torch.randn(3)
        net = nn.Linear(3, 3)
        solver = torch.optim.LBFGS([x, w])
        loss = net(x).sum()
        def closure():
            solver.zero_grad()
            out = (u * 2).sum()
            out.backward()
            return out
        solver.step(closure)
        loss.backward()
        """,
    ),
    "LBFGS of one iteration asks once": (
        ["clean"] * EVERY,
        """
        solver = torch.optim.LBFGS([w], max_iter=1)
        loss = (w * u).sum()
        def closure():
            loss.backward()
            return loss
        solver.step(closure)
        """,
    ),
    "a line search asks again": (
        ["second-backward"] * EVERY,
        """
        solver = torch.optim.LBFGS([w], max_iter=1, line_search_fn="strong_wolfe")
        loss = (w * u).sum()
        def closure():
            loss.backward()
            return loss
        solver.step(closure)
        """,
    ),
    "a copy under a condition is another memory": (
        ["inplace-version", "inplace-version", "clean", "clean"],
        """
        queue = torch.zeros(3)
        for i in range(N):
            loss = (w * queue).sum()
            if args.a:
                queue = queue.clone()
            queue[0] = 1.0
            loss.backward()
        """,
    ),
    "an alias under a condition is the same memory": (
        ["clean", "clean", "inplace-version", "inplace-version"],
        """
        x = torch.ones(3)
        other = torch.ones(3)
        if args.a:
            other = x
        loss = (w * x).sum()
        other.add_(1.0)
        loss.backward()
        """,
    ),
    "a mean by a number saves nothing": (
        ["grows"] * EVERY,
        """
        average = torch.zeros(3)
        for i in range(N):
            average = torch.lerp(average, u + 1.0, 0.1)
            average.sum().backward()
        """,
    ),
    "a mean in place by a number saves nothing": (
        ["grows"] * EVERY,
        """
        average = torch.zeros(3)
        for i in range(N):
            average.lerp_(u + 1.0, weight=0.1)
            average.sum().backward()
        """,
    ),
    "a mean by a tensor saves it": (
        ["second-backward"] * EVERY,
        """
        average = torch.zeros(3)
        for i in range(N):
            average.lerp_(end=u + 1.0, weight=torch.tensor(0.1))
            average.sum().backward()
        """,
    ),
    "a source that an operation in place along a dimension is given by its name": (
        ["second-backward"] * EVERY,
        """
        sums = torch.zeros(3)
        for i in range(N):
            sums.scatter_add_(dim=0, index=torch.tensor([0, 1, 2]), src=u * w)
            sums.sum().backward()
        """,
    ),
    "a tensor that an operation in place is given by its name": (
        ["second-backward"] * EVERY,
        """
        sums = torch.zeros(3)
        for i in range(N):
            sums.add_(other=u * w)
            sums.sum().backward()
        """,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_run_is_told(name: str) -> None:
    every_run_is_told(*PROGRAMS[name])


#: How many elements are there before the first backward runs over one of them.
@pytest.mark.parametrize("several", [1, 2])
@pytest.mark.parametrize("memory", ["[]", "deque(maxlen=4)"])
def test_chance_draws_what_was_walked_before_or_what_has_changed_since(several: int, memory: str) -> None:
    verdict = judge(f"""
import random
import torch
from collections import deque
from torch import nn
N = 6
net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
memory = {memory}
for i in range(N):
    memory.append(net(torch.randn(4, 3)))
    loss = random.choice(memory).mean()
    if len(memory) > {several}:
        loss.backward()
        optimizer.step()
""")
    assert {run["outcome"] for run in verdict["runs"]} >= {"inplace-version", "second-backward"}
    assert verdict["disagreements"] == []
