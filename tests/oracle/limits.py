"""A time limit for a block of code that runs in this process."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooLong(BaseException):
    """The time limit has passed."""


@contextmanager
def time_limit(seconds: float, *, work: bool = False) -> Iterator[None]:
    """Raise `TooLong` in the block when it takes longer: by the clock, or with `work` in processor time.

    Processor time is what a block costs however busy the machine is, and passes for nothing while it sleeps.
    """
    timer, rings = (signal.ITIMER_PROF, signal.SIGPROF) if work else (signal.ITIMER_REAL, signal.SIGALRM)

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(rings, ring)
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(rings, before)
