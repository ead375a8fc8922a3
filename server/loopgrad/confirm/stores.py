"""Which statement stored a carrier: read from the source, decided by what ran last.

A carrier is known by its name in the live frames (``model.last_h``). The statements that store under its last
part are looked up in the user's files, and of those that ran the last one is taken: an element goes into a
container by a call that changes it, anything else by an assignment.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

Place = tuple[str, int]

_CHANGERS = frozenset(
    "append appendleft extend add insert update push put setdefault register_buffer".split()
)


class Stores:
    def __init__(self, files: Iterable[str], texts: dict[str, str] | None = None) -> None:
        self._files = list(files)
        self._texts = texts or {}
        self._functions: dict[str, list[tuple[int, int]]] = {}
        #: By name: (is a change of a container, the key if one is written out, place).
        self._found: dict[str, list[tuple[bool, object, Place]]] | None = None

    def find(self, name: str, ran: list[Place], near: Iterable[Place | None] = ()) -> Place | None:
        """Where the carrier of this name was stored.

        ``ran`` are statements, the last that ran first; ``near`` are places in the frames that knew it by
        this name: a plain variable is stored in one of their functions.
        """
        if self._found is None:
            self._found = {}
            for path in self._files:
                for stored, key, changes, line in _stores(self._tree(path)):
                    self._found.setdefault(stored, []).append((changes, key, (path, line)))
        order = {place: position for position, place in enumerate(reversed(ran), 1)}
        keyed = re.search(r"\[(?:'([^']*)'|(\d+))\]", name)
        wanted: object = None if keyed is None else keyed[1] if keyed[1] is not None else int(keyed[2])
        parts = re.sub(r"\[[^\]]*\]", "", name).split(".")
        for part in reversed(parts):
            candidates = [item for item in self._found.get(part, ()) if item[2] in order]
            if len(parts) == 1:
                around = {self._function(place) for place in near if place is not None}
                candidates = [item for item in candidates if self._function(item[2]) in around] or candidates
            if candidates:
                return max(
                    candidates,
                    key=lambda item: (item[1] is None or item[1] == wanted, item[0], order[item[2]]),
                )[2]
        return None

    def _function(self, place: Place) -> Place | None:
        """The innermost function around a place."""
        path, line = place
        if path not in self._functions:
            self._functions[path] = [
                (node.lineno, node.end_lineno or node.lineno)
                for node in ast.walk(self._tree(path))
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            ]
        around = [start for start, end in self._functions[path] if start <= line <= end]
        return (path, max(around)) if around else (path, 0)

    def _tree(self, path: str) -> ast.Module:
        try:
            text: str | bytes | None = self._texts.get(path)
            if text is None:
                with open(path, "rb") as file:
                    text = file.read()
            return ast.parse(text)
        except (OSError, SyntaxError, ValueError, RecursionError):
            return ast.Module([], [])


def _stores(tree: ast.Module) -> Iterator[tuple[str, object, bool, int]]:
    """Each (name, the key if it is written out, is a change in place, line of the statement)."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        for target in _targets(node):
            for leaf in _leaves(target):
                if isinstance(leaf, ast.Subscript):
                    yield from ((name, key, True, node.lineno) for name, key in _last_names(leaf))
                else:
                    yield from ((name, key, False, node.lineno) for name, key in _last_names(leaf))
        if isinstance(node, (ast.Expr, ast.Assign)) and isinstance(node.value, ast.Call):
            function = node.value.func
            while isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call):
                if function.attr.endswith("_"):
                    break
                function = function.value.func
            if isinstance(function, ast.Attribute):
                in_place = function.attr.endswith("_") and not function.attr.endswith("__")
                if in_place or function.attr in _CHANGERS:
                    yield from ((name, key, True, node.lineno) for name, key in _last_names(function.value))
            elif isinstance(function, ast.Name) and function.id == "setattr" and len(node.value.args) > 1:
                named = node.value.args[1]
                if isinstance(named, ast.Constant) and isinstance(named.value, str):
                    yield named.value, None, False, node.lineno


def _targets(node: ast.stmt) -> list[ast.expr]:
    found: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        found = list(node.targets)
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor)):
        found = [node.target]
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        found = [item.optional_vars for item in node.items if item.optional_vars is not None]
    heads = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    for head in heads:
        found.extend(inner.target for inner in ast.walk(head) if isinstance(inner, ast.NamedExpr))
    return found


def _leaves(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _leaves(element)
    elif isinstance(target, ast.Starred):
        yield from _leaves(target.value)
    else:
        yield target


def _last_names(node: ast.expr) -> Iterator[tuple[str, object]]:
    """``self.rows["x"]`` is stored under ``rows``, with the key ``x``."""
    key: object = None
    while isinstance(node, (ast.Subscript, ast.Call)):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            key = node.slice.value
        node = node.value if isinstance(node, ast.Subscript) else node.func
    if isinstance(node, ast.Attribute):
        yield node.attr, key
    elif isinstance(node, ast.Name):
        yield node.id, key
