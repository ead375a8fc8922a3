"""A module's definitions, as much of them as an entry point needs.

An entry point that is a function runs without the loops and calls that make its file a script. Of the definitions
around it those are run whose names it leads to, so that a file of many functions costs what each of them needs.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .lower.nodes import walk
from .lower.scope import Scope, bind
from .lower.statements import block
from .runtime import Frame
from .signals import Raised

_KINDS = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Assign,
    ast.AnnAssign,
    ast.Try,
)


class Part:
    """Some of the definitions, to be run as a module's body: what :func:`execute` asks of a file's record."""

    def __init__(self, path: str, runs: list[Callable[[Frame], Any]]) -> None:
        self.path = path
        self._runs = runs

    def lowered(self) -> Callable[[Frame], Any]:
        return self._run

    def _run(self, frame: Frame) -> None:
        for run in self._runs:
            try:
                run(frame)
            except Raised:
                # What fails here may not fail in a real run; what it defines is missing, the rest is there.
                frame.rt.partial.append((self.path, 1, "import"))
                frame.rt.lenient = True


class Definitions:
    """The definitions of one file, each lowered when it is first needed."""

    def __init__(self, record: Any) -> None:
        self._path: str = record.path
        self._body = [each for each in record.tree.body if isinstance(each, _KINDS)]
        self._scope = bind(Scope("module", "<module>", record, None), record.tree.body, None)
        self._runs: dict[int, Callable[[Frame], Any]] = {}
        self._reads = [_read(each) for each in self._body]
        self._binds = [_bound(each) for each in self._body]
        self._parts: dict[tuple[str, ...], Part] = {}

    def of(self, *names: str) -> Part:
        """What functions and classes of these names lead to."""
        part = self._parts.get(names)
        if part is None:
            chosen = self._needed(*names)
            part = self._parts[names] = Part(self._path, [self._lowered(index) for index in chosen])
        return part

    def _lowered(self, index: int) -> Callable[[Frame], Any]:
        if index not in self._runs:
            self._runs[index] = block([self._body[index]], self._scope)
        return self._runs[index]

    def _needed(self, *given: str) -> list[int]:
        wanted, names = set(given), list(given)
        chosen: set[int] = set()
        makers: dict[str, list[int]] = {}
        for index, bound in enumerate(self._binds):
            for each in bound if bound is not None else ("*",):
                makers.setdefault(each, []).append(index)
        names.append("*")  # an import of everything may bring any name
        while names:
            for index in makers.get(names.pop(), ()):
                if index not in chosen:
                    chosen.add(index)
                    fresh = self._reads[index] - wanted
                    wanted |= fresh
                    names.extend(fresh)
        return sorted(chosen)


def _read(statement: ast.stmt) -> set[str]:
    return {node.id for node in walk(statement) if isinstance(node, ast.Name)}


def _bound(statement: ast.stmt) -> set[str] | None:
    """The names that running a statement makes, or changes what stands behind; None for any."""
    found: set[str] = set()
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        found.add(statement.name)
        for decorator in statement.decorator_list:  # a registry is filled by what decorates
            found |= {node.id for node in walk(decorator) if isinstance(node, ast.Name)}
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            if alias.name == "*":
                return None
            found.add((alias.asname or alias.name).split(".")[0])
    elif isinstance(statement, ast.Try):
        for each in [*statement.body, *statement.orelse, *statement.finalbody]:
            inner = _bound(each)
            if inner is None:
                return None
            found |= inner
        for handler in statement.handlers:
            for each in handler.body:
                found |= _bound(each) or set()
    else:
        # The names in targets: `model.head = …` changes what `model` is.
        targets = getattr(statement, "targets", None) or [getattr(statement, "target", statement)]
        found |= {node.id for target in targets for node in walk(target) if isinstance(node, ast.Name)}
    return found
