"""LG203: an evaluation or inference loop stores outputs that carry a graph."""

from __future__ import annotations

from functools import partial

from loopgrad.analysis.verdicts import Verdict
from loopgrad.model import Finding, Message

from .candidates import growth
from .context import Context
from .growing import is_evaluation
from .story import finding
from .words import counted, names

CODE = "LG203"


def read(verdict: Verdict, context: Context) -> Finding | None:
    seen = verdict.observation
    if seen.what != "grows" or not is_evaluation(seen, context):
        return None
    carriers = [carrier.text for carrier in seen.carriers]
    args = {"names": names(carriers)} if carriers else {}
    said = Message.of(counted("LG203.grows", carriers), **args)
    message = said if seen.facts.get("training") else Message.of("LG203.eval", said=said)
    return finding(CODE, verdict, context, message, requests=partial(growth.evaluation, seen, context))
