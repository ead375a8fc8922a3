"""The second pass: which calls led to the statement that built the graph.

Watching costs little; noting at every statement the calls that led to it does not. So that is left to a second
run, with the same seeds, and only where a first one has seen a fault whose graph a function built that is called
from where the fault is: what stands in one function needs no telling.
What the script prints has been shown by the first run. A script that writes into its folder is not run again for
this, except in a copy.
"""

from __future__ import annotations

import ast
import threading
from dataclasses import replace

from .around import innermost
from .observe import Request, observe
from .verdict import CONFIRMED, Place, Verdict, judge

#: Parts of the watch that the second pass does without, where the fault is no growth.
NOT_NEEDED = ("training", "growth", "names")


def wants_details(verdict: Verdict, request: Request) -> bool:
    """Something was seen, there is more to say of it, and saying it changes nothing on the disk."""
    if verdict.verdict != CONFIRMED or verdict.built_at is None or request.nproc > 1:
        return False
    if verdict.first_write is not None and not request.scratch_copy:
        return False
    if verdict.seconds > request.timeout / 2:
        return False
    maker = _function(verdict.built_at)
    near = [verdict.raised_at, verdict.freed_at, *(at for _, at in verdict.carriers)]
    return maker is not None and all(_function(at) != maker for at in near if at is not None)


def add_details(verdict: Verdict, request: Request, cancel: threading.Event) -> None:
    """Runs again, and takes the calls over if that run shows the same fault at the same places."""
    without = () if verdict.outcome == "grows" else NOT_NEEDED
    left = max(1.0, request.timeout - verdict.seconds)
    again = replace(request, details=True, timeout=left, without=without)
    second = judge(observe(again, cancel=cancel), again)
    if _what(second) == _what(verdict):
        verdict.built_through = second.built_through


def _what(verdict: Verdict) -> tuple[object, ...]:
    return verdict.outcome, verdict.iteration, verdict.raised_at, verdict.freed_at, verdict.built_at


def _function(place: Place) -> tuple[str, int] | None:
    """The innermost function that a line stands in, as its place; None for a line of the module itself."""
    found = innermost(*place, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    return (place[0], found.lineno) if found is not None else None
