"""Process trees: all that came of one process, and how to end it.

A process leads a session of its own, so that its workers can be signalled with it: TERM first, KILL after two
seconds. What left the session (launchers start their workers in new ones) is found by its descent in
``/proc``. Whoever is the *subreaper* (``man 2 prctl``, PR_SET_CHILD_SUBREAPER) gets the orphans below it, so
that descent is not lost either.

Used by the host for a child of its own, and by the supervisor of a warm run, which is why it stands here:
standard library alone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

#: Seconds between TERM and KILL.
PATIENCE = 2.0


class Tree:
    """A session's leader and everything below it. ``poll`` gives the leader's status once it has ended."""

    def __init__(self, pid: int, poll: Callable[[], int | None]) -> None:
        self.pid = pid
        self._poll = poll
        self._descent: set[int] = set()

    def look(self) -> None:
        """Notes who is below now: one that is orphaned later is known by it."""
        self._descent |= descendants(self.pid)

    def end(self, adopted: Callable[[], set[int]] = set) -> None:
        """Ends all of it. ``adopted`` lists the orphans that have fallen to this process."""
        self.look()
        deadline = time.monotonic() + PATIENCE
        self._signal(signal.SIGTERM, adopted())
        while time.monotonic() < deadline:
            if not self._alive(adopted()):
                return
            time.sleep(0.02)
        self._signal(signal.SIGKILL, adopted())
        while self._alive(adopted()) and time.monotonic() < deadline + PATIENCE:
            time.sleep(0.02)

    def _signal(self, number: int, adopted: set[int]) -> None:
        with contextlib.suppress(OSError):
            os.killpg(self.pid, number)
        for pid in self._descent | adopted:
            with contextlib.suppress(OSError):
                os.kill(pid, number)

    def _alive(self, adopted: set[int]) -> bool:
        _reap(adopted - {self.pid})  # its own status is for ``poll``
        if self._poll() is None:
            return True
        try:
            os.killpg(self.pid, 0)
            return True
        except OSError:
            pass
        self._descent = {pid for pid in self._descent if _exists(pid)}
        return bool(self._descent or {pid for pid in adopted if _exists(pid)})


def descendants(root: int) -> set[int]:
    """All processes below one, where the system tells (Linux)."""
    children: dict[int, list[int]] = {}
    for pid, parent in _processes():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    stack = [root]
    while stack:
        for pid in children.get(stack.pop(), ()):
            if pid not in found:
                found.add(pid)
                stack.append(pid)
    return found


def _processes() -> Iterator[tuple[int, int]]:
    try:
        entries = os.listdir("/proc")
    except OSError:
        return
    for entry in entries:
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:
                    rest = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if rest[0] != b"Z":
                yield int(entry), int(rest[1])


def _exists(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


def _reap(pids: set[int]) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.waitpid(pid, os.WNOHANG)


@contextlib.contextmanager
def adopting(enabled: bool, known: set[int] | None = None) -> Iterator[Callable[[], set[int]]]:
    """Within it, orphans of children fall to this process; gives a function that lists the new ones.

    Not among them are the children that it has already, and those that ``known`` comes to hold.
    """
    known = set() if known is None else known
    if enabled:
        known |= {pid for pid, parent in _processes() if parent == os.getpid()}
    if not enabled or not _subreaper(1):
        yield set
        return
    try:
        yield lambda: {pid for pid, parent in _processes() if parent == os.getpid()} - known
    finally:
        _subreaper(0)


def _subreaper(value: int) -> bool:
    return _prctl(36, value)


def die_with(parent: int) -> None:
    """Linux: this process gets SIGKILL when its parent ends, however that ends (PR_SET_PDEATHSIG)."""
    if _prctl(1, int(getattr(signal, "SIGKILL", 9))) and parent and os.getppid() != parent:
        os._exit(1)  # it had gone before the call


def _prctl(option: int, value: int) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    try:
        import ctypes

        libc: Any = ctypes.CDLL(None, use_errno=True)
        return bool(libc.prctl(option, value, 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError):
        return False
