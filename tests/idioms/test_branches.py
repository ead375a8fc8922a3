"""Correlated branches: what is assigned under a condition and read under the same one is no carried value.

The commonest look-alike of a carry in public code: half of all loops that seem to carry a raw tensor are of this
kind. PyTorch runs each program with the conditions as they are written here; the analysis may not know them.
"""

from __future__ import annotations

import pytest

from .judge import judge

#: An argument parser whose values the analysis takes for unknown: every side has to be right.
HEAD = """
import argparse
import os
import random
import torch
random.seed(1)
parser = argparse.ArgumentParser()
parser.add_argument("--extra", type=int, default=1)
parser.add_argument("--mode", default="a")
args = parser.parse_args([])
config = {"extra": args.extra, "use": os.environ.get("USE", "yes") == "yes"}
N = 6
net = torch.nn.Linear(3, 3)
other = torch.nn.Linear(3, 3)
state = torch.zeros(2, 3)
"""

RIGHT = {
    "assigned and read under one flag": """
        for i in range(N):
            if args.extra:
                extra = other(torch.randn(2, 3)).square().mean()
            loss = net(torch.randn(2, 3)).square().mean()
            if args.extra:
                loss = loss + extra
            loss.backward()
        """,
    "assigned and read under one comparison": """
        for i in range(N):
            if args.mode == "a":
                extra = other(torch.randn(2, 3)).square().mean()
            loss = net(torch.randn(2, 3)).square().mean()
            if args.mode == "a":
                loss = loss + extra
            loss.backward()
        """,
    "read under a stronger condition": """
        for i in range(N):
            if args.extra:
                extra = other(torch.randn(2, 3)).square().mean()
            loss = net(torch.randn(2, 3)).square().mean()
            if args.extra and i % 2 == 0:
                loss = loss + extra
            loss.backward()
        """,
    "an item of a configuration": """
        for i in range(N):
            if config["use"]:
                extra = other(torch.randn(2, 3)).square().mean()
            loss = net(torch.randn(2, 3)).square().mean()
            if config["use"]:
                loss = loss + extra
            loss.backward()
        """,
    "a condition that changes in each iteration, kept in a name": """
        for i in range(N):
            use = random.random() < 0.5
            if use:
                extra = other(torch.randn(2, 3)).square().mean()
            loss = net(torch.randn(2, 3)).square().mean()
            if use:
                loss = loss + extra
            loss.backward()
        """,
    "a counter": """
        for i in range(N):
            if i % 2 == 0:
                extra = other(torch.randn(2, 3)).square().mean()
            loss = net(torch.randn(2, 3)).square().mean()
            if i % 2 == 0:
                loss = loss + extra
            loss.backward()
        """,
    "not, and else": """
        for i in range(N):
            if not args.extra:
                extra = None
            else:
                extra = other(torch.randn(2, 3)).square().mean()
            loss = net(torch.randn(2, 3)).square().mean()
            if args.extra:
                loss = loss + extra
            loss.backward()
        """,
    "is not None": """
        aux = other if args.extra else None
        for i in range(N):
            if aux is not None:
                extra = aux(torch.randn(2, 3)).square().mean()
            loss = net(torch.randn(2, 3)).square().mean()
            if aux is not None:
                loss = loss + extra
            loss.backward()
        """,
    "an attribute of self": """
        class Trainer:
            def __init__(self, use):
                self.use = use

            def fit(self):
                for i in range(N):
                    if self.use:
                        extra = other(torch.randn(2, 3)).square().mean()
                    loss = net(torch.randn(2, 3)).square().mean()
                    if self.use:
                        loss = loss + extra
                    loss.backward()

        Trainer(args.extra).fit()
        """,
    "training mode": """
        for i in range(N):
            if net.training:
                extra = other(torch.randn(2, 3)).square().mean()
            loss = net(torch.randn(2, 3)).square().mean()
            if net.training:
                loss = loss + extra
            loss.backward()
        """,
    "a chain of elif": """
        for i in range(N):
            if args.mode == "a":
                extra = other(torch.randn(2, 3)).square().mean()
            elif args.mode == "b":
                extra = other(torch.randn(2, 3)).abs().mean()
            loss = net(torch.randn(2, 3)).square().mean()
            if args.mode in ("a", "b"):
                loss = loss + extra
            loss.backward()
        """,
    "cut on one branch, made anew on the other": """
        for i in range(N):
            if args.extra:
                state = state.detach()
            else:
                state = torch.zeros(2, 3)
            state = torch.tanh(net(torch.randn(2, 3)) + state)
            state.square().mean().backward()
        """,
    "if hidden is None, else detach": """
        hidden = None
        for i in range(N):
            if hidden is None:
                hidden = torch.zeros(2, 3)
            else:
                hidden = hidden.detach()
            hidden = torch.tanh(net(torch.randn(2, 3)) + hidden)
            hidden.square().mean().backward()
        """,
    "a conditional expression": """
        hidden = None
        for i in range(N):
            hidden = torch.zeros(2, 3) if hidden is None else hidden.detach()
            hidden = torch.tanh(net(torch.randn(2, 3)) + hidden)
            hidden.square().mean().backward()
        """,
    "read later only through item": """
        best = None
        for i in range(N):
            loss = net(torch.randn(2, 3)).square().mean()
            if best is None or loss.item() < best.item() + 100:
                best = loss
            loss.backward()
        """,
    "a module rebound by to": """
        for i in range(N):
            net = net.to("cpu").train()
            net(torch.randn(2, 3)).square().mean().backward()
        """,
    "input data without a graph": """
        previous = torch.randn(2, 3)
        for i in range(N):
            batch = torch.randn(2, 3)
            net(batch + previous).square().mean().backward()
            previous = batch
        """,
    "numbers and metadata": """
        width, best = 0, float("inf")
        for i in range(N):
            loss = net(torch.randn(2, 3) + width).square().mean() * min(best, 1.0)
            loss.backward()
            width, best = loss.dim(), min(best, loss.item())
        """,
}

