"""LG402: a statement ``x.detach()`` whose result is dropped: it cuts nothing."""

from __future__ import annotations

from functools import partial

from loopgrad.analysis.verdicts import Verdict
from loopgrad.model import Finding, Message

from .candidates import single
from .context import Context
from .story import finding
from .syntax import value_name
from .words import counted, names

CODE = "LG402"


def read(verdict: Verdict, context: Context) -> Finding | None:
    seen = verdict.observation
    if seen.what != "dropped":
        return None
    name = value_name(seen.site.node)
    carriers = [name] if name else []
    args = {"names": names(carriers)} if carriers else {}
    key = "LG402.keeps" if seen.facts.get("graph", True) else "LG402.nothing"
    message = Message.of(counted(key, carriers), **args)
    requests = partial(single.dropped, seen, context)
    return finding(CODE, verdict, context, message, requests=requests, carriers=carriers)
