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

from . import finish
from .bodies import Body
from .decisions import Decision
from .entries import Entry, entries_of, never_run, run_entry
from .lower.nodes import BACKWARDS, has_attribute
from .lower.trips import LONGER
from .observation import Observation
from .recurring import other_sides
from .runtime import Runtime
from .shared import FileRecord, Shared
from .signals import Budget, Ended, Raised, Stale

#: Paths of one entry point; steps after which no further path of it is begun; steps of one path and of a file.
MOST_PATHS = 64
ENOUGH_STEPS = 4_000
MOST_STEPS = 15_000
FILE_STEPS = 60_000
#: A long file has more to execute: so many steps a line, of one path and of the file, where that is more.
LINE_STEPS = 5
LINE_FILE_STEPS = 15


#: So many failing statements of an entry point are left out, for a backward to be reached.
MOST_WAIVED = 8

#: Paths of an entry point that is a guess of how its function is called: nothing it shows is certain.
GUESSED_PATHS = 16

#: So many paths of an entry point are run with more steps.
MOST_LONGER = 4

#: The exceptions of a path on which an attribute or an argument was missing.
_MISSING = ("AttributeError", "TypeError")


class Seen:
    """An observation over all paths of an entry: how often it was made, and whether it was the same."""

    __slots__ = ("first", "guess", "marks", "times")

    def __init__(self, first: Observation) -> None:
        self.first = first
        self.times = 0
        self.guess = 0
        self.marks: set[tuple] = set()


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


class Verdict:
    """An observation with its certainty."""

    __slots__ = ("certain", "observation")

    def __init__(self, observation: Observation, certain: bool) -> None:
        self.observation = observation
        self.certain = certain


class Analysis:
    """What one file's analysis gave, before any rule speaks."""

    __slots__ = ("always", "fails", "partial", "paths", "steps", "trained", "verdicts")

    def __init__(self) -> None:
        self.verdicts: list[Verdict] = []
        self.partial: list[tuple[str, int, str]] = []
        #: The parameters that are trained: on some path, and on every path of the entry point.
        self.trained: set[str] = set()
        self.always: set[str] = set()
        #: The kinds of exceptions, other than those of the tape, that ended a path.
        self.fails: set[str] = set()
        self.steps = 0
        self.paths = 0


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
    late = False
    #: Whether the script ends in an exception of the tape's, whatever is unknown: nothing that it leads to later runs.
    dead = False
    while waiting or not late and not dead:
        if not waiting:
            waiting, late = never_run(record, shared.ran), True
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


def path_steps(shared: Shared) -> int:
    """The steps of one path."""
    return max(MOST_STEPS, LINE_STEPS * lines_of(shared))


def lines_of(shared: Shared) -> int:
    """The length of the file that is analysed."""
    return max((statement.end_lineno or 0 for statement in shared.main.tree.body), default=0)


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


def explore(shared: Shared, entry: Entry, analysis: Analysis, waived: frozenset[int] = frozenset()) -> Way:
    """Run the paths of one entry point and judge what they saw together."""
    way = Way()
    queue: deque[Path] = deque([Path({}, [], -1)])
    seen: dict[tuple, Seen] = {}
    stored: list[set[Any]] = []
    complete = 0
    cut = open_loops = False
    failing = True
    always: set[str] | None = None
    shown: set[tuple] = set()
    plain: Runtime | None = None
    unclear: list[dict[Any, bool]] = []
    supposed = False
    most = MOST_PATHS if entry.sure else GUESSED_PATHS
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
            unclear.append(assign)
        supposed = supposed or rt.supposed
        collect(rt, seen)
        stored.append(rt.stored_at)
        open_loops = open_loops or rt.open_loops
        analysis.steps += rt.steps
        trained = finish.trained_names(rt)
        analysis.trained |= trained
        if rt.passes or not rt.failed:
            always = trained if always is None else always & trained
        what = (rt.seq, len(rt.passes), *sorted({(o.what, o.outcome, o.site.key) for o in rt.seen}))
        if not entry.sure and what in shown:
            continue  # the flip that led here changed nothing, so it is not combined with others
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
        if first.what == "grows" and entry_seen.guess:
            continue
        if first.what == "grows" and entry_seen.times * 2 < reaching(first, stored):
            continue
        analysis.verdicts.append(Verdict(first, certain and entry.sure))
    if plain is not None and not cut and not waived:
        analysis.verdicts += grows_each_time(shared, entry, analysis, plain)
        analysis.verdicts += grows_longer(shared, entry, analysis, unclear[:MOST_LONGER])
    analysis.verdicts = without_lesser(analysis.verdicts)
    return way


def reaching(grown: Observation, stored: list[set[Any]]) -> int:
    """The number of paths that store what grows: where a condition leaves the store out, nothing is said of it."""
    carriers = grown.carriers
    return sum(carriers[0].site in sites for sites in stored) if carriers else len(stored)


