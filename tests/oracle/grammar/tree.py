"""The tree that the generator builds and the source it stands for.

A program is a list of nodes: a node is one line of source or a compound statement with bodies. The
generator cuts and wraps these lists freely (put three statements under a condition, move a body into
a method); the text is only made at the end.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass
class Compound:
    """A compound statement: a header, its body and the clauses that follow (`else:`, `except ...:`)."""

    header: str
    body: list[Node]
    clauses: list[tuple[str, list[Node]]] = field(default_factory=list)


Node = str | Compound


@dataclass
class Program:
    """A generated program: its source, the theme that steered it and the constructs it was built from."""

    source: str
    theme: str
    constructs: Counter[str]


def lines(nodes: Iterable[Node], depth: int = 0) -> list[str]:
    """The lines of source that a list of nodes stands for."""
    pad = "    " * depth
    result: list[str] = []
    for node in nodes:
        if isinstance(node, str):
            result.extend(pad + line for line in node.split("\n"))
            continue
        result.extend(pad + line for line in node.header.split("\n"))
        result.extend(lines(node.body or ["pass"], depth + 1))
        for header, body in node.clauses:
            result.append(pad + header)
            result.extend(lines(body or ["pass"], depth + 1))
    return result


def render(nodes: Iterable[Node]) -> str:
    """The source of a list of nodes."""
    return "\n".join(lines(nodes)) + "\n"


def names(nodes: Sequence[Node], context: type[ast.expr_context]) -> set[str]:
    """The plain names that the nodes store (`ast.Store`) or read (`ast.Load`).

    An augmented assignment counts as a read as well, since it needs the old value.
    """
    text = "async def _():\n    while True:\n" + "\n".join(lines(list(nodes) or ["pass"], 2))
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, context):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef) and context is ast.Store:
            found.add(node.name)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found
