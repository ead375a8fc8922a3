"""The order in which a notebook's cells can have run.

People go back and forth in a notebook: the helper that a loop calls may stand in a cell below it. Top to bottom
such a notebook ends with a NameError, so it was run in another order. The order taken here is that of the document,
but that a cell waits for the first later cell that binds a name which it needs and no earlier cell binds.

A cell needs the names that its own statements read before they bind them, and those that the functions read which
it uses. A cell that may bind anything (``from x import *``, ``%run``) ends the search: nothing is moved then.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from loopgrad.source.notebook import Cell, Notebook

#: Magics that bind names which the text does not show.
_BINDS = re.compile(r"^\s*%(?:run|pylab|load|store)\b|^%%(?:cython|writefile)\b", re.MULTILINE)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BUILTIN = frozenset(dir(builtins)) | {
    "get_ipython",
    "display",
    "In",
    "Out",
    "_",
    "__",
    "___",
    "__name__",
    "__file__",
}


@dataclass
class _Names:
    """What a cell binds, reads before it binds it, and reads at all, and what its definitions read when they run."""

    body: list[ast.stmt] = field(default_factory=list)
    binds: set[str] = field(default_factory=set)
    needs: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)
    inner: dict[str, set[str]] = field(default_factory=dict)


def run_order(notebook: Notebook | None, tree: ast.Module) -> ast.Module:
    """The module with its statements in an order in which they can run; the module itself if that is its own."""
    if notebook is None or len(notebook.cells) < 2 or any(_opaque(cell) for cell in notebook.cells):
        return tree
    cells = [_Names() for _ in notebook.cells]
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and any(alias.name == "*" for alias in statement.names):
            return tree
        cells[notebook.index(statement.lineno)].body.append(statement)
    for names in cells:
        _read(names, names.body)
    order = _ordered(cells)
    if order == list(range(len(cells))):
        return tree
    return ast.Module([statement for number in order for statement in cells[number].body], [])


def _opaque(cell: Cell) -> bool:
    return _BINDS.search("\n".join(cell.lines)) is not None


def _ordered(cells: list[_Names]) -> list[int]:
    """The cells' numbers: the first that lacks nothing comes next; where each lacks something, the first."""
    inner = {name: reads for cell in cells for name, reads in cell.inner.items()}
    everything = set().union(*(cell.binds for cell in cells))
    needs = [_whole(cell, inner) & everything for cell in cells]
    bound: set[str] = set()
    left = list(range(len(cells)))
    order: list[int] = []
    while left:
        following = next((number for number in left if needs[number] <= bound), left[0])
        left.remove(following)
        order.append(following)
        bound |= cells[following].binds
    return order


def _whole(cell: _Names, inner: dict[str, set[str]]) -> set[str]:
    """What a cell needs, with what the definitions need that it uses."""
    reached: set[str] = set()
    todo = [*cell.needs, *cell.uses]
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo.extend(inner.get(name, ()))
    return (cell.needs | reached - cell.binds) - _BUILTIN


def _read(names: _Names, block: list[ast.stmt]) -> None:
    """Reads statements in their order: a name is needed if it is read before anything has bound it."""
    for statement in block:
        blocks = [part for _, part in ast.iter_fields(statement) if _is_block(part)]
        handlers = getattr(statement, "handlers", [])
        cases = getattr(statement, "cases", [])
        reads = set(_loads(statement))
        names.needs |= reads - names.binds
        names.uses |= reads
        names.binds |= set(_stores(statement))
        if isinstance(statement, _DEFINITIONS):
            names.inner[statement.name] = _free(statement)
            continue
        for part in (*blocks, *(handler.body for handler in handlers), *(case.body for case in cases)):
            _read(names, part)


def _is_block(part: object) -> bool:
    return isinstance(part, list) and bool(part) and isinstance(part[0], ast.stmt)


def _head(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement that run with it: not those of the blocks in it, nor the bodies of functions."""
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, (*_DEFINITIONS, ast.Lambda)):
            todo.extend(getattr(node, "decorator_list", ()))
            todo.extend(getattr(node, "bases", ()))
            if not isinstance(node, ast.ClassDef):
                todo.extend(d for d in (*node.args.defaults, *node.args.kw_defaults) if d is not None)
        else:
            todo.extend(child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt))


def _loads(statement: ast.stmt) -> Iterator[str]:
    nodes = list(_head(statement))
    own = {
        name.id
        for node in nodes
        if isinstance(node, ast.comprehension)
        for name in ast.walk(node.target)
        if isinstance(name, ast.Name)
    }
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in own:
            yield node.id
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id


def _stores(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, _DEFINITIONS):
        yield statement.name
        return
    for node in _head(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name


def _free(definition: ast.AST) -> set[str]:
    """The names that a function or class reads and nothing in it binds."""
    reads: set[str] = set()
    binds: set[str] = set()
    for node in ast.walk(definition):
        if isinstance(node, ast.Name):
            (reads if isinstance(node.ctx, ast.Load) else binds).add(node.id)
        elif isinstance(node, ast.arg):
            binds.add(node.arg)
        elif isinstance(node, _DEFINITIONS):
            binds.add(node.name)
        elif isinstance(node, ast.alias):
            binds.add(node.asname or node.name.partition(".")[0])
    return reads - binds
