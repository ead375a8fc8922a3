"""What the rules ask of a syntax tree: what stands around a node, and how a user would call a value.

``ast`` knows children alone. A :class:`Tree` adds the way up, for one file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from loopgrad.analysis.lower.nodes import children, walk

Function = (ast.FunctionDef, ast.AsyncFunctionDef)
Loop = (ast.For, ast.AsyncFor, ast.While)
Block: TypeAlias = "list[ast.stmt]"

_FIELDS = ("body", "orelse", "finalbody")


class Tree:
    """One file's tree with the parent of each node."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self._parents: dict[int, ast.AST] = {}
        parents = self._parents
        for node in walk(tree):
            for child in children(node):
                parents[id(child)] = node

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self._parents.get(id(node))

    def up(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node stands in, from the inside out."""
        parent = self.parent(node)
        while parent is not None:
            yield parent
            parent = self.parent(parent)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that holds a node; the node itself if it is one."""
        for each in (node, *self.up(node)):
            if isinstance(each, ast.stmt):
                return each
        return None

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function around a node, not through a class or a lambda's own scope."""
        for each in self.up(node):
            if isinstance(each, Function):
                return each
            if isinstance(each, ast.ClassDef):
                return None
        return None

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        return next((each for each in self.up(node) if isinstance(each, ast.ClassDef)), None)

    def block(self, statement: ast.stmt) -> Block:
        """The list of statements that a statement stands in."""
        parent = self.parent(statement)
        for field in _FIELDS:
            block = getattr(parent, field, None)
            if isinstance(block, list) and any(each is statement for each in block):
                return block
        for case in getattr(parent, "cases", []):
            if any(each is statement for each in case.body):
                return list(case.body)
        return [statement]

    def chain(self, statement: ast.stmt) -> list[ast.stmt]:
        """A statement and the statements around it, from the inside out, up to its function."""
        found: list[ast.stmt] = [statement]
        for each in self.up(statement):
            if isinstance(each, (*Function, ast.ClassDef, ast.Module)):
                break
            if isinstance(each, ast.stmt):
                found.append(each)
        return found

    def common_block(self, a: ast.stmt, b: ast.stmt) -> tuple[ast.stmt, ast.stmt] | None:
        """The statements around (or) ``a`` and ``b`` that stand in one block, or None."""
        for outer_a in self.chain(a):
            block = self.block(outer_a)
            for outer_b in self.chain(b):
                if any(each is outer_b for each in block):
                    return outer_a, outer_b
        return None

    def scope(self, node: ast.AST) -> ast.AST:
        return self.function(node) or self.class_of(node) or self.tree


def names_read(node: ast.AST) -> set[str]:
    """The names that a node reads, and the attributes of ``self`` as ``self.x``."""
    found: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            found.add(each.id)
        elif isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load):
            found.add(ast.unparse(each))
    return found


def targets_of(statement: ast.AST) -> list[ast.expr]:
    """What a statement assigns to, tuples taken apart."""
    raw: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        raw = list(statement.targets)
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor, ast.NamedExpr)):
        raw = [statement.target]
    found: list[ast.expr] = []
    while raw:
        target = raw.pop(0)
        if isinstance(target, (ast.Tuple, ast.List)):
            raw[:0] = target.elts
        elif isinstance(target, ast.Starred):
            raw.insert(0, target.value)
        else:
            found.append(target)
    return found


def value_name(node: ast.AST) -> str:
    """How a user would call the tensor that an expression or statement is about; "" where there is no name.

    >>> value_name(ast.parse("self.weight[0] = 0.0").body[0])
    'self.weight'
    >>> value_name(ast.parse("p.data.clamp_(-1, 1)").body[0])
    'p.data'
    """
    if isinstance(node, ast.Expr):
        return value_name(node.value)
    if isinstance(node, ast.stmt):
        targets = targets_of(node)
        return value_name(targets[0]) if targets else ""
    if isinstance(node, ast.Subscript):
        return value_name(node.value)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            return value_name(node.func.value)
        return ""
    if isinstance(node, (ast.Name, ast.Attribute)):
        text = ast.unparse(node)
        return text if len(text) <= 60 and "(" not in text else ""
    return ""


def calls_in(node: ast.AST) -> Iterator[ast.Call]:
    return (each for each in ast.walk(node) if isinstance(each, ast.Call))


def method_name(call: ast.AST) -> str:
    """``step`` of ``opt.step()``; ``f`` of ``f(x)``."""
    if not isinstance(call, ast.Call):
        return ""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def calls_method(node: ast.AST, *names: str) -> bool:
    return any(method_name(call) in names for call in calls_in(node))


def header(node: ast.AST) -> ast.AST:
    """The part of a compound statement to point at: a ``with``'s context, a ``for``'s target and source."""
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return node.items[0].context_expr
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return node.target
    if isinstance(node, (ast.If, ast.While)):
        return node.test
    return node
