"""A ``yield`` inside a larger expression: what is computed before it is kept, and the rest goes on with what was sent.

``kept.append((yield len(kept)))`` becomes ``sent = yield len(kept)`` and ``kept.append(sent)``, with a name that no
program has. The order of evaluation is Python's as far as it can be seen: what stands before the ``yield`` and does
more than name something is computed before, and what only one branch computes is computed in that branch.
"""

from __future__ import annotations

import ast
from copy import copy
from typing import Any

from .nodes import walk
from .scope import Scope, has_yield

_YIELDS = (ast.Yield, ast.YieldFrom)


class Hoist:
    """What one expression or simple statement does up to its last ``yield``, as statements with names of their own."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.before: list[ast.stmt] = []
        self.names: list[str] = []

    def rest(self, node: Any) -> Any:
        """The node without its yields (a changed copy); what they need is in ``before``."""
        if not has_yield([node]):
            return node
        if isinstance(node, _YIELDS):
            changed = copy(node)
            if node.value is not None:
                changed.value = self.rest(node.value)
            return self._kept(changed, node)
        if isinstance(node, ast.IfExp):
            return self._either(node, self.rest(node.test), node.body, node.orelse)
        if isinstance(node, ast.BoolOp):
            return self._chain(node)
        return self._parts(node)

    def _kept(self, value: ast.expr, near: ast.expr, name: str | None = None) -> ast.expr:
        """Store a value under a name of its own; gives what reads it."""
        if name is None:
            name = f".{len(self.names)}:{near.lineno}:{near.col_offset}"
            self.names.append(name)
            self.scope.locals.add(name)
        store = ast.copy_location(ast.Name(name, ast.Store()), near)
        self.before.append(ast.copy_location(ast.Assign([store], value), near))
        return ast.copy_location(ast.Name(name, ast.Load()), near)

    def _inside(self, value: ast.expr, near: ast.expr, name: str) -> list[ast.stmt]:
        """The statements that store a value which only one branch computes."""
        outer, self.before = self.before, []
        self._kept(self.rest(value), near, name)
        inner, self.before = self.before, outer
        return inner

    def _either(self, node: ast.expr, test: ast.expr, body: ast.expr, orelse: ast.expr) -> ast.expr:
        read: Any = self._kept(ast.copy_location(ast.Constant(None), node), node)
        branches = self._inside(body, node, read.id), self._inside(orelse, node, read.id)
        self.before.append(ast.copy_location(ast.If(test, *branches), node))
        return read

    def _chain(self, node: ast.BoolOp) -> ast.expr:
        first, *others = node.values
        read: Any = self._kept(self.rest(first), node)
        block = self.before
        for value in others:
            test = read if isinstance(node.op, ast.And) else ast.UnaryOp(ast.Not(), read)
            taken = self._inside(value, node, read.id)
            block.append(ast.copy_location(ast.If(ast.copy_location(test, node), taken, []), node))
            block = taken
        return read

    def _parts(self, node: Any) -> Any:
        """A node whose parts are all computed, one after the other."""
        changed = copy(node)
        places: list[tuple[Any, Any]] = []
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                setattr(changed, field, list(value))
                places += [(getattr(changed, field), i) for i, part in enumerate(value) if _computed(part)]
            elif _computed(value):
                places.append((changed, field))
        last = max((at for at, place in enumerate(places) if has_yield([_get(*place)])), default=-1)
        for place in places[: last + 1]:
            part = _get(*place)
            _set(*place, self.rest(part) if has_yield([part]) else self._first(part))
        return changed

    def _first(self, part: Any) -> Any:
        """A part without a yield that stands before one."""
        if isinstance(part, (ast.Starred, ast.keyword)):
            changed = copy(part)
            changed.value = self._first(part.value)
            return changed
        return part if _only_names(part) else self._kept(part, part)


def _get(owner: Any, at: Any) -> Any:
    return owner[at] if isinstance(owner, list) else getattr(owner, at)


def _set(owner: Any, at: Any, value: Any) -> None:
    if isinstance(owner, list):
        owner[at] = value
    else:
        setattr(owner, at, value)


def _computed(part: Any) -> bool:
    return isinstance(part, (ast.expr, ast.keyword)) and not isinstance(getattr(part, "ctx", None), ast.Store)


def _only_names(part: ast.expr) -> bool:
    """Whether computing something runs nothing: it can be read after the yield as well as before."""
    return all(isinstance(each, (ast.Name, ast.Attribute, ast.Constant)) for each in walk(part))
