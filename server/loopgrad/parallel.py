"""Checking many files, in several processes if that pays.

Results come in the order of the inputs. A file whose analysis ends its process (a crash of the interpreter) is
named and costs no other file; on Ctrl-C all processes end at once.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

from loopgrad.checker import Checker, FileOutcome, Outcome, merge
from loopgrad.collector import collect_seldom
from loopgrad.model import Message, Problem
from loopgrad.source import Input
from loopgrad.source.asked import Asked

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
    known = [_known(item, checker, index) for item in inputs]
    left = [item for item, outcome in zip(inputs, known) if outcome is None]
    if jobs is None:
        jobs = 1 if len(left) < FEW_FILES else _processors()
    jobs = min(jobs, len(left))
    fresh = _in_processes(left, checker, jobs) if jobs > 1 else map(checker.heard, left)
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


def _known(item: Input, checker: Checker, index: Index | None) -> FileOutcome | None:
    hit = None if index is None else index.find(item, fixes=checker.offer_fixes)
    return None if hit is None else hit.outcome


def _processors() -> int:
    """The processors that this process may use, which in a container are fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_worker: Checker | None = None


def _start_worker(checker: Checker) -> None:
    global _worker
    _worker = checker
    gc.freeze()  # what is there before the first file stays
    collect_seldom()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # on Ctrl-C workers go quietly


def _work(items: Sequence[Input]) -> list[tuple[FileOutcome, Asked]]:
    assert _worker is not None
    return [_worker.heard(item) for item in items]


def _pool(checker: Checker, jobs: int) -> ProcessPoolExecutor:
    method = "fork" if sys.platform == "linux" else "spawn"
    return ProcessPoolExecutor(jobs, multiprocessing.get_context(method), _start_worker, (checker,))


def _in_processes(
    inputs: Sequence[Input], checker: Checker, jobs: int
) -> Iterator[tuple[FileOutcome, Asked]]:
    """The outcomes in order. A file whose analysis ends its process is named, and the rest goes on."""
    sys.stdout.flush()
    sys.stderr.flush()
    size = max(1, min(MOST_TOGETHER, len(inputs) // (jobs * TURNS)))
    batches = [inputs[start : start + size] for start in range(0, len(inputs), size)]
    pool = _pool(checker, jobs)
    futures: list[Future[list[tuple[FileOutcome, Asked]]]] = []
    try:
        try:
            futures.extend(pool.submit(_work, batch) for batch in batches)
        except BrokenProcessPool:
            pass
        for number, batch in enumerate(batches):
            try:
                if number >= len(futures):
                    raise BrokenProcessPool
                yield from futures[number].result()
            except BrokenProcessPool:
                pool.shutdown()  # no thread of its own may be left when the next process forks
                for item in batch:
                    yield _alone(item, checker)
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()
        # Waited for: a pool that ends while the interpreter does complains of its own closed pipe.
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def _alone(item: Input, checker: Checker) -> tuple[FileOutcome, Asked]:
    """Checks a file in a process of its own, which may be the one that dies of it."""
    try:
        with _pool(checker, 1) as pool:
            return pool.submit(_work, [item]).result()[0]
    except BrokenProcessPool:
        problem = Problem(item.path, 1, Message.of("check.died"))
        return FileOutcome(item.path, problems=[problem]), Asked(passing=True)