FOUND = {
    "the same flag, but assigned once": """
        for i in range(N):
            if i == 0:
                extra = other(torch.randn(2, 3)).square().mean()  # error: LG101
            loss = net(torch.randn(2, 3)).square().mean()
            (loss + extra).backward()
        """,
    "assigned under a counter, read in every iteration": """
        for i in range(N):
            if i % 2 == 0:
                extra = other(torch.randn(2, 3)).square().mean()  # error: LG101
            loss = net(torch.randn(2, 3)).square().mean()
            (loss + extra).backward()
        """,
    "cut under a flag that may be off": """
        for i in range(N):
            if args.extra > 1:
                state = state.detach()
            state = torch.tanh(net(torch.randn(2, 3)) + state)  # warning: LG101
            state.square().mean().backward()
        """,
    "if hidden is None, but no else": """
        hidden = None
        for i in range(N):
            if hidden is None:
                hidden = torch.zeros(2, 3)
            hidden = torch.tanh(net(torch.randn(2, 3)) + hidden)  # error: LG101
            hidden.square().mean().backward()
        """,
    "the best loss, kept whole and used again": """
        best = None
        for i in range(N):
            loss = net(torch.randn(2, 3)).square().mean()
            if best is not None:
                loss = loss + 0.1 * best
            loss.backward()
            best = loss  # error: LG101
        """,
    "cut every third iteration": """
        for i in range(N):
            state = torch.tanh(net(torch.randn(2, 3)) + state)  # error: LG101
            state.square().mean().backward()
            if i % 3 == 2:
                state = state.detach()
        """,
}


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    judge(program(RIGHT[name]))


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str) -> None:
    judge(program(FOUND[name]))


def program(body: str) -> str:
    from .judge import written

    return HEAD + written(body)
