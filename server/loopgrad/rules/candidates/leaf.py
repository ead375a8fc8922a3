"""For a leaf that is changed in place: the change under ``no_grad``."""

from __future__ import annotations

import ast

from loopgrad.analysis.observation import Observation
from loopgrad.model import FixRequest, Message

from ..context import Context
from . import nograd
from .edits import File, distinct, request


def _changes_only(statement: ast.stmt) -> bool:
    """Whether a statement does nothing but the change: what it computes besides would lose its graph."""
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Subscript) for target in statement.targets)
    return isinstance(statement, (ast.AugAssign, ast.Expr))


def requests(seen: Observation, context: Context) -> list[FixRequest]:
    file = File(context, context.path(seen.site))
    statement = file.tree.statement(seen.site.node)
    if statement is None or not _changes_only(statement):
        return []
    wrapped = nograd.wrap_all([(file, statement)])
    title = Message.of("fix.no_grad.change")
    found = request("no_grad", title, wrapped)
    if file.tree.function(seen.site.node) is not None:
        name = getattr(file.tree.function(seen.site.node), "name", "")
        decorated = nograd.decorate(seen.site, context)
        found += request("no_grad", Message.of("fix.no_grad.function", name=name), decorated)
    return distinct(found)
