"""Exploring a program: its entry points, and the paths of each.

A run decides every condition that is both unknown and significant. Exploring flips those decisions, one
path at a time and breadth first, so that few flips come first; as long as every path ends before
a backward, in an exception that is none of the tape's, late decisions come in between. An observation is *certain* when every path
was run and each showed it, in the same iteration and at the same line, without a guess.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable
from typing import Any

from .bodies import Body
from .entries import Entry, entries_of, never_run
from .lower.nodes import BACKWARDS, has_attribute
from .paths import FewSteps, Path, flipped, lines_of, run_decided
from .reruns import drawn_otherwise, grows_each_time, grows_longer, replayed
from .runtime import Runtime
from .screening import worth_exploring
from .shared import FileRecord, Shared
from .verdicts import Analysis, Seen, Verdict, add, collect, key_of, reaching, without_lesser
from .where import Site

#: Paths of one entry point; steps after which no further path of it is begun; steps of a file.
MOST_PATHS = 64
ENOUGH_STEPS = 4_000
FILE_STEPS = 60_000
#: A long file has more to execute: so many steps a line, where that is more.
LINE_FILE_STEPS = 15
#: So many failing statements of an entry point are left out, for a backward to be reached.
MOST_WAIVED = 8
#: Paths of an entry point that is a guess of how its function is called: nothing it shows is certain.
GUESSED_PATHS = 16
#: Paths of what fails, and of a script, where no backward stands in its file and nothing is recorded.
IDLE_PATHS = 3
#: So many paths of an entry point are run with more steps.
MOST_LONGER = 4
#: The exceptions of a path on which an attribute or an argument was missing.
_MISSING = ("AttributeError", "TypeError")


def analyse(
    record: FileRecord, provider: Any = None, cell_of: Callable[[int], int] | None = None
) -> Analysis:
    """Analyse one file: its body as a script, then every function that nothing in it calls.

    ``cell_of`` gives a line's cell where the file is a notebook.
    """
    shared = Shared(record, provider)
    shared.cell_of = cell_of
    analysis = Analysis()
    waiting = entries_of(record)
    if record.watch is None and only_defines(shared, record):
        del waiting[0]
    late = screened = False
    #: Whether the script ends in an exception of the tape's, whatever is unknown: nothing that it leads to later runs.
    dead = False
    while waiting or not late and not dead:
        if not waiting:
            waiting, late = never_run(record, shared.ran), True
            continue
        if waiting[0].func is not None and not screened:
            screened = True
            if not has_attribute(record.tree, BACKWARDS):
                waiting = worth_exploring(shared, waiting, analysis)
                continue
        entry = waiting.pop(0)
        way = explore(shared, entry, analysis)
        dead = dead or entry.func is None and way.fatal
        if not way.ended and entry.func is not None and not entry.without_none:
            entry = Entry(entry.line, entry.func, entry.cls, without_none=True)
            way = explore(shared, entry, analysis)
        if way.place is not None and not way.reached and has_attribute(record.tree, BACKWARDS):
            go_on(shared, entry, analysis, way)
        if analysis.steps > max(FILE_STEPS, LINE_FILE_STEPS * lines_of(shared)):
            analysis.partial.append((record.path, entry.line, "steps"))
            break
    return analysis


def only_defines(shared: Shared, record: FileRecord) -> bool:
    """Whether a file's body need not be run. No file is opened to find that out."""

    def found(module: str, level: int) -> str | None:
        return shared.path_of(module, level, record)

    return Body(record.tree, found, shared.provider.is_checked if shared.provider else bool).only_defines()


class Way:
    """How far the paths of an entry point came."""

    __slots__ = ("assign", "ended", "fatal", "place", "reached")

    def __init__(self) -> None:
        #: Whether one came to its end, or to an exception that no missing attribute explains.
        self.ended = False
        #: Whether all ended in an exception of the tape's.
        self.fatal = True
        #: Whether one came to a backward.
        self.reached = False
        #: The statement that the first one that failed failed at, and what this path took for given.
        self.place: ast.stmt | None = None
        self.assign: dict[Any, bool] = {}


def go_on(shared: Shared, entry: Entry, analysis: Analysis, way: Way) -> None:
    """Run an entry point of which no path came to a backward without the statements that fail.

    Nothing that is seen then is certain.
    """
    waived: set[int] = set()
    place = way.place
    while place is not None and len(waived) < MOST_WAIVED and id(place) not in waived:
        waived.add(id(place))
        spent = Analysis()
        rt, _ = run_decided(shared, entry, spent, way.assign, waived=frozenset(waived))
        analysis.steps += rt.steps + spent.steps
        if rt.passes:
            guess = Entry(entry.line, entry.func, entry.cls, entry.without_none)
            guess.sure = False
            explore(shared, guess, analysis, rt.waived)
            return
        place = rt.place


def _trains(seen: Any) -> bool:
    """Whether a backward stands in the loop in which something grows, though no path has come to it."""
    site = seen.facts["loop_site"]
    return site.node is not None and has_attribute(site.node, BACKWARDS)


