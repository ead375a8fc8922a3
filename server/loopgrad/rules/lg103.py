"""LG103: two backward calls of one pass share a part of their graphs."""

from __future__ import annotations

from functools import partial

from loopgrad.analysis.observation import Observation
from loopgrad.analysis.verdicts import Verdict
from loopgrad.analysis.where import Site
from loopgrad.model import Finding, Message

from .candidates import shared
from .context import Context
from .story import finding
from .words import counted, names

CODE = "LG103"


def read(verdict: Verdict, context: Context) -> Finding | None:
    seen = verdict.observation
    if seen.what != "shared":
        return None
    return finding(
        CODE, verdict, context, _message(seen, context), requests=partial(shared.requests, seen, context)
    )


def _message(seen: Observation, context: Context) -> Message:
    carriers = [carrier.text for carrier in seen.carriers][:1]
    args: dict[str, object] = {"names": names(carriers)} if carriers else {}
    freed, raised = seen.facts.get("freed"), seen.raised
    if seen.facts.get("root"):
        return Message.of(counted("LG103.again", carriers), **args)
    if not isinstance(freed, Site) or raised is None or freed.key == raised.key:
        return Message.of(counted("LG103.same-line", carriers), **args)
    args.update(first=context.line(freed), second=context.line(raised))
    return Message.of(counted("LG103.two", carriers), **args)
