"""LG201: a sum, a container, an attribute or a moving average keeps the graphs of all iterations alive."""

from __future__ import annotations

from functools import partial

from loopgrad.analysis.verdicts import Verdict
from loopgrad.model import Finding, Message

from .candidates import growth
from .context import Context
from .growing import is_evaluation, weight
from .story import finding
from .words import counted, names

CODE = "LG201"


def read(verdict: Verdict, context: Context) -> Finding | None:
    seen = verdict.observation
    if seen.what != "grows" or is_evaluation(seen, context):
        return None
    carriers = [carrier.text for carrier in seen.carriers]
    args: dict[str, object] = {"weight": weight(seen)}
    if carriers:
        args["names"] = names(carriers)
    key = counted("LG201.grows", carriers)
    if seen.facts.get("gradient"):
        key = "LG201.circle" if seen.facts.get("circle") else "LG201.gradient"
    message = Message.of(key, **args)
    return finding(CODE, verdict, context, message, requests=partial(growth.training, seen, context))
