"""One child process with limits, of which nothing is left behind.

The child leads a session of its own, so that its workers can be signalled with it: TERM first, KILL after two
seconds. What left the session (launchers start their workers in new ones) is found by its descent in
``/proc``; with ``adopt`` this process becomes the one that orphans fall to (``PR_SET_CHILD_SUBREAPER``), so
that descent is not lost either. If this process itself is killed, the child dies with it, see ``start.py``.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

#: Bytes of output: so much is forwarded, and more than so much ends the run.
FORWARDED, FLOOD = 8 << 20, 64 << 20

_PATIENCE = 2.0


class Child:
    """A started process. ``line`` gets each line of its channel, in a thread."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        job: IO[bytes],
        cwd: str,
        env: dict[str, str],
        out: IO[bytes],
        err: IO[bytes],
        line: Callable[[bytes], None],
    ) -> None:
        self.started = time.monotonic()
        self.flooded = False
        self._descent: set[int] = set()
        reader, writer = os.pipe()
        try:
            self.process = subprocess.Popen(
                [*command, str(job.fileno()), str(writer)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(job.fileno(), writer),
                start_new_session=True,
                cwd=cwd,
                env=env,
            )
        except OSError:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        self._printed = 0
        self._threads = [
            threading.Thread(target=self._pump, args=(self.process.stdout, out), daemon=True),
            threading.Thread(target=self._pump, args=(self.process.stderr, err), daemon=True),
            threading.Thread(target=self._read, args=(reader, line), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _pump(self, source: IO[bytes], target: IO[bytes]) -> None:
        while chunk := os.read(source.fileno(), 65536):
            before, self._printed = self._printed, self._printed + len(chunk)
            if before < FORWARDED:
                try:
                    target.write(chunk)
                    target.flush()
                except (OSError, ValueError):
                    self._printed += FORWARDED  # the reader has gone
            if self._printed > FLOOD + FORWARDED:
                self.flooded = True

    @staticmethod
    def _read(descriptor: int, line: Callable[[bytes], None]) -> None:
        with os.fdopen(descriptor, "rb") as channel:
            for text in channel:
                line(text)

    def wait(self, seconds: float) -> int | None:
        """Waits for the end, and gives the status if it has come."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._descent |= descendants(self.process.pid)
            return None

    def end(self, adopted: Callable[[], set[int]] = set) -> int:
        """Ends the process and all that came of it, and gives its status."""
        own = self.process
        self._descent |= descendants(own.pid)
        deadline = time.monotonic() + _PATIENCE
        self._signal(signal.SIGTERM, adopted())
        while time.monotonic() < deadline:
            own.poll()
            if not self._alive(adopted()):
                break
            time.sleep(0.02)
        else:
            self._signal(signal.SIGKILL, adopted())
            while self._alive(adopted()) and time.monotonic() < deadline + _PATIENCE:
                own.poll()
                time.sleep(0.02)
        status = own.wait()
        for thread in self._threads:
            thread.join(_PATIENCE)
        return status

    def _signal(self, number: int, adopted: set[int]) -> None:
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, number)
        for pid in self._descent | adopted:
            with contextlib.suppress(OSError):
                os.kill(pid, number)

    def _alive(self, adopted: set[int]) -> bool:
        _reap(adopted - {self.process.pid})  # its own status is for ``poll``
        if self.process.returncode is None:
            return True
        try:
            os.killpg(self.process.pid, 0)
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
def adopting(enabled: bool) -> Iterator[Callable[[], set[int]]]:
    """Within it, orphans of children fall to this process; gives a function that lists the new ones."""
    known = {pid for pid, parent in _processes() if parent == os.getpid()} if enabled else set()
    if not enabled or not _subreaper(1):
        yield set
        return
    try:
        yield lambda: {pid for pid, parent in _processes() if parent == os.getpid()} - known
    finally:
        _subreaper(0)


def _subreaper(value: int) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    try:
        import ctypes

        libc: Any = ctypes.CDLL(None, use_errno=True)
        return bool(libc.prctl(36, value, 0, 0, 0) == 0)  # PR_SET_CHILD_SUBREAPER
    except (ImportError, OSError, AttributeError):
        return False
