"""Which guesses of how a function is called have nothing to do with a tape: found in one run for many of them."""

from __future__ import annotations

from .entries import Entry, call_entry, defined
from .paths import path_steps
from .runtime import Runtime
from .shared import Shared
from .signals import Budget, Ended, Raised, Stale
from .verdicts import Analysis

#: So often it begins anew where a call asks what a merge of branches has left open.
MOST_ANEW = 4


def worth_exploring(shared: Shared, entries: list[Entry], analysis: Analysis) -> list[Entry]:
    """The functions that record or fail when they are called with unknown arguments, of a file without a backward.

    They are called one after the other in a run, so that the definitions around them are executed once. What records
    nothing in its first call is not explored.
    """
    found: list[Entry] = []
    waiting = list(entries)
    for _ in range(MOST_ANEW):
        rt = Runtime(shared, {}, path_steps(shared))
        anew = False
        try:
            _call_each(rt, waiting, found)
        except Stale:
            anew = True
        except (Budget, Raised, Ended):
            pass
        finally:
            rt.give_back()
            rt.untie()
        analysis.steps += rt.steps
        if not anew:
            break
    return [*found, *waiting]


def _call_each(rt: Runtime, waiting: list[Entry], failed: list[Entry]) -> None:
    """Calls those that wait, and takes out those that recorded nothing; ends at the first that does."""
    module = defined(rt, waiting)
    while waiting and not _told(rt):
        rt.limit = rt.steps + path_steps(rt.shared)
        entry = waiting[0]
        try:
            call_entry(rt, entry, module)
        except Raised:
            if not _told(rt):
                failed.append(entry)
        if not _told(rt):
            waiting.pop(0)


def _told(rt: Runtime) -> bool:
    return bool(rt.seq or rt.seen or rt.passes)
