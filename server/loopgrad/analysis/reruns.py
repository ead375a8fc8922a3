"""Runs beside the paths: conditions that go the other way each time, more iterations."""

from __future__ import annotations

from typing import Any

from .entries import Entry
from .lower.trips import LONGER
from .paths import FewSteps, path_steps, run_decided, run_path
from .recurring import other_sides
from .runtime import Runtime
from .shared import Shared
from .verdicts import Analysis, Seen, Verdict, collect


def grows_each_time(shared: Shared, entry: Entry, analysis: Analysis, plain: Runtime) -> list[Verdict]:
    """What grows where a condition on the data of each iteration (``if mask.any():``) takes its other side each time.

    One flip is one iteration of another kind, in which nothing grows yet. Where the other side is without the
    backward of the ``plain`` run, what waits for that backward is no growth.
    """
    runs: list[Runtime] = []
    for site, side in other_sides(plain.trace):
        rt = Runtime(shared, {}, path_steps(shared))
        rt.each_time[site] = side
        run_path(rt, entry, Analysis())
        analysis.steps += rt.steps
        if len(rt.passes) >= len(plain.passes):
            runs.append(rt)
    return _grown(runs, analysis)


def grows_longer(shared: Shared, entry: Entry, analysis: Analysis, unclear: list[FewSteps]) -> list[Verdict]:
    """What grows where the loops run twice as often as the program's few steps: what is kept now and then."""
    runs: list[Runtime] = []
    for few in unclear:
        rt, whole = run_decided(shared, entry, Analysis(), few.assign, times=LONGER, few=few)
        analysis.steps += rt.steps
        if rt.unclear and any(n > few.full.get(place, (0, 0))[0] for place, (n, _) in rt.full.items()):
            further = FewSteps(few.assign, rt.turns, rt.full)
            rt, whole = run_decided(shared, entry, Analysis(), few.assign, times=2 * LONGER, few=further)
            analysis.steps += rt.steps
        if whole and not rt.failed and not rt.fatal:
            runs.append(rt)
    return _grown(runs, analysis)


def drawn_otherwise(shared: Shared, entry: Entry, analysis: Analysis, plain: Runtime) -> list[Verdict]:
    """What raises where chance draws other elements than in the ``plain`` run. It is possible, as all that is drawn."""
    found: dict[Any, Verdict] = {}
    told = {(v.observation.outcome, v.observation.key) for v in analysis.verdicts}
    for newest in ((False, True), (False, False)) if plain.draws else ():
        rt = Runtime(shared, {}, path_steps(shared))
        rt.newest = newest
        run_path(rt, entry, Analysis())
        analysis.steps += rt.steps
        for seen in rt.seen:
            mark = (seen.outcome, seen.key)
            if seen.raised is not None and seen.guess == 1 and mark not in told:
                found.setdefault(mark, Verdict(seen, False))
    return list(found.values())


def _grown(runs: list[Runtime], analysis: Analysis) -> list[Verdict]:
    """What grows in these runs and was not told yet. It is possible: they are no paths of the program as it stands."""
    known = {v.observation.site.key for v in analysis.verdicts}
    found: dict[Any, Verdict] = {}
    for seen in (each for rt in runs if not rt.awaits() for each in rt.seen):
        if seen.what == "grows" and not seen.guess and seen.site.key not in known:
            found.setdefault(seen.site.key, Verdict(seen, False))
    return list(found.values())


def replayed(shared: Shared, entry: Entry, analysis: Analysis, claims: dict[tuple, Seen]) -> set[tuple]:
    """Which claims hold as well where the loops of unknown length run once more: what hangs on how long a
    sequence happens to be is not certain."""
    rt, _ = run_decided(shared, entry, analysis, {}, longer=1)
    analysis.steps += rt.steps
    again: dict[tuple, Seen] = {}
    collect(rt, again)
    return {key for key, claim in claims.items() if key in again and again[key].marks == claim.marks}
