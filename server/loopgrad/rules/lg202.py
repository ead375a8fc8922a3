"""LG202: ``retain_graph=True`` that nothing needs, or that covers a graph walked again by later iterations."""

from __future__ import annotations

import ast
from functools import partial

from loopgrad.analysis.verdicts import Verdict
from loopgrad.model import Finding, Message

from .candidates import retain
from .context import Context
from .story import finding, moment

CODE = "LG202"


def read(verdict: Verdict, context: Context) -> Finding | None:
    seen = verdict.observation
    if seen.what != "retain":
        return None
    hides = bool(seen.facts.get("hides"))
    call = retain.backward_call(seen.site, context)
    argument = retain.argument(call)
    if argument is None and not (isinstance(seen.site.node, ast.Call) and len(seen.site.node.args) > 1):
        return None  # it comes from elsewhere: `loss.backward(**options)`
    path = context.path(seen.site)
    at = context.node_range(path, argument) if isinstance(argument, ast.keyword) else None
    message = Message.of("LG202.hides" if hides else "LG202.unneeded")
    trace = [moment("retained", "retained-unneeded", seen.site, context)]
    requests = partial(retain.requests, seen, context)
    return finding(CODE, verdict, context, message, requests=requests, at=at, trace=trace)
