"""What the paths of an entry point saw, put together: an observation, how often it was made, its certainty."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .observation import Observation
from .runtime import Runtime
from .where import Site


class Seen:
    """An observation over all paths of an entry: how often it was made, and whether it was the same."""

    __slots__ = ("first", "guess", "marks", "times")

    def __init__(self, first: Observation) -> None:
        self.first = first
        self.times = 0
        self.guess = 0
        self.marks: set[tuple] = set()


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


def collect(rt: Runtime, seen: dict[tuple, Seen]) -> None:
    """Add what one path saw to what all paths of its entry point did."""
    add(rt.seen, seen)


def key_of(observation: Observation) -> tuple:
    """What tells one observation from others, on all paths."""
    return (observation.what, observation.outcome, observation.site.key)


def add(observations: Iterable[Observation], seen: dict[tuple, Seen]) -> None:
    """Add observations of one path."""
    once: set[tuple] = set()
    for observation in observations:
        key = key_of(observation)
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


def reaching(grown: Observation, stored: list[dict[Site, Any]]) -> int:
    """The number of paths that store what grows: where a condition leaves the store out, nothing is said of it."""
    carriers = grown.carriers
    return sum(carriers[0].site in sites for sites in stored) if carriers else len(stored)


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