def explore(shared: Shared, entry: Entry, analysis: Analysis, waived: frozenset[int] = frozenset()) -> Way:
    """Run the paths of one entry point and judge what they saw together."""
    way = Way()
    queue: deque[Path] = deque([Path({}, [], -1)])
    seen: dict[tuple, Seen] = {}
    stored: list[dict[Site, Any]] = []
    complete = 0
    cut = open_loops = idle = False
    failing = True
    always: set[str] | None = None
    shown: set[tuple] = set()
    #: What grows on a path that came to all that happens every so many iterations.
    growing: set[tuple] = set()
    plain: Runtime | None = None
    unclear: list[FewSteps] = []
    unrolled: list[list[tuple[int, Any]]] = []
    training: set[int] = set()
    supposed = False
    most = MOST_PATHS if entry.sure else GUESSED_PATHS
    runs_backward = has_attribute(shared.main.tree, BACKWARDS)
    before = analysis.steps
    while queue and complete < most and (not complete or analysis.steps - before < ENOUGH_STEPS):
        assign = queue.popleft().assign()
        rt, whole = run_decided(shared, entry, analysis, assign, waived=waived)
        way.ended = way.ended or rt.failed not in _MISSING
        way.fatal = way.fatal and rt.fatal
        way.reached = way.reached or bool(rt.passes)
        if way.place is None and rt.place is not None:
            way.place, way.assign = rt.place, assign
        # A call that was cut short is a guess of what it would have done.
        cut = cut or not whole or any(reason == "depth" for _, _, reason in rt.partial)
        complete += 1
        plain = plain or rt
        if rt.unclear and not rt.failed and not rt.fatal:
            unclear.append(FewSteps(assign, rt.turns, rt.full))
        supposed = supposed or rt.supposed
        collect(rt, seen)
        if not rt.awaits():
            growing |= {key_of(observation) for observation in rt.seen if observation.what == "grows"}
        unrolled.append(rt.unrolled)
        training |= rt.training_loops
        if not rt.fatal:  # what raises before the loop has turned often enough shows no growth
            stored.append(rt.stored_at)
        open_loops = open_loops or rt.open_loops
        analysis.steps += rt.steps
        analysis.trained |= rt.trained
        if rt.passes or not rt.failed:
            always = rt.trained if always is None else always & rt.trained
        what = (rt.seq, len(rt.passes), *sorted({(o.what, o.outcome, o.site.key) for o in rt.seen}))
        if not entry.sure and what in shown:
            continue  # the flip that led here changed nothing, so it is not combined with others
        tries = IDLE_PATHS if rt.failed or entry.func is None else 1
        if not (rt.seq or rt.fatal or runs_backward) and complete >= tries:
            if not (entry.sure and shared.runs_backward()):
                idle = True  # nothing in it has to do with a tape
                break
        shown.add(what)
        flips = flipped(assign, rt.trace)
        if failing and rt.failed and not rt.passes:
            # Working code does not fail: what it needs is the other side of a late decision, or of an early one.
            queue.extend(flips[-1 - k // 2] if k % 2 == 0 else flips[k // 2] for k in range(len(flips)))
        elif failing:
            failing = False
            queue.extendleft(reversed(flips))
        else:
            queue.extend(flips)
        while len(queue) > MOST_PATHS:
            queue.pop()
        if not whole and complete >= 3:
            break
    analysis.paths += complete
    analysis.always |= always or set()
    for path in unrolled:
        # A loop that runs a backward on another path trains step by step: it unrolls no sequence for one behind it.
        late = [each for loop, each in path if loop in training or _trains(each)]
        add(late, seen)
        growing |= {key_of(observation) for observation in late}
    exhausted = not queue and not cut and not supposed
    agreed = {
        key
        for key, each in seen.items()
        if exhausted and each.times == complete and len(each.marks) == 1 and not each.guess
    }
    if agreed and open_loops:
        agreed = replayed(shared, entry, analysis, {key: seen[key] for key in agreed})
    for key, entry_seen in seen.items():
        first = entry_seen.first
        if entry_seen.guess >= 2:
            continue
        certain = key in agreed
        if first.what == "no-graph" and not entry.sure and "cut" not in first.facts:
            continue  # where the graph was lost is not known, so it may not be lost at all
        if first.what == "grows" and (entry_seen.guess or key not in growing):
            continue
        if first.what == "grows" and entry_seen.times * 4 < reaching(first, stored):
            continue
        analysis.verdicts.append(Verdict(first, certain and entry.sure))
    if plain is not None and not cut and not waived and not idle:
        analysis.verdicts += drawn_otherwise(shared, entry, analysis, plain)
        analysis.verdicts += grows_each_time(shared, entry, analysis, plain)
        analysis.verdicts += grows_longer(shared, entry, analysis, unclear[:MOST_LONGER])
    analysis.verdicts = without_lesser(analysis.verdicts)
    return way
