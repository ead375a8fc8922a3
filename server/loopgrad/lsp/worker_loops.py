"""The loops that train, read from the syntax: a "Confirm on device" stands above each, with or without a finding."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

_BACKWARD = frozenset({"backward", "manual_backward"})


@dataclass
class _Body:
    """A loop, a function outside of its loops, or the module: what it names, and whether it runs a backward."""

    line: int
    function: str
    backward: bool = False
    names: set[str] = field(default_factory=set)


def training_loops(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, name of the function around it) of the innermost loops that run a backward.

    A step function that runs one trains in the loops that name it: that call it, or pass it on as a closure.
    """
    loops: list[_Body] = []
    functions: list[_Body] = []
    todo: list[tuple[ast.AST, _Body | None, str]] = [(tree, None, "")]
    while todo:
        node, body, function = todo.pop()
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            body = _Body(node.lineno, function)
            loops.append(body)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = node.name
            body = _Body(node.lineno, function)
            functions.append(body)
        elif body is not None and isinstance(node, ast.Name):
            body.names.add(node.id)
        elif body is not None and isinstance(node, ast.Attribute):
            body.names.add(node.attr)
            body.backward = body.backward or node.attr in _BACKWARD
        todo.extend((child, body, function) for child in ast.iter_child_nodes(node))
    steps: set[str] = set()
    while True:
        more = {each.function for each in functions if each.backward or each.names & steps} - steps
        if not more:
            break
        steps |= more
    found = {each.line: each.function for each in loops if each.backward or each.names & steps}
    yield from sorted(found.items())
