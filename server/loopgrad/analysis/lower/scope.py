"""Which scope a name belongs to, decided once when a function is lowered."""

from __future__ import annotations

import ast
from typing import Any

from ..where import Site
from .nodes import children, walk


class Scope:
    """A module, class or function body: the names it binds, and the scope around it."""

    __slots__ = (
        "captured",
        "file",
        "globals",
        "idle",
        "kind",
        "locals",
        "name",
        "nonlocals",
        "parent",
        "stmt",
    )

    def __init__(self, kind: str, name: str, file: Any, parent: Scope | None) -> None:
        self.kind = kind  # module, class, function
        self.name = name
        self.file = file
        self.parent = parent
        self.locals: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        #: Names that a function inside reads; their variables outlive the call.
        self.captured: set[str] = set()
        self.stmt: ast.AST | None = None
        #: Operations of tests on which nothing depends but what is printed.
        self.idle: set[int] = set()

    def site(self, node: ast.AST) -> Site:
        return Site(self.file, node, self.stmt or node, self.name)

    def lookup(self, name: str) -> tuple[str, int]:
        """("local", 0), ("outer", n functions up), ("class", 0) or ("global", 0)."""
        if self.kind == "module" or name in self.globals:
            return ("global", 0)
        if name in self.locals:
            return ("class" if self.kind == "class" else "local", 0)
        hops = 1
        scope = self.parent
        while scope is not None:
            if scope.kind == "function":
                if name in scope.locals and name not in scope.globals:
                    scope.captured.add(name)
                    return ("outer", hops)
                hops += 1
            scope = scope.parent
        return ("global", 0)


#: What has a scope of its own; its body binds nothing here.
_COMPREHENSIONS = frozenset({ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp})
_DEFINITIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
#: What binds a name that is no ``Name`` node, by the field that holds it.
_BINDERS: dict[type, str] = {
    ast.ExceptHandler: "name",
    ast.MatchAs: "name",
    ast.MatchStar: "name",
    ast.MatchMapping: "rest",
}


def _bind_names(scope: Scope, body: list[Any]) -> None:
    """Collect the names that one body binds, without entering functions and classes inside it."""
    bound = scope.locals
    stack = list(body)
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is not ast.Load:
                bound.add(node.id)
        elif kind in _DEFINITIONS:
            bound.add(node.name)
            stack.extend(node.decorator_list)
        elif kind in _COMPREHENSIONS:
            # Only a walrus binds outside of a comprehension; its own targets are its own.
            bound.update(inner.target.id for inner in walk(node) if type(inner) is ast.NamedExpr)
        elif kind is ast.Import or kind is ast.ImportFrom:
            for alias in node.names:
                name = alias.asname or alias.name
                bound.add(name.split(".")[0] if kind is ast.Import and not alias.asname else name)
        elif kind is ast.Global:
            scope.globals.update(node.names)
        elif kind is ast.Nonlocal:
            scope.nonlocals.update(node.names)
        elif kind is not ast.Lambda:
            field = _BINDERS.get(kind)
            if field is not None and getattr(node, field):
                bound.add(getattr(node, field))
            stack.extend(children(node))


def bind(scope: Scope, body: list[ast.stmt] | list[ast.expr], args: ast.arguments | None) -> Scope:
    """Fill a scope with the names its body binds."""
    _bind_names(scope, body)
    if args is not None:
        for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs]:
            scope.locals.add(arg.arg)
        if args.vararg:
            scope.locals.add(args.vararg.arg)
        if args.kwarg:
            scope.locals.add(args.kwarg.arg)
    scope.locals -= scope.globals | scope.nonlocals
    return scope


def has_yield(body: list[ast.stmt]) -> bool:
    """Whether a body yields itself (functions inside it do not count)."""
    stack: list[Any] = list(body)
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is ast.Yield or kind is ast.YieldFrom:
            return True
        if kind not in _DEFINITIONS and kind is not ast.Lambda:
            stack.extend(children(node))
    return False


def text_of(node: ast.AST) -> str:
    """The source text of a target, as the user wrote it up to spacing (``self.last_h``)."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{text_of(node.value)}.{node.attr}"
    return ast.unparse(node)
