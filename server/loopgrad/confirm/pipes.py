"""What comes out of a run: the script's output, which goes on to the user, and the probe's channel."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from typing import IO

#: Bytes of output: so much is forwarded, and more than so much ends the run.
FORWARDED, FLOOD = 8 << 20, 64 << 20


class Pipes:
    """Reads three descriptors, each in a thread, until their writers are gone.

    ``line`` gets each line of the channel. ``flooded`` is true once the script has printed too much.
    """

    def __init__(
        self,
        stdout: int,
        stderr: int,
        channel: int,
        *,
        out: IO[bytes],
        err: IO[bytes],
        line: Callable[[bytes], None],
    ) -> None:
        self.flooded = False
        self._printed = 0
        self._threads = [
            threading.Thread(target=self._pump, args=(stdout, out), daemon=True),
            threading.Thread(target=self._pump, args=(stderr, err), daemon=True),
            threading.Thread(target=self._read, args=(channel, line), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def join(self, seconds: float) -> None:
        for thread in self._threads:
            thread.join(seconds)

    def _pump(self, source: int, target: IO[bytes]) -> None:
        with contextlib.suppress(OSError):
            while chunk := os.read(source, 65536):
                before, self._printed = self._printed, self._printed + len(chunk)
                if before < FORWARDED:
                    try:
                        target.write(chunk)
                        target.flush()
                    except (OSError, ValueError):
                        self._printed += FORWARDED  # the reader has gone
                if self._printed > FLOOD + FORWARDED:
                    self.flooded = True
        with contextlib.suppress(OSError):
            os.close(source)

    @staticmethod
    def _read(descriptor: int, line: Callable[[bytes], None]) -> None:
        with os.fdopen(descriptor, "rb") as channel:
            for text in channel:
                line(text)
