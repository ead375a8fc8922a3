"""LG104: a backward reaches a graph whose saved tensors have been changed in place since."""

from __future__ import annotations

from functools import partial

from loopgrad.analysis.observation import Observation
from loopgrad.analysis.verdicts import Verdict
from loopgrad.analysis.where import Site
from loopgrad.model import Finding, Message

from .candidates import modified
from .context import Context
from .story import finding
from .words import change, counted, names

CODE = "LG104"


def read(verdict: Verdict, context: Context) -> Finding | None:
    seen = verdict.observation
    if seen.what != "modified":
        return None
    return finding(
        CODE, verdict, context, _message(seen, context), requests=partial(modified.requests, seen, context)
    )


def _message(seen: Observation, context: Context) -> Message:
    carriers = [carrier.text for carrier in seen.carriers]
    args: dict[str, object] = {"names": names(carriers)} if carriers else {}
    place = seen.facts.get("modified")
    key = "LG104.outside" if seen.facts.get("outside") else "LG104.within"
    if seen.facts.get("loop_run") and not seen.facts.get("outside"):
        key = "LG104.carried"
        args["now"] = seen.iteration or 2
    if not isinstance(place, Site):
        return Message.of(counted(f"{key}.somewhere", carriers), **args)
    args.update(what=change(str(seen.facts.get("what") or "")), line=context.line(place))
    return Message.of(counted(key, carriers), **args)
