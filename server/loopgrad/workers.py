"""Processes that check batches of files.

A process that has read much ends, and a fresh one goes on: the system takes its memory back at once, where Python's
collector of cycles would go through all of it (a seventh of the time). A file whose analysis ends its process (a
crash of the interpreter) is named and costs no other file; on Ctrl-C all processes end at once, and if this process
is killed they end with their batch.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any

from loopgrad.checker import Checker, FileOutcome
from loopgrad.collector import collect_seldom, much_is_uncollected
from loopgrad.model import Message, Problem
from loopgrad.source import Input
from loopgrad.source.asked import Asked

Batch = Sequence[Input]
Results = list[tuple[FileOutcome, Asked]]

#: So many batches a process has at hand, so that it need not wait while this one stores what came.
AT_HAND = 2

_METHOD = "fork" if sys.platform == "linux" else "spawn"


# In a worker --------------------------------------------------------------------------------------------

#: Kept to the end: a process that ends by itself does not take apart what it holds.
_checker: Checker | None = None


def _serve(connection: Connection, checker: Checker, inherited: Sequence[Connection]) -> None:
    global _checker
    _checker = checker
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # on Ctrl-C workers go quietly
    for other in inherited:
        other.close()  # else no worker could see that the process at their other ends has gone
    gc.freeze()  # what is there before the first file stays
    collect_seldom()
    while True:
        try:
            batch: Batch = connection.recv()
        except (EOFError, OSError):
            return
        results = [checker.heard(item) for item in batch]
        full = checker.provider.is_full or much_is_uncollected()
        try:
            connection.send((results, full))
        except OSError:
            return
        if full:
            return


# In this process -----------------------------------------------------------------------------------------


class _Worker:
    """A process and the numbers of the batches that it was sent."""

    def __init__(self, checker: Checker, others: Sequence[_Worker]) -> None:
        context: Any = multiprocessing.get_context(_METHOD)
        self.sent: deque[int] = deque()
        self.connection, theirs = context.Pipe()
        inherited = [self.connection, *(worker.connection for worker in others)] if _METHOD == "fork" else []
        self.process = context.Process(target=_serve, args=(theirs, checker, inherited), daemon=True)
        self.process.start()
        theirs.close()

    def send(self, number: int, batch: Batch) -> None:
        self.sent.append(number)
        try:
            self.connection.send(batch)
        except OSError:
            pass  # it has died, as its results will tell

    def receive(self) -> tuple[Results, bool] | None:
        """The results of the first batch that was sent and whether the worker has ended, or None if it died of it."""
        try:
            results: Results
            results, full = self.connection.recv()
        except (EOFError, OSError):
            return None
        return results, full

    def end(self, *, at_once: bool = False) -> None:
        if at_once:
            self.process.terminate()
        self.connection.close()
        self.process.join()


class Workers:
    """Checks batches in ``count`` processes at a time, inside a ``with`` block."""

    def __init__(self, checker: Checker, batches: Sequence[Batch], count: int) -> None:
        self._checker = checker
        self._batches = batches
        self._waiting = deque(range(len(batches)))
        self._results: dict[int, Results] = {}
        self._workers: list[_Worker] = []
        self._count = count

    def __enter__(self) -> Workers:
        if _METHOD == "fork":
            import loopgrad.rules  # noqa: F401 - the engine, loaded once for all of them
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.end(at_once=kind is not None)
        self._workers.clear()

    def result(self, number: int) -> Results:
        """The results of a batch, once there are some."""
        while number not in self._results:
            self._feed()
            ready = wait([worker.connection for worker in self._workers])
            for worker in [worker for worker in self._workers if worker.connection in ready]:
                self._take(worker)
        self._feed()
        return self._results.pop(number)

    def _feed(self) -> None:
        while self._waiting and len(self._workers) < self._count:
            self._workers.append(_Worker(self._checker, self._workers))
        for turn in range(1, AT_HAND + 1):
            for worker in self._workers:
                if self._waiting and len(worker.sent) < turn:
                    number = self._waiting.popleft()
                    worker.send(number, self._batches[number])

    def _take(self, worker: _Worker) -> None:
        received = worker.receive()
        number = worker.sent.popleft() if worker.sent else None
        if received is None or received[1]:
            self._workers.remove(worker)
            self._waiting.extendleft(reversed(worker.sent))
            self._feed()  # the next one begins while this one ends
            worker.end()
        if number is None:
            return  # it was ended from outside while it had nothing to do
        if received is None:
            self._results[number] = list(self._one_by_one(self._batches[number]))
        else:
            self._results[number] = received[0]

    def _one_by_one(self, batch: Batch) -> Iterator[tuple[FileOutcome, Asked]]:
        """Checks each file in a process of its own, one of which may die again."""
        for item in batch:
            worker = _Worker(self._checker, self._workers)
            try:
                worker.send(0, [item])
                received = worker.receive()
            finally:
                worker.end(at_once=True)
            if received is None:
                problem = Problem(item.path, 1, Message.of("check.died"))
                yield FileOutcome(item.path, problems=[problem]), Asked(passing=True)
            else:
                yield from received[0]
