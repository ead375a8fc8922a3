"""What the changes of a training part share: where its statements are, what they read and assign."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from .draft import Draft

Block = list[ast.stmt]


def blocks(tree: ast.AST, *, loops: bool = False) -> list[Block]:
    """The blocks of statements in a tree; with `loops` those within a loop alone."""
    found: list[Block] = []

    def visit(node: ast.AST, inside: bool) -> None:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                within = inside or isinstance(node, (ast.For, ast.While))
                if within or not loops:
                    found.append(block)
                for child in block:
                    visit(child, within)

    visit(tree, False)
    return found


def stored(node: ast.AST) -> set[str]:
    """The names that a tree assigns."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def loaded(node: ast.AST) -> set[str]:
    """The names that a tree reads."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def calls(tree: ast.AST, *names: str) -> Iterator[tuple[Block, int, ast.Call]]:
    """Expression statements that call a method of one of the names."""
    for block in blocks(tree):
        for at, node in enumerate(block):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                called = node.value.func
                if isinstance(called, ast.Attribute) and called.attr in names:
                    yield block, at, node.value


class _Expressions(ast.NodeTransformer):
    """Replace the chosen one of the expressions that a test accepts."""

    def __init__(
        self, accepts: Callable[[ast.expr], bool], change: Callable[[ast.expr], ast.expr], chosen: int
    ) -> None:
        self.accepts, self.change, self.chosen, self.seen = accepts, change, chosen, 0

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, ast.expr) and self.accepts(node):
            self.seen += 1
            if self.seen - 1 == self.chosen:
                return self.change(node)
        return node


def replace(
    d: Draft, tree: ast.AST, accepts: Callable[[ast.expr], bool], change: Callable[[ast.expr], ast.expr]
) -> bool:
    count = sum(isinstance(node, ast.expr) and accepts(node) for node in ast.walk(tree))
    if count:
        _Expressions(accepts, change, d.rng.randrange(count)).visit(tree)
    return count > 0


def is_cut(node: ast.expr) -> bool:
    match node:
        case ast.Call(ast.Attribute(attr="detach" | "item"), []):
            return True
        case ast.Attribute(attr="data", ctx=ast.Load()):
            return True
    return False


def has_call(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == name
        for n in ast.walk(node)
    )
