"""Whether the growth of a run is the other side of what a finding of another outcome tells: one cause, two effects.

What one carried value does under an unknown condition, raise (or be walked again) or grow, is one finding. That it
is one cause is shown by running: with the finding's fix, or without the graphs of what such statements store,
the same command line is clean.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from . import adapter
from .observe import RAISING, Run, observe

#: What a changed program calls: a value, and what is in it, without its graph. A backward may need that it requires
#: a gradient all the same; what is added to in place may not.
_CUT = """
def __cut__(value):
    if hasattr(value, "grad_fn"):
        return value.detach()%s
    if type(value) in (list, tuple, set):
        return type(value)(map(__cut__, value))
    return {k: __cut__(v) for k, v in value.items()} if type(value) is dict else value
"""


class _Cuts(ast.NodeTransformer):
    """Takes the graph of what the statements at some lines store: of a value, or of what a call is given."""

    def __init__(self, lines: set[int]) -> None:
        self.lines = lines
        self.found = False

    def _cut(self, value: ast.expr) -> ast.expr:
        self.found = True
        return ast.Call(ast.Name("__cut__", ast.Load()), [value], [])

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and node.lineno in self.lines:
            if node.value is not None:
                node.value = self._cut(node.value)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.lineno in self.lines:
            node.value.args = [self._cut(each) for each in node.value.args]
        return self.generic_visit(node)


def without_graph(source: str, lines: set[int]) -> list[str]:
    """The program in which the statements at some lines store no graph, in two ways; none if they store nothing."""
    cuts = _Cuts(lines)
    text = ast.unparse(ast.fix_missing_locations(cuts.visit(ast.parse(source)))) + "\n"
    leaves = (".requires_grad_(value.requires_grad)", "")
    return [_CUT % leaf + text for leaf in leaves] if cuts.found else []


def _storing(finding: dict[str, Any]) -> set[int]:
    """The lines of the statements that store what a finding is about: its own, and those of further carriers."""
    carried = {step["line"] for step in finding["trace"] if step["role"] == "carried"}
    return {finding["range"]["start"]["line"], *carried}


def told(source: str, report: dict[str, Any]) -> Callable[[Run], bool]:
    """Whether a run's growth is told by a finding of the report that is possible and of another outcome."""
    worse = {*RAISING, "silent"}
    others = [f for f in report["findings"] if f["outcome"] in worse and f["certainty"] != "certain"]

    def changed() -> Iterator[str]:
        for finding in others:
            for fix in finding["fixes"]:
                if fix["preferred"]:
                    yield adapter.apply_edits(source, fix["edits"])
        carrying = [f for f in others if f["code"] in ("LG101", "LG104")]
        yield from without_graph(source, {line for finding in carrying for line in _storing(finding)})

    @cache
    def runs() -> list[list[Run]]:
        return [observe(text) for text in dict.fromkeys(changed())]

    return lambda grown: any(
        (run.argv, run.seed) == (grown.argv, grown.seed) and run.outcome == "clean"
        for after in runs()
        for run in after
    )
