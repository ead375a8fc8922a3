"""LG101: a value built in one iteration is reached by a later iteration's backward.

The engine has followed the value from the statement that stores it to the backward that walks into its old
graph. What is left to say is which variables carry it, and from which iteration into which.
"""

from __future__ import annotations

from functools import partial

from loopgrad.analysis.observation import Observation
from loopgrad.analysis.verdicts import Verdict
from loopgrad.model import Finding, Message

from .candidates import carried
from .context import Context
from .story import finding
from .words import counted, names

CODE = "LG101"


def read(verdict: Verdict, context: Context) -> Finding | None:
    seen = verdict.observation
    if seen.what != "carried":
        return None
    # What a layer keeps is cut where a sequence begins, by the library's own reset: no edit at the layer's call is right.
    by_layer = any(carrier.kind == "layer" for carrier in seen.carriers)
    requests = None if by_layer else partial(carried.requests, seen, context)
    return finding(CODE, verdict, context, _message(seen, context), requests=requests)


def _message(seen: Observation, context: Context) -> Message:
    carriers = [carrier.text for carrier in seen.carriers]
    # The loop counts where it is the one that carries: a method that is called again and again has none.
    in_loop = seen.iteration is not None and not seen.facts.get("implicit")
    key = f"LG101.{seen.outcome}" + ("" if in_loop else ".calls")
    # Between iterations: the one before, unless the story says an earlier one.
    now = seen.iteration or 2
    start = next((step.iteration for step in seen.steps if step.role == "built"), None) or now - 1
    start = start if start < now else now - 1
    args = {"names": names(carriers), "now": now, "then": start} if in_loop else {"names": names(carriers)}
    if not carriers:
        args.pop("names")
    return Message.of(counted(key, carriers), **args)
