"""A progress bar on standard error: on a terminal alone, and only once a run takes longer than a moment."""

from __future__ import annotations

import time
from typing import IO

from loopgrad.messages import render
from loopgrad.model import Message

#: Seconds before a bar appears, and between two drawings of it.
PATIENCE = 1.0
PERIOD = 0.1

_WIDTH = 24


class Progress:
    """Shows how many of ``total`` files are done; ``clear`` takes the bar away."""

    def __init__(self, total: int, stream: IO[str], language: str) -> None:
        self._total = total
        self._stream = stream
        self._language = language
        self._active = total > 1 and stream.isatty()
        self._next = time.monotonic() + PATIENCE
        self._drawn = False

    def __call__(self, done: int) -> None:
        now = time.monotonic()
        if not self._active or now < self._next:
            return
        self._next = now + PERIOD
        filled = _WIDTH * done // self._total
        message = Message.of("report.progress", done=done, total=self._total)
        bar = "#" * filled + "-" * (_WIDTH - filled)
        self._stream.write(f"\r[{bar}] {render(message, self._language)}\x1b[K")
        self._stream.flush()
        self._drawn = True

    def clear(self) -> None:
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._drawn = False
