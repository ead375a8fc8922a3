"""Checking many files, in several processes if that pays.

Results come in the order of the inputs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from loopgrad.checker import Checker, FileOutcome, Outcome, merge
from loopgrad.source import Input
from loopgrad.source.asked import Asked
from loopgrad.workers import Workers

if TYPE_CHECKING:
    from loopgrad.index import Index

#: Below this number of files one process is faster than starting several.
FEW_FILES = 16
#: Files that follow each other go to one process, so many at once, since they import the same; every process gets
#: so many such batches at least, lest one of them ends long after the others.
MOST_TOGETHER = 32
TURNS = 8


def check_paths(
    inputs: Sequence[Input],
    checker: Checker,
    jobs: int | None = None,
    progress: Callable[[int], None] = lambda done: None,
    index: Index | None = None,
) -> Outcome:
    """Checks files, ``jobs`` at a time (None: as many as pay), and calls ``progress`` after each.

    What the ``index`` knows is not checked again, and what it does not know is added to it.
    """
    known = _known(inputs, checker, index)
    left = [item for item, outcome in zip(inputs, known) if outcome is None]
    if jobs is None:
        jobs = 1 if len(left) < FEW_FILES else _processors()
    jobs = min(jobs, len(left))
    fresh = _in_processes(left, checker, jobs) if jobs > 1 else _one_by_one(left, checker)
    outcomes: list[FileOutcome] = []
    try:
        for item, outcome in zip(inputs, known):
            if outcome is None:
                outcome, asked = next(fresh)
                if index is not None:
                    index.put(item, outcome, asked, fixes=checker.offer_fixes)
            outcomes.append(checker.finish(outcome))
            progress(len(outcomes))
    finally:
        if index is not None:
            index.rest()
    return merge(inputs, outcomes)


def _known(inputs: Sequence[Input], checker: Checker, index: Index | None) -> list[FileOutcome | None]:
    if index is None:
        return [None] * len(inputs)
    hits = index.find_all(inputs, fixes=checker.offer_fixes)
    return [None if hit is None else hit.outcome for hit in hits]


def _processors() -> int:
    """The processors that this process may use, which in a container are fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _one_by_one(inputs: Sequence[Input], checker: Checker) -> Iterator[tuple[FileOutcome, Asked]]:
    for item in inputs:
        yield checker.heard(item)
        checker.provider.trim()


def _in_processes(
    inputs: Sequence[Input], checker: Checker, jobs: int
) -> Iterator[tuple[FileOutcome, Asked]]:
    size = max(1, min(MOST_TOGETHER, len(inputs) // (jobs * TURNS)))
    batches = [inputs[start : start + size] for start in range(0, len(inputs), size)]
    with Workers(checker, batches, min(jobs, len(batches))) as workers:
        for number in range(len(batches)):
            yield from workers.result(number)
