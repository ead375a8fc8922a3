"""LG204 (off by default): an evaluation pass records a graph that nothing uses or keeps."""

from __future__ import annotations

from functools import partial

from loopgrad.analysis.verdicts import Verdict
from loopgrad.model import Finding, Message

from .candidates import growth
from .context import Context
from .story import finding

CODE = "LG204"


def read(verdict: Verdict, context: Context) -> Finding | None:
    seen = verdict.observation
    if seen.what != "eval-records":
        return None
    requests = partial(growth.recording, seen, context)
    return finding(CODE, verdict, context, Message.of("LG204.records"), requests=requests)
