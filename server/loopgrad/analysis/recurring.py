"""Conditions on the data of each iteration: asked anew each time, so that no one decision stands for all."""

from __future__ import annotations

import ast
from typing import Any

from .decisions import Decision
from .lower.nodes import FILLS, walk

#: A condition that is asked anew so often is one on each iteration's data; of so many the other side is run.
ASKED = 3
MOST = 3


def other_sides(trace: list[Decision]) -> list[tuple[int, bool]]:
    """By its place, the side that each such condition did not take in a run, where the ``if`` keeps something."""
    keys: dict[int, set[Any]] = {}
    sides: dict[int, set[bool | None]] = {}
    for decision in trace:
        if decision.once or not decision.flip or decision.site is None:
            continue
        if keeps_something(decision.site.stmt):
            keys.setdefault(id(decision.site), set()).add(decision.key)
            sides.setdefault(id(decision.site), set()).add(decision.result)
    asked = [site for site, each in keys.items() if len(each) >= ASKED and sides[site] <= {True, False}]
    return [(site, not usual) for site in asked[:MOST] for usual in sorted(sides[site], key=bool)]


def keeps_something(statement: ast.AST) -> bool:
    """Whether an ``if`` fills a container or adds to something."""
    for node in walk(statement) if isinstance(statement, ast.If) else ():
        if (
            isinstance(node, ast.AugAssign)
            or isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store)
        ):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FILLS:
            return True
    return False
