"""LG102: a graph is built once, and every iteration's backward walks it.

The place that counts is the expression that builds it. Where a network in ``eval()`` builds it, the message
says what ``eval()`` does not do, because that is what is usually believed of it.
"""

from __future__ import annotations

import ast
from functools import partial

from loopgrad.analysis.observation import Observation
from loopgrad.analysis.verdicts import Verdict
from loopgrad.analysis.where import Site
from loopgrad.model import Finding, Message

from .candidates import outside
from .context import Context
from .story import finding
from .syntax import targets_of
from .words import counted, names

CODE = "LG102"


def read(verdict: Verdict, context: Context) -> Finding | None:
    seen = verdict.observation
    if seen.what != "outside":
        return None
    carriers = [carrier.text for carrier in seen.carriers] or built_names(seen.site)
    message = _message(seen, carriers, context)
    return finding(
        CODE, verdict, context, message, requests=partial(outside.requests, seen, context), carriers=carriers
    )


def built_names(site: Site) -> list[str]:
    """What the statement that builds the graph assigns it to."""
    return [ast.unparse(target) for target in targets_of(site.stmt)] if site.stmt is not None else []


def _message(seen: Observation, carriers: list[str], context: Context) -> Message:
    args: dict[str, object] = {}
    if carriers:
        args["names"] = names(carriers)
    key = "LG102.second-backward" if seen.outcome != "silent" else "LG102.silent"
    if seen.loop is None or seen.facts.get("implicit"):
        key += ".calls"
    else:
        args["loop"] = context.line(seen.loop)
    said = Message.of(counted(key, carriers), **args)
    if seen.facts.get("evaluating"):
        return Message.of("LG102.eval", said=said)
    return said
