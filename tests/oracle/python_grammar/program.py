"""A whole program of plain Python."""

from __future__ import annotations

import random

from ..grammar.tree import Compound, Node, Program, render
from .definitions import definition
from .statements import statement
from .values import Scope

HEAD: list[Node] = [
    "from contextlib import contextmanager",
    "from functools import reduce",
    Compound("class Custom(Exception):", [Compound("def __init__(self, code):", ["self.code = code"])]),
]


def generate(seed: int, index: int) -> Program:
    """Program number `index` of a seed; the same every time."""
    s = Scope(random.Random(f"python:{seed}:{index}"))
    nodes: list[Node] = list(HEAD)
    for kind, value in (
        ("int", "3"),
        ("int", "7"),
        ("str", "'tape'"),
        ("list", "[4, 1, 3]"),
        ("dict", "{'a': 1, 'b': 2}"),
    ):
        name = s.fresh(kind[0])
        s.names[kind].append(name)
        nodes.append(f"{name} = {value}")
    for _ in range(s.rng.randint(4, 12)):
        nodes += definition(s) if s.chance(0.35) else statement(s, 2)
    for kind, names in s.names.items():
        if names:
            nodes.append(f"print('{kind}', {', '.join(dict.fromkeys(names))})")
    return Program(render(nodes), "python", s.constructs)
