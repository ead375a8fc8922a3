"""Room for deep recursion: the engine executes nested code by nested calls.

A file that is deeply nested, or that calls through many functions, needs more frames than Python allows by
default, and on some systems more stack than a thread has. So the work runs in a thread of its own with a
large stack, under a raised limit, and with a collector that runs less often. These are settings of the whole
process: they are changed under a lock, and stay so while anybody works.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

from loopgrad.collector import THRESHOLD

#: Python frames, and bytes of stack (reserved, not used, until they are needed).
FRAMES = 10_000
STACK = 128 * 1024 * 1024

T = TypeVar("T")

_lock = threading.Lock()
_at_work = 0
_limit_before = 0
_threshold_before = 0
_here = threading.local()


def run_deep(work: Callable[[], T]) -> T:
    """Runs ``work`` where it may recurse deeply, and gives or raises what it does."""
    if getattr(_here, "deep", False):
        return work()
    results: list[T] = []
    errors: list[BaseException] = []

    def body() -> None:
        _here.deep = True
        try:
            results.append(work())
        except BaseException as error:  # it is raised again, in the thread that asked
            errors.append(error)

    _raise_limit()
    try:
        thread = _started(body)
        thread.join()
    finally:
        _restore_limit()
    if errors:
        raise errors[0]
    return results[0]


def _started(body: Callable[[], None]) -> threading.Thread:
    with _lock:
        before = threading.stack_size(STACK)
        try:
            thread = threading.Thread(target=body, name="loopgrad-check", daemon=True)
            thread.start()
        finally:
            threading.stack_size(before)
    return thread


def _raise_limit() -> None:
    global _at_work, _limit_before, _threshold_before
    with _lock:
        if _at_work == 0:
            _limit_before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(FRAMES, _limit_before))
            _threshold_before, *others = gc.get_threshold()
            gc.set_threshold(max(THRESHOLD, _threshold_before) if _threshold_before else 0, *others)
        _at_work += 1


def _restore_limit() -> None:
    global _at_work
    with _lock:
        _at_work -= 1
        if _at_work == 0:
            sys.setrecursionlimit(_limit_before)
            gc.set_threshold(_threshold_before, *gc.get_threshold()[1:])
