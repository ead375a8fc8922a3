"""``retain_graph=True`` taken away."""

from __future__ import annotations

import ast

from loopgrad.analysis.observation import Observation
from loopgrad.analysis.where import Site
from loopgrad.model import FixRequest, Message, Step

from ..context import Context
from ..syntax import calls_in

ARGUMENT = "retain_graph"


def backward_call(site: Site, context: Context) -> ast.Call | None:
    """The call at a site that has the argument: the site itself, or a call in its statement."""
    if isinstance(site.node, ast.Call) and argument(site.node) is not None:
        return site.node
    calls = [call for call in calls_in(site.stmt or site.node) if argument(call) is not None]
    return calls[0] if calls else None


def argument(call: ast.Call | None) -> ast.AST | None:
    """The argument itself: by name, or the second one of ``loss.backward(gradient, True)``."""
    if call is None:
        return None
    return next((keyword for keyword in call.keywords if keyword.arg == ARGUMENT), None)


def step(site: Site, context: Context) -> Step | None:
    call = backward_call(site, context)
    found = argument(call)
    if call is None or found is None:
        return None
    path = context.path(site)
    return Step(
        "delete_argument", path, context.node_range(path, found), other=context.node_range(path, call)
    )


def requests(seen: Observation, context: Context) -> list[FixRequest]:
    removed = step(seen.site, context)
    if removed is None:
        return []
    return [FixRequest("remove-retain-graph", Message.of("fix.remove-retain-graph"), (removed,))]
