"""Which scope a name belongs to, decided once when a function is lowered."""

from __future__ import annotations

import ast
from typing import Any

from ..where import Site

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


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


class _Binder(ast.NodeVisitor):
    """Collects the names that one body binds, without entering functions and classes inside it."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.scope.locals.add(node.id)

    def _define(self, node: Any) -> None:
        self.scope.locals.add(node.name)
        for decorator in node.decorator_list:
            self.visit(decorator)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _define

    def visit_Lambda(self, node: ast.Lambda) -> None:
        pass

    def _comprehension(self, node: Any) -> None:
        # Only a walrus binds outside of a comprehension; its own targets are its own.
        for inner in ast.walk(node):
            if isinstance(inner, ast.NamedExpr):
                self.scope.locals.add(inner.target.id)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.scope.locals.add(alias.asname or alias.name.split(".")[0])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self.scope.locals.add(alias.asname or alias.name)

    def visit_Global(self, node: ast.Global) -> None:
        self.scope.globals.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.scope.nonlocals.update(node.names)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.scope.locals.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self.scope.locals.add(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self.scope.locals.add(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.scope.locals.add(node.rest)
        self.generic_visit(node)


def bind(scope: Scope, body: list[ast.stmt] | list[ast.expr], args: ast.arguments | None) -> Scope:
    """Fill a scope with the names its body binds."""
    binder = _Binder(scope)
    for node in body:
        binder.visit(node)
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
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            continue
        stack.extend(ast.iter_child_nodes(node))
    return False


def text_of(node: ast.AST) -> str:
    """The source text of a target, as the user wrote it up to spacing (``self.last_h``)."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{text_of(node.value)}.{node.attr}"
    return ast.unparse(node)
