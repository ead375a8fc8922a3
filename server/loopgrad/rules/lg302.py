"""LG302: a cut leaves an optimizer, or a group of it, without one parameter that a backward reaches."""

from __future__ import annotations

from functools import partial

from loopgrad.analysis.verdicts import Verdict
from loopgrad.model import Finding, Message

from .candidates import cuts
from .context import Context
from .story import finding

CODE = "LG302"


def read(verdict: Verdict, context: Context) -> Finding | None:
    seen = verdict.observation
    if seen.what != "cut-off":
        return None
    part = "optimizer" if seen.facts.get("group") is None else "group"
    what = Message.of(f"cut.{_kind(seen.facts.get('cut'))}", what=str(seen.facts.get("what") or ""))
    message = Message.of(f"LG302.{part}", what=what)
    return finding(CODE, verdict, context, message, requests=partial(cuts.requests, seen, context))


def _kind(kind: object) -> str:
    return (
        kind
        if isinstance(kind, str) and kind in ("detach", "no_grad", "item", "op", "numpy", "tensor")
        else "other"
    )
