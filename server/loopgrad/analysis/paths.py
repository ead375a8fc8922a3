"""Running one path of an entry point: what it takes for given, its budget, and how it ends."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import finish
from .decisions import Decision
from .entries import Entry, run_entry
from .runtime import Runtime
from .shared import Shared
from .signals import Budget, Ended, Raised, Stale
from .verdicts import Analysis

#: The steps of one path. A long file has more to execute: so many a line, where that is more.
MOST_STEPS = 15_000
LINE_STEPS = 5


class Path:
    """A path to run: what another one assumed and decided up to decision ``k``, and the other side of that one."""

    __slots__ = ("base", "k", "trace")

    def __init__(self, base: dict[Any, bool], trace: list[Decision], k: int) -> None:
        self.base = base
        self.trace = trace
        self.k = k

    def assign(self) -> dict[Any, bool]:
        """The conditions that it takes for given."""
        found = dict(self.base)
        if self.k >= 0:
            found.update((decision.key, decision.choice) for decision in self.trace[: self.k])
            flipped = self.trace[self.k]
            found[flipped.key] = not flipped.choice
        return found


def flipped(assign: dict[Any, bool], trace: list[Decision]) -> list[Path]:
    """The paths that take the other side of one decision of a path."""
    return [Path(assign, trace, k) for k, decision in enumerate(trace) if decision.flip]


def path_steps(shared: Shared) -> int:
    """The steps of one path."""
    return max(MOST_STEPS, LINE_STEPS * lines_of(shared))


def lines_of(shared: Shared) -> int:
    """The length of the file that is analysed."""
    return max((statement.end_lineno or 0 for statement in shared.main.tree.body), default=0)


class FewSteps(NamedTuple):
    """What a path with the program's few steps showed that only more of them tell from growth: how its conditions were
    decided, the limits that its counters came to, and how many iterations' graphs its places held, up to which iteration of their loops."""

    assign: dict[Any, bool]
    limits: dict[tuple[str, int], int]
    full: dict[Any, tuple[int, int]]


def run_decided(
    shared: Shared,
    entry: Entry,
    analysis: Analysis,
    assign: dict[Any, bool],
    longer: int = 0,
    limit: int | None = None,
    waived: frozenset[int] = frozenset(),
    times: int = 1,
    few: FewSteps | None = None,
) -> tuple[Runtime, bool]:
    """Run one path, anew as long as it asks what a merge of branches has left open; each time one more is decided."""
    most = limit if limit is not None else path_steps(shared)
    while True:
        rt = Runtime(shared, assign, most)
        rt.longer, rt.waived, rt.times = longer, waived, times
        rt.limits = rt.turns if few is None else few.limits
        rt.fewer = {} if few is None else few.full
        whole = run_path(rt, entry, analysis)
        if not rt.stale:
            return rt, whole
        analysis.steps += rt.steps


def run_path(rt: Runtime, entry: Entry, analysis: Analysis) -> bool:
    """Run one path; False where its budget ended first, or it is ``stale`` and to be run anew."""
    try:
        return _run_path(rt, entry, analysis)
    finally:
        rt.untie()


def _run_path(rt: Runtime, entry: Entry, analysis: Analysis) -> bool:
    whole = True
    try:
        run_entry(rt, entry)
    except Stale:
        rt.stale = True
        return False
    except Raised as error:
        observation = getattr(error, "observation", None)
        if observation is None and error.value is not None:
            observation = (getattr(error.value, "attrs", None) or {}).get("__observation__")
        if observation is not None:
            rt.seen.append(observation)
            rt.fatal = True
        else:
            if error.kind != "AssertionError":  # what a fix changes may be just what is asserted
                analysis.fails.add(error.kind)
            rt.failed, rt.place = error.kind, error.place
    except Ended:
        pass
    except Budget as spent:
        whole = False
        note = (rt.shared.main.path, spent.line, spent.reason)
        if note not in analysis.partial:
            analysis.partial.append(note)
    for note in rt.partial:
        if note not in analysis.partial and note[2] != "import":
            analysis.partial.append(note)
    finish.finish(rt)
    rt.trained = finish.trained_names(rt)
    return whole
