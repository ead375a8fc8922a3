"""LG301: a backward on a value that has no graph; what cut it is the line to change."""

from __future__ import annotations

from functools import partial

from loopgrad.analysis.observation import Observation
from loopgrad.analysis.verdicts import Verdict
from loopgrad.model import Finding, Message

from .candidates import cuts
from .context import Context
from .story import finding

CODE = "LG301"

#: What a cut is called in the message: the engine's kinds that have a sentence of their own.
KINDS = frozenset({"detach", "no_grad", "item", "op", "numpy", "tensor", "frozen"})


def read(verdict: Verdict, context: Context) -> Finding | None:
    seen = verdict.observation
    if seen.what != "no-graph":
        return None
    return finding(
        CODE, verdict, context, _message(seen, context), requests=partial(cuts.requests, seen, context)
    )


def _message(seen: Observation, context: Context) -> Message:
    kind = seen.facts.get("cut")
    raised = context.line(seen.raised or seen.site)
    if kind not in KINDS:
        return Message.of("LG301.unknown")
    return Message.of(f"LG301.{kind}", what=str(seen.facts.get("what") or ""), raised=raised)
