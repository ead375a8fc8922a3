"""Primitive steps on nodes of a file, and requests made of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from loopgrad.model import FixRequest, Message, Range, Step

from ..context import Context

#: At most so many candidates of a finding are tried.
MOST = 8


class File:
    """One file to edit: its path, its tree with parents, and the ranges of its nodes."""

    def __init__(self, context: Context, path: str) -> None:
        self.context = context
        self.path = path
        self.tree = context.tree(path)

    def range(self, node: ast.AST) -> Range:
        file = self.context.file(self.path)
        return file.range(node) if file is not None else Range(1, 1, 1, 1)

    def step(self, op: str, node: ast.AST, text: str = "", other: ast.AST | None = None) -> Step:
        return Step(op, self.path, self.range(node), text, self.range(other) if other is not None else None)

    def append(self, node: ast.AST, text: str) -> Step:
        return self.step("append", node, text)

    def source(self, node: ast.AST) -> str:
        """The text of a node as the user wrote it, in one line."""
        file = self.context.file(self.path)
        return " ".join(file.segment(self.range(node)).split()) if file is not None else ast.unparse(node)


def request(
    kind: str, title: Message, steps: Iterable[Step] | None, *, preferable: bool = True
) -> list[FixRequest]:
    """A request of these steps in a list, empty where there are none."""
    several = tuple(dict.fromkeys(steps or ()))
    return [FixRequest(kind, title, several, preferable)] if several else []


def distinct(requests: Iterable[FixRequest]) -> list[FixRequest]:
    """The first of each edit, as many as are tried."""
    seen: dict[tuple[Step, ...], FixRequest] = {}
    for each in requests:
        seen.setdefault(each.steps, each)
    return list(seen.values())[:MOST]


def joined(file: File, anchor: ast.AST, op: str, lines: Sequence[str]) -> Step:
    """Lines put at one place in one step."""
    return file.step(op, anchor, "\n".join(lines))
