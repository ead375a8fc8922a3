"""From a pasted traceback to the finding that explains it.

The traceback names the line that raised; the cause is elsewhere. The innermost frame of the user's own code is
analysed first, then the frames outwards: the script that runs the loop may see what the module alone does not
show. Paths of another machine are found by their endings in the workspace.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from loopgrad.lsp import wire
from loopgrad.lsp.analysis import Analysis
from loopgrad.lsp.analysis_queue import Priority, WorkerError
from loopgrad.lsp.details import Details
from loopgrad.lsp.diagnostics import Result
from loopgrad.lsp.documents import Unit
from loopgrad.lsp.tracebacks import Frame, Traceback, read_traceback
from loopgrad.model import Finding, Range

_FOREIGN = ("site-packages", "dist-packages", f"{os.sep}lib{os.sep}python", "/lib/python", "\\lib\\")


@dataclass(frozen=True)
class _Place:
    """A frame in a file that is at hand; ``line`` counts in the joined text of a notebook."""

    path: str
    line: int


@dataclass
class Causes:
    analysis: Analysis
    details: Details

    async def of(self, text: str) -> dict[str, Any]:
        """The answer of ``loopgrad.fromTraceback``; its ``message`` says how sure it is."""
        traceback = read_traceback(text)
        places = list(dict.fromkeys(self._places(traceback)))
        for path in dict.fromkeys(place.path for place in places):
            result = await self._result(path)
            if result is not None:
                finding = self._explaining(result, places, traceback.outcome)
                if finding is not None:
                    found = self.details.finding(result, finding)
                    message = self._say(
                        "lsp.traceback-found", code=finding.code, line=found["range"].start.line + 1
                    )
                    return {
                        "uri": found["uri"],
                        "range": found["range"],
                        "finding": found,
                        "message": message,
                    }
        if not places:
            key = "lsp.traceback-no-file" if traceback.frames else "lsp.traceback-none"
            return {"uri": None, "range": None, "finding": None, "message": self._say(key)}
        innermost = places[0]
        shown = self.details.place(innermost.path, Range(innermost.line, 1, innermost.line, 1))
        return {**shown, "finding": None, "message": self._say("lsp.traceback-no-finding")}

    def _say(self, key: str, **args: Any) -> str:
        return self.details.writer.say(key, **args)

    # Frames ------------------------------------------------------------------------------------------

    def _places(self, traceback: Traceback) -> Iterator[_Place]:
        """The frames in the user's files, the innermost first."""
        for frame in reversed(traceback.frames):
            if not frame.path:
                yield from self._cell(frame)
            elif not any(part in frame.path for part in _FOREIGN):
                path = self._file(frame.path)
                if path is not None:
                    yield _Place(path, frame.line)

    def _cell(self, frame: Frame) -> Iterator[_Place]:
        """The open notebooks' cells whose line reads as in the traceback."""
        for unit in self.analysis.documents:
            for part in unit.parts if unit.is_notebook else ():
                if frame.text and part.text.line(frame.line - 1).strip() == frame.text:
                    yield _Place(unit.path, part.first_line + frame.line - 1)

    def _file(self, written: str) -> str | None:
        path = os.path.expanduser(written)
        documents = self.analysis.documents
        if os.path.isabs(path):
            unit = documents.by_path(path)
            if unit is not None or os.path.isfile(path):
                return unit.path if unit is not None else os.path.normpath(path)
        pieces = [piece for piece in path.replace("\\", "/").split("/") if piece not in ("", ".", "..")]
        for start in range(len(pieces)):
            for root in self.analysis.roots:
                candidate = os.path.join(root, *pieces[start:])
                if os.path.isfile(candidate):
                    return candidate
            tail = os.sep + os.path.join(*pieces[start:])
            opened = next((unit.path for unit in documents if unit.path.endswith(tail)), None)
            if opened is not None:
                return opened
        return None

    # Findings ----------------------------------------------------------------------------------------

    async def _result(self, path: str) -> Result | None:
        unit: Unit | None = self.analysis.documents.by_path(path)
        if unit is not None:
            return await self.analysis.fresh(unit) or await self.analysis.settled(unit)
        try:
            checked = await self.analysis.queue.submit(wire.Check(path), Priority.INTERACTIVE)
        except WorkerError:
            return None
        return Result(checked, None)

    @staticmethod
    def _explaining(result: Result, places: list[_Place], outcome: str | None) -> Finding | None:
        """The finding that raises where the traceback says, or at least tells of one of its lines."""
        best: tuple[int, Finding] | None = None
        lines = {(place.path, place.line) for place in places}
        for finding in result.checked.findings:
            if outcome is not None and finding.outcome != outcome:
                continue
            score = 1
            raised = finding.raised_at
            if raised is not None and any(
                (raised[0], line) in lines for line in range(raised[1].line, raised[1].end_line + 1)
            ):
                score = 3
            elif any((step.path, step.range.line) in lines for step in finding.trace):
                score = 2
            if outcome is None and score == 1:
                continue
            if best is None or score > best[0]:
                best = score, finding
        return best[1] if best is not None else None
