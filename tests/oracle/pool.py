"""Workers: forked processes that judge many programs each, so that a crash or a hang loses only one.

torch is imported once, before the fork. A worker that dies or does not answer in time is replaced; the
program that it held is reported as `lost`.
"""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import os
import time
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any

import torch

from . import adapter
from .judge import judge

Verdict = dict[str, Any]
DEADLINE = 150.0
#: A worker is replaced after so many programs: what a program leaves frozen out of the collector adds up.
SERVED = 300
LOST: Verdict = {"runs": [], "report": None, "disagreements": [], "weak": False, "lost": True}


def _serve(connection: Connection) -> None:
    torch.set_num_threads(1)
    gc.collect()
    gc.freeze()
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.dup2(devnull, 2)
    while True:
        try:
            source, ask = connection.recv()
        except (EOFError, OSError):
            os._exit(0)
        connection.send(judge(source, ask))


class _Worker:
    def __init__(self) -> None:
        context = multiprocessing.get_context("fork")
        self.connection, other = context.Pipe()
        self.process: ForkProcess = context.Process(target=_serve, args=(other,), daemon=True)
        self.process.start()
        other.close()
        self.job: int | None = None
        self.since = 0.0
        self.served = 0

    def give(self, number: int, source: str, ask: bool) -> None:
        self.job, self.since = number, time.monotonic()
        self.served += 1
        self.connection.send((source, ask))

    def end(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.join()


class Pool:
    """A few workers; `judge` yields the verdicts as they come."""

    def __init__(self, workers: int = 2, ask: bool = True) -> None:
        torch.set_num_threads(1)
        importlib.import_module("torch._dynamo")  # slow; imported once, before the fork

        self.ask = ask and adapter.available()
        self.workers = [_Worker() for _ in range(workers)]

    def judge(self, sources: Iterable[str]) -> Iterator[tuple[int, Verdict]]:
        """Judge each source; yields its number and the verdict, not in order."""
        jobs = iter(enumerate(sources))
        self._refill(jobs)
        while any(worker.job is not None for worker in self.workers):
            busy = {worker.connection: worker for worker in self.workers if worker.job is not None}
            ready = wait(list(busy), timeout=1.0)
            for connection in ready:
                worker = busy[connection]  # type: ignore[index]
                number = worker.job
                assert number is not None
                try:
                    verdict = worker.connection.recv()
                    worker.job = None
                except (EOFError, OSError):
                    verdict = self._replace(worker)
                yield number, verdict
            for worker in list(busy.values()):
                if worker.job is not None and time.monotonic() - worker.since > DEADLINE:
                    number = worker.job
                    yield number, self._replace(worker)
            self._refill(jobs)

    def _refill(self, jobs: Iterator[tuple[int, str]]) -> None:
        for at, worker in enumerate(self.workers):
            if worker.job is None:
                for number, source in jobs:
                    if worker.served >= SERVED:
                        worker.end()
                        self.workers[at] = worker = _Worker()
                    worker.give(number, source, self.ask)
                    break

    def _replace(self, worker: _Worker) -> Verdict:
        worker.end()
        self.workers[self.workers.index(worker)] = _Worker()
        return LOST

    def close(self) -> None:
        """End all workers."""
        for worker in self.workers:
            worker.end()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
