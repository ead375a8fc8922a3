"""Putting a program together: parameters, a theme's plan, loops around it and a style."""

from __future__ import annotations

import ast
import random

from . import modules, noise, themes
from .builder import STYLES, Builder
from .plan import Plan
from .training import optimizer
from .tree import Compound, Node, Program, lines, names, render

HEAD: list[Node] = ["import torch", "import torch.nn.functional as F", "from torch import nn"]
STYLE_WEIGHTS = [5.0, 3.0, 1.0, 1.0, 1.7]


def generate(seed: int, index: int) -> Program:
    """Program number `index` of a seed; the same every time."""
    for attempt in range(20):
        rng = random.Random(f"{seed}:{index}:{attempt}")
        program = _build(rng)
        try:
            compile(program.source, "<program>", "exec")
        except SyntaxError:
            continue
        return program
    raise RuntimeError(f"no program for {seed}:{index}")


def _build(rng: random.Random) -> Program:
    style = rng.choices(STYLES, STYLE_WEIGHTS)[0]
    b = Builder(rng, style)
    b.note(f"style {style}")
    whole = style in ("script", "function")
    loop = b.weighted(
        {"range": 5, "data": 2.5, "enumerate": 2.5, "zip": 1.2, "while": 1.2, "true": 0.5, "index": 1}
        | {"loader": 0.8, "batches": 0.8}
    )
    if not whole:
        loop = b.pick(["range", "enumerate"])
    b.counter = None if loop in ("data", "zip", "loader", "batches") else "i"
    if loop == "zip":
        b.data_atoms.append("target")
    modules.parameters(b)
    optimizer_first = b.chance(0.8)
    if optimizer_first:
        optimizer(b)
    theme, plan = themes.choose(b)
    if not optimizer_first:
        optimizer(b)
    elif b.recurrent and b.optimizers and b.chance(0.7):
        b.decl.append(f"{b.optimizers[0]}.add_param_group({{'params': {b.recurrent[0]}.parameters()}})")
        b.note("add_param_group")
    body = plan.body
    noise.sprinkle(b, body)
    for _ in range(b.pick([0, 0, 0, 1, 1, 2])):
        body = noise.wrap(b, body)
    if b.chance(0.14):
        body = noise.leave(b, body, whole)
    run = _loops(b, loop, body, plan, whole)
    return Program(_assemble(b, run), theme, b.constructs)


def _loops(b: Builder, loop: str, body: list[Node], plan: Plan, whole: bool) -> list[Node]:
    """The main loop and, often, an epoch loop around it."""
    b.note(f"loop {loop}")
    if not whole:
        body = _step_function(b, body)
    declared_data = (b.chance(0.6) and loop not in ("loader", "batches")) or loop in (
        "data",
        "zip",
        "enumerate",
        "index",
    )
    if declared_data:
        b.top.append("data = [torch.randn(3) for _ in range(N)]")
    fetch = "x = data[i]" if declared_data else "x = torch.randn(3)"
    tail: list[tuple[str, list[Node]]] = []
    if b.chance(0.06):
        tail = [("else:", ["finished = True"])]
        b.note("loop else")
    main: list[Node]
    if loop == "range":
        main = [Compound("for i in range(N):", [fetch, *body], tail)]
    elif loop == "data":
        main = [Compound("for x in data:", body, tail)]
    elif loop == "enumerate":
        main = [Compound("for i, x in enumerate(data):", body, tail)]
    elif loop == "zip":
        b.top.append("targets = [torch.randn(3) for _ in range(N)]")
        main = [Compound("for x, target in zip(data, targets):", body, tail)]
    elif loop == "loader":
        b.top.append("loader = torch.utils.data.DataLoader(torch.randn(N, 3), batch_size=None)")
        main = [Compound("for x in loader:", body, tail)]
    elif loop == "batches":
        b.top.append(
            Compound("def batches(count):", [Compound("for _ in range(count):", ["yield torch.randn(3)"])])
        )
        main = [Compound("for x in batches(N):", body, tail)]
    elif loop == "index":
        main = ["i = -1", Compound("for x in iter(data):", ["i += 1", *body], tail)]
    elif loop == "while":
        main = ["i = -1", Compound("while i < N - 1:", ["i += 1", fetch, *body], tail)]
    else:
        main = [
            "i = -1",
            Compound("while True:", ["i += 1", Compound("if i == N:", ["break"]), fetch, *body]),
        ]
    start, end = ([_free_of_x(node) for node in nodes] for nodes in (plan.epoch_start, plan.epoch_end))
    if not (b.chance(0.6) if start or end else b.chance(0.2)):
        return [*start, *main, *end]
    b.note("nested loops")
    count = b.pick(["2", "2", "N"])
    outer: list[Node] = [Compound(f"for epoch in range({count}):", [*start, *main, *end])]
    if b.chance(0.12):
        b.note("three loops")
        outer = [Compound("for trial in range(2):", outer)]
    return outer


def _step_function(b: Builder, body: list[Node]) -> list[Node]:
    """Move the body into a step function or method and return the call of it."""
    b.note("step function")
    if b.style == "trainer":
        b.decl.append(Compound("def step(self, i, x):", body))
        return ["self.step(i, x)"]
    outer = sorted(names(body, ast.Store) & b.declared)
    word = "global" if b.style == "step-global" else "nonlocal"
    b.decl.append(Compound("def step(i, x):", [*([f"{word} {', '.join(outer)}"] if outer else []), *body]))
    return ["step(i, x)"]


def _assemble(b: Builder, run: list[Node]) -> str:
    """The whole source in the builder's style."""
    head: list[Node] = list(HEAD)
    if b.flags:
        head.insert(0, "import argparse")
        head.append("parser = argparse.ArgumentParser()")
        head += [f'parser.add_argument("--{flag}", action="store_true")' for flag in b.flags]
        head.append("flags = parser.parse_args()")
    head += ["torch.manual_seed(0)", "N = 6", *b.top]
    x_free: list[Node] = [_free_of_x(node) for node in b.decl]
    if b.style == "trainer":
        step = [
            node for node in x_free if isinstance(node, Compound) and node.header.startswith("def step(self")
        ]
        init = [node for node in x_free if node not in step]
        methods: list[Node] = [Compound("def __init__(self):", init), *step, Compound("def run(self):", run)]
        return render([*head, Compound("class Trainer:", methods), "Trainer().run()"])
    if b.style in ("function", "step-nonlocal"):
        return render([*head, Compound("def train():", [*x_free, *run, *b.after]), "train()"])
    return render([*head, *x_free, *run, *b.after])


def _free_of_x(node: Node) -> Node:
    """A declaration may not use the loop's element: give it a constant instead."""
    if isinstance(node, Compound) and node.header.startswith("def "):
        return node
    text = "\n".join(lines([node]))
    tree = ast.parse(text)
    for name in ast.walk(tree):
        if isinstance(name, ast.Name) and name.id in ("x", "target"):
            name.id = "torch.ones(3)"
    return ast.unparse(tree)
