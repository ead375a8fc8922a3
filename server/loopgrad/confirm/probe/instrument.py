"""The source pass: user code is compiled with calls that say where it is.

Four calls go in, all found through ``builtins`` so that no namespace of the user's changes:

* ``__lg_mark__(place)`` before a statement;
* ``__lg_enter__(loop)`` before a loop, ``__lg_tick__(loop)`` at the start of its body (the loop is left if
  that answers true: its share of iterations is done), ``__lg_leave__(loop)`` behind it;
* ``__lg_back__(value)`` around what a function returns, so that what its caller's statement goes on to
  build is not taken for the callee's.

``place`` is ``(path, line)`` and ``loop`` is ``(path, line, last line)``; both are constants of the code
object. Injected nodes take the position of what they stand beside, so that tracebacks keep their lines.
"""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

_UNMARKED = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Global,
    ast.Nonlocal,
    ast.Pass,
    ast.Break,
    ast.Continue,
)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def compiled(source: bytes | str, path: str, *, marks: bool = True) -> CodeType:
    """The code object of a module with its calls in. Raises what ``compile`` raises.

    Without ``marks`` loops alone get theirs.
    """
    tree = ast.parse(source, path)
    _Pass(path, marks).body(tree.body)
    return compile(tree, path, "exec", dont_inherit=True)


class _Pass:
    def __init__(self, path: str, marks: bool) -> None:
        self.path = path
        self.marks = marks

    def body(self, statements: list[Any]) -> None:
        """Rewrites a list of statements in place."""
        result: list[ast.stmt] = []
        for statement in statements:
            self._within(statement)
            if self.marks and not isinstance(statement, _UNMARKED) and not _is_constant(statement):
                result.append(self._call("__lg_mark__", (self.path, statement.lineno), statement))
            if isinstance(statement, _LOOPS):
                loop = (self.path, statement.lineno, statement.end_lineno)
                result.append(self._call("__lg_enter__", loop, statement))
                result.append(statement)
                result.append(self._call("__lg_leave__", loop, statement))
                continue
            if self.marks and isinstance(statement, ast.Return):
                value = statement.value or _placed(ast.Constant(None), statement)
                statement.value = _call_node("__lg_back__", value, value)
            result.append(statement)
        statements[:] = result

    def _within(self, node: Any) -> None:
        """Rewrites the bodies that a statement (or handler, or case) has."""
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(node, name, None)
            if isinstance(inner, list) and inner:
                self.body(inner)
        for name in ("handlers", "cases"):
            for part in getattr(node, name, ()):
                self._within(part)
        if isinstance(node, _LOOPS):
            loop = (self.path, node.lineno, node.end_lineno)
            near = node.body[0]
            test = self._call("__lg_tick__", loop, near).value
            node.body.insert(0, _placed(ast.If(test, [_placed(ast.Break(), near)], []), near))
        elif self.marks and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            last = node.body[-1]
            if not isinstance(last, (ast.Return, ast.Raise)):
                nothing = _placed(ast.Constant(None), last)
                node.body.append(_placed(ast.Expr(_call_node("__lg_back__", nothing, last)), last))

    def _call(self, name: str, argument: tuple, near: Any) -> ast.Expr:
        constant: Any = argument
        value = _placed(ast.Constant(constant), near)
        expression: ast.Expr = _placed(ast.Expr(_call_node(name, value, near)), near)
        return expression


def _call_node(name: str, argument: ast.expr, near: Any) -> ast.Call:
    call: ast.Call = _placed(ast.Call(_placed(ast.Name(name, ast.Load()), near), [argument], []), near)
    return call


def _placed(node: Any, near: Any) -> Any:
    node.lineno, node.col_offset = near.lineno, near.col_offset
    node.end_lineno = near.lineno
    node.end_col_offset = near.end_col_offset if near.end_lineno == near.lineno else near.col_offset
    return node


def _is_constant(statement: ast.stmt) -> bool:
    """A docstring, or ``...``."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
