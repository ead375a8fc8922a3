"""One child process with limits, of which nothing is left behind.

On POSIX it leads a session of its own and is ended with all that came of it, see ``probe/tree.py``; if this
process itself is killed, the child dies with it. On Windows it is put into a job that ends with its last
handle, see ``windows.py``, which does the same.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from typing import IO, Any, Protocol

from loopgrad.confirm.pipes import Pipes
from loopgrad.confirm.probe.tree import PATIENCE, Tree


class Running(Protocol):
    """A run's process as its watcher sees it: a child, or one that a warm server has forked."""

    @property
    def flooded(self) -> bool: ...

    def wait(self, seconds: float) -> int | None:
        """Waits for the end, and gives the status if it has come."""

    def end(self, adopted: Callable[[], set[int]] = set) -> int:
        """Ends the process and all that came of it, and gives its status."""


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
        reader, writer = os.pipe()
        try:
            given, options, self._ending = _handed(job.fileno(), writer)
            self.process = subprocess.Popen(
                [*command, *given],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env=env,
                **options,
            )
        except OSError:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        if self._ending is None:
            self._tree: Tree | None = Tree(self.process.pid, self.process.poll)
        else:
            self._tree = None
            self._ending.take(self.process)
        stdout, stderr = self.process.stdout, self.process.stderr
        assert stdout is not None and stderr is not None
        self._pipes = Pipes(
            os.dup(stdout.fileno()), os.dup(stderr.fileno()), reader, out=out, err=err, line=line
        )
        stdout.close()
        stderr.close()

    @property
    def flooded(self) -> bool:
        return self._pipes.flooded

    def wait(self, seconds: float) -> int | None:
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            if self._tree is not None:
                self._tree.look()
            return None

    def end(self, adopted: Callable[[], set[int]] = set) -> int:
        if self._tree is not None:
            self._tree.end(adopted)
        else:
            self._ending.end(self.process)
        status = self.process.wait()
        self._pipes.join(PATIENCE)
        return status


def _handed(job: int, channel: int) -> tuple[list[str], dict[str, Any], Any]:
    """How two descriptors go to a child: the words it is started with, options, and what ends it on Windows."""
    if os.name == "nt":
        from loopgrad.confirm import windows

        return windows.handed(job, channel)
    return [str(job), str(channel)], {"pass_fds": (job, channel), "start_new_session": True}, None
