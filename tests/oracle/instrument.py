"""The source pass that lets a run tell in which iteration of which loop it is.

Every loop gets a call before it, one at the start of its body and one after it (in a `finally`, so that
`break`, `return` and exceptions pass it too); what a `for` goes over passes
through one. Comprehensions tick as well. A loop is named by its line.
Injected nodes take the positions of what they stand beside, so that tracebacks keep their lines.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from itertools import product
from types import CodeType
from typing import cast

FILE = "<program>"
#: Where an expression stands, as `ast` counts: line, column, end line, end column.
Place = tuple[int, int, int, int]
STEPS = re.compile(r"^(\s*N = )\d+$", re.M)
#: A loop of too few iterations for growth to be told, as those over epochs are.
FEW = re.compile(r"^(\s*for \w+ in range\()[23](\):)", re.M)
FLAG = re.compile(r"add_argument\(\s*['\"]--(\w+)['\"],\s*action=['\"]store_true['\"]")


def _call(name: str, line: int, near: ast.AST) -> ast.Expr:
    call = ast.Call(ast.Name(name, ast.Load()), [ast.Constant(line)], [])
    return cast("ast.Expr", _at(ast.Expr(call), near))


def _at(node: ast.AST, near: ast.AST) -> ast.AST:
    for part in ast.walk(node):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, near)
    return ast.fix_missing_locations(node)


class _Loops(ast.NodeTransformer):
    def _loop(self, node: ast.For | ast.While) -> list[ast.stmt]:
        self.generic_visit(node)
        line = node.lineno
        node.body.insert(0, _call("__tick__", line, node.body[0]))
        if isinstance(node, ast.For):
            given: list[ast.expr] = [ast.Constant(line), node.iter]
            over = ast.Call(ast.Name("__over__", ast.Load()), given, [])
            node.iter = cast("ast.expr", _at(over, node.iter))
        guarded = ast.Try(body=[node], handlers=[], orelse=[], finalbody=[_call("__leave__", line, node)])
        return [_call("__enter__", line, node), cast("ast.stmt", _at(guarded, node))]

    visit_For = _loop
    visit_While = _loop

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> ast.AST:
        self.generic_visit(node)
        tick = _call("__tick__", node.lineno, node.elt).value
        pair = ast.Tuple([tick, node.elt], ast.Load())
        node.elt = cast("ast.expr", _at(ast.Subscript(pair, ast.Constant(1), ast.Load()), node.elt))
        if isinstance(node, ast.GeneratorExp):
            return node
        enter = _call("__enter__", node.lineno, node).value
        done = _call("__done__", node.lineno, node).value
        both = ast.Tuple([enter, node, done], ast.Load())
        return _at(ast.Subscript(both, ast.Constant(1), ast.Load()), node)

    visit_ListComp = _comprehension
    visit_SetComp = _comprehension
    visit_GeneratorExp = _comprehension


@dataclass(frozen=True)
class Instrumented:
    """A program ready to run, and where its loops are: `(line, first, last line of the body)`."""

    code: CodeType
    loops: tuple[tuple[int, int, int], ...]


class _Conditions(ast.NodeTransformer):
    """Passes the expressions at the given places through `__condition__(place, value)`."""

    def __init__(self, places: tuple[Place, ...]) -> None:
        self.places = places

    def visit(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node, ast.expr):
            return node
        place = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
        if place not in self.places:
            return node
        where = ast.parse(repr(place), mode="eval").body
        for part in ast.walk(where):
            ast.copy_location(part, node)
        return _at(ast.Call(ast.Name("__condition__", ast.Load()), [where, node], []), node)


def instrument(source: str, conditions: tuple[Place, ...] = ()) -> Instrumented:
    """Compile a program with its loops instrumented, and the conditions at some places."""
    tree = ast.parse(source)
    loops = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.While)):
            loops.append((node.lineno, node.body[0].lineno, node.body[-1].end_lineno or node.lineno))
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            loops.append((node.lineno, node.lineno, node.end_lineno or node.lineno))
    if conditions:
        tree = _Conditions(conditions).visit(tree)
    tree = ast.fix_missing_locations(_Loops().visit(tree))
    return Instrumented(compile(tree, FILE, "exec"), tuple(loops))


def more_steps(source: str) -> tuple[int, ...]:
    """More steps than a program's few, by which growth is told: as many digits where a condition looks at these."""
    return (9,) if "len(str(N))" in source else (12, 24)


def with_steps(source: str, steps: int) -> str | None:
    """The program with its line `N = <number>` changed; None if it has no such line."""
    changed, hits = STEPS.subn(rf"\g<1>{steps}", source, count=1)
    return changed if hits else None


def with_epochs(source: str, epochs: int) -> str | None:
    """The program with more iterations in its loops over two or three; None if it has none."""
    changed, hits = FEW.subn(rf"\g<1>{epochs}\g<2>", source)
    return changed if hits else None


def assignments(source: str) -> list[tuple[str, ...]]:
    """Every command line that the program's unknown conditions allow (at most five flags vary)."""
    flags = list(dict.fromkeys(FLAG.findall(source)))[:5]
    choices = product((False, True), repeat=len(flags))
    return [tuple(f"--{flag}" for flag, on in zip(flags, chosen, strict=True) if on) for chosen in choices]
