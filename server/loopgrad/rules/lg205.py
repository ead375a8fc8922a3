"""LG205 (off by default): running a notebook cell a second time walks a graph that the first run has freed.

No edit is asked for: cells can be joined in more than one way.
"""

from __future__ import annotations

from loopgrad.analysis.verdicts import Verdict
from loopgrad.model import Finding, Message

from .context import Context
from .story import finding

CODE = "LG205"


def read(verdict: Verdict, context: Context) -> Finding | None:
    if verdict.observation.what != "rerun":
        return None
    return finding(CODE, verdict, context, Message.of("LG205.rerun"))
