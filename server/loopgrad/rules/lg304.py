"""LG304: a loss without a graph is made a leaf, so that its backward trains nothing and says nothing."""

from __future__ import annotations

from functools import partial

from loopgrad.analysis.verdicts import Verdict
from loopgrad.model import Finding, Message

from .candidates import cuts
from .context import Context
from .story import finding
from .syntax import value_name
from .words import counted, names

CODE = "LG304"


def read(verdict: Verdict, context: Context) -> Finding | None:
    seen = verdict.observation
    if seen.what != "made-leaf":
        return None
    statement = seen.site.stmt
    name = value_name(statement).removesuffix(".requires_grad")
    carriers = [name] if name else []
    args = {"names": names(carriers)} if carriers else {}
    message = Message.of(counted("LG304.leaf", carriers), **args)
    at = context.node_range(context.path(seen.site), statement)
    requests = partial(cuts.loss_requests, seen, context)
    return finding(CODE, verdict, context, message, requests=requests, at=at, carriers=carriers)