def grows_each_time(shared: Shared, entry: Entry, analysis: Analysis, plain: Runtime) -> list[Verdict]:
    """What grows where a condition on the data of each iteration (``if mask.any():``) takes its other side each time.

    One flip is one iteration of another kind, in which nothing grows yet. Where the other side is without the
    backward of the ``plain`` run, what waits for that backward is no growth.
    """
    known = {v.observation.site.key for v in analysis.verdicts}
    found: dict[Any, Verdict] = {}
    for site, side in other_sides(plain.trace):
        rt = Runtime(shared, {}, path_steps(shared))
        rt.each_time[site] = side
        run_path(rt, entry, Analysis())
        analysis.steps += rt.steps
        if len(rt.passes) < len(plain.passes):
            continue
        for each in rt.seen:
            if each.what == "grows" and not each.guess and each.site.key not in known:
                found.setdefault(each.site.key, Verdict(each, False))
    return list(found.values())


def grows_longer(
    shared: Shared, entry: Entry, analysis: Analysis, unclear: list[dict[Any, bool]]
) -> list[Verdict]:
    """What grows where the loops run twice as often as the program's few steps: what is kept now and then."""
    known = {v.observation.site.key for v in analysis.verdicts}
    found: dict[Any, Verdict] = {}
    for assign in unclear:
        rt, whole = run_decided(shared, entry, Analysis(), assign, times=LONGER)
        analysis.steps += rt.steps
        if not whole or rt.failed or rt.fatal:
            continue
        for each in rt.seen:
            if each.what == "grows" and not each.guess and each.site.key not in known:
                found.setdefault(each.site.key, Verdict(each, False))
    return list(found.values())


def replayed(shared: Shared, entry: Entry, analysis: Analysis, claims: dict[tuple, Seen]) -> set[tuple]:
    """Which claims hold as well where the loops of unknown length run once more: what hangs on how long a
    sequence happens to be is not certain."""
    rt, _ = run_decided(shared, entry, analysis, {}, longer=1)
    analysis.steps += rt.steps
    again: dict[tuple, Seen] = {}
    collect(rt, again)
    return {key for key, claim in claims.items() if key in again and again[key].marks == claim.marks}


def flipped(assign: dict[Any, bool], trace: list[Decision]) -> list[Path]:
    """The paths that take the other side of one decision of a path."""
    return [Path(assign, trace, k) for k, decision in enumerate(trace) if decision.flip]


def without_lesser(verdicts: list[Verdict]) -> list[Verdict]:
    """One finding a cause: an exception before the silent passes that lead up to it, these before the same growth."""

    def place(verdict: Verdict) -> tuple:
        return (verdict.observation.what, verdict.observation.site.key)

    raising = {
        place(v) for v in verdicts if v.observation.raised is not None and v.observation.outcome != "silent"
    }
    kept = [v for v in verdicts if v.observation.outcome != "silent" or place(v) not in raising]

    def stores(verdict: Verdict) -> set[tuple]:
        carriers = verdict.observation.carriers
        return {verdict.observation.site.key, *(carrier.site.key for carrier in carriers)}

    silent = set().union(*(stores(v) for v in kept if v.observation.outcome == "silent"))
    return [v for v in kept if v.observation.what != "grows" or not stores(v) & silent]


def run_decided(
    shared: Shared,
    entry: Entry,
    analysis: Analysis,
    assign: dict[Any, bool],
    longer: int = 0,
    limit: int | None = None,
    waived: frozenset[int] = frozenset(),
    times: int = 1,
) -> tuple[Runtime, bool]:
    """Run one path, anew as long as it asks what a merge of branches has left open; each time one more is decided."""
    most = limit if limit is not None else path_steps(shared)
    while True:
        rt = Runtime(shared, assign, most)
        rt.longer, rt.waived, rt.times = longer, waived, times
        whole = run_path(rt, entry, analysis)
        if not rt.stale:
            return rt, whole
        analysis.steps += rt.steps


def run_path(rt: Runtime, entry: Entry, analysis: Analysis) -> bool:
    """Run one path; False where its budget ended first, or it is ``stale`` and to be run anew."""
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
    return whole


def collect(rt: Runtime, seen: dict[tuple, Seen]) -> None:
    once: set[tuple] = set()
    for observation in rt.seen:
        key = (observation.what, observation.outcome, observation.site.key)
        if key in once:
            continue
        once.add(key)
        entry = seen.get(key)
        if entry is None:
            entry = seen[key] = Seen(observation)
        else:
            _also_reached(entry.first, observation)
        entry.times += 1
        entry.guess = max(entry.guess, observation.guess)
        entry.marks.add(
            (
                observation.iteration,
                observation.loop.line if observation.loop is not None else None,
                observation.raised.line if observation.raised is not None else None,
            )
        )


def _also_reached(first: Observation, again: Observation) -> None:
    """Tell where another path reaches what the first one found: one cause that raises in two places."""
    told = {step.site.key for step in first.steps if step.role == "reached"}
    first.steps += [step for step in again.steps if step.role == "reached" and step.site.key not in told]
