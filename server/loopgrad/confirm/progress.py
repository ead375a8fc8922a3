"""What a client is told while a run goes on: one JSON object a line, see ``docs/confirm.md``.

The probe's own events are for the verdict and may change; these are a promise.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import IO, Any, ClassVar

from loopgrad.confirm.report import Paths


class Progress:
    """Writes events to a stream. A reader that has gone cancels nothing and is no error."""

    def __init__(self, stream: IO[bytes] | None, paths: Paths) -> None:
        self._stream = stream
        self._paths = paths
        self._lock = threading.Lock()

    def say(self, event: str, **data: Any) -> None:
        if self._stream is None:
            return
        line = json.dumps({"event": event, **data}, ensure_ascii=False).encode("utf-8", "backslashreplace")
        with self._lock:
            try:
                self._stream.write(line + b"\n")
                self._stream.flush()
            except (OSError, ValueError):
                self._stream = None

    def heard(self, event: dict[str, Any]) -> None:
        """An event of the probe."""
        told = self._told.get(event["event"])
        if told is not None:
            told(self, event)

    def _start(self, event: dict[str, Any]) -> None:
        self.say("loaded", torch=event["torch"], python=event["python"])

    def _device(self, event: dict[str, Any]) -> None:
        self.say("device", device=event["device"])

    def _redirected(self, event: dict[str, Any]) -> None:
        self.say("redirected")

    def _step(self, event: dict[str, Any]) -> None:
        self.say("step", step=event["step"], nodes=event["nodes"])

    def _fault(self, event: dict[str, Any]) -> None:
        place = event.get("raised_at") or event.get("built_at") or (None, None)
        path = None if place[0] is None else self._paths(place[0])
        self.say(
            "fault", outcome=event["outcome"], iteration=event.get("iteration"), path=path, line=place[1]
        )

    _told: ClassVar[dict[str, Callable[[Progress, dict[str, Any]], None]]] = {
        "start": _start,
        "device": _device,
        "redirected": _redirected,
        "step": _step,
        "fault": _fault,
    }
