"""Going on after what fails: a statement that cannot be followed stands for something unknown.

Where every path of an entry point ends before a backward, something that the analysis does not know has failed
(a library's registry, a metaclass), for working code does not. :mod:`loopgrad.analysis.explore` runs it once more
with the failing statement *waived*: where it fails again, what it would have stored is unknown.
"""

from __future__ import annotations

import ast
from typing import Any

from ..runtime import Frame
from ..semantics.iteration import Source, unknown
from ..signals import Raised
from .nodes import BACKWARDS, has_attribute
from .scope import Scope
from .targets import target

#: What a statement answers that is not waived: the exception goes on.
NOT = object()


def failed(f: Frame, error: Raised, node: ast.stmt, scope: Scope) -> Any:
    """A statement raises: what is done instead where it is waived, else :data:`NOT` and the place is noted."""
    rt = f.rt
    if scope.file is not rt.shared.main or error.sure or not _can_be_waived(node):
        return NOT
    if id(node) in rt.waived:
        return _stand_in(f, node, scope)
    if error.place is None:
        error.place = node
    return NOT


def fetched(f: Frame, error: Raised, node: ast.stmt, site: Any) -> Source:
    """A loop's elements cannot be had: unknown ones where it is waived, else the exception goes on."""
    rt = f.rt
    if site.file is rt.shared.main and not error.sure:
        if id(node) in rt.waived:
            return unknown(rt, rt.fresh(site), site)
        if error.place is None:
            error.place = node
    raise error


def _can_be_waived(node: ast.stmt) -> bool:
    if isinstance(node, ast.If):
        return not has_attribute(node, BACKWARDS)
    return isinstance(
        node,
        (
            ast.Assign,
            ast.AnnAssign,
            ast.AugAssign,
            ast.Expr,
            ast.Return,
            ast.Import,
            ast.ImportFrom,
            ast.Delete,
        ),
    )


def _stand_in(f: Frame, node: ast.stmt, scope: Scope) -> Any:
    """What the statement would have stored is unknown."""
    site = scope.site(node)
    scope.stmt = node
    if isinstance(node, ast.Return):
        f.ret = f.rt.fresh(site)
        return "return"
    for each in _targets(node):
        target(each, scope)(f, f.rt.fresh(site))
    return None


def _targets(node: ast.stmt) -> list[Any]:
    if isinstance(node, ast.Assign):
        return node.targets
    if isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        return [node.target]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        names = [alias.asname or alias.name.split(".")[0] for alias in node.names if alias.name != "*"]
        return [ast.copy_location(ast.Name(name, ast.Store()), node) for name in names]
    return []
