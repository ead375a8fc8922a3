"""LG401: ``requires_grad_()`` on a value that nothing optimises and whose gradient nobody reads."""

from __future__ import annotations

from functools import partial

from loopgrad.analysis.explore import Verdict
from loopgrad.model import Finding, Message

from .candidates import single
from .context import Context
from .story import finding
from .syntax import value_name
from .words import counted, names

CODE = "LG401"


def read(verdict: Verdict, context: Context) -> Finding | None:
    seen = verdict.observation
    if seen.what != "stray":
        return None
    name = value_name(seen.site.stmt)
    carriers = [name] if name else []
    args = {"names": names(carriers)} if carriers else {}
    key = "LG401.has-graph" if seen.facts.get("graph") else "LG401.stray"
    message = Message.of(counted(key, carriers), **args)
    requests = partial(single.stray, seen, context)
    return finding(CODE, verdict, context, message, requests=requests, carriers=carriers, trace=())
