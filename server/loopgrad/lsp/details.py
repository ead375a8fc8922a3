"""A finding as data for the client's own views: the panel that draws the loop, the way from a traceback."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lsprotocol import types

from loopgrad.lsp.diagnostics import Result, Writer
from loopgrad.lsp.documents import Documents
from loopgrad.lsp.places import Places
from loopgrad.lsp.wire import Lines
from loopgrad.lsp.wording import words
from loopgrad.model import Finding, Range

_NOWHERE = types.Range(types.Position(0, 0), types.Position(0, 0))


@dataclass
class Details:
    documents: Documents
    writer: Writer

    def place(self, path: str, where: Range, places: Places | None = None) -> dict[str, Any]:
        """``uri`` and ``range``; the URI is null where a cell has been deleted."""
        place = (places or Places(self.documents, Lines())).place(path, where)
        if place is None:
            return {"uri": None, "range": _NOWHERE}
        return {"uri": place.uri, "range": place.range}

    def finding(self, result: Result, finding: Finding) -> dict[str, Any]:
        """The finding and its story in the client's positions and language."""
        places = result.places(self.documents)
        language = self.writer.language
        raised, mark = finding.raised_at, self.writer.mark_of(finding)
        loop = finding.loop_line
        return {
            "code": finding.code,
            "name": finding.name,
            "severity": finding.severity,
            "certainty": finding.certainty,
            "outcome": finding.outcome,
            "iteration": finding.iteration,
            "message": words(finding.message, language),
            "carriers": list(finding.carriers),
            "key": list(finding.key),
            **self.place(finding.path, finding.range, places),
            "loop": None if loop is None else self.place(finding.path, Range(loop, 1, loop, 1), places),
            "raisedAt": None if raised is None else self.place(*raised, places),
            "story": [
                {
                    "role": step.role,
                    "roleText": self.writer.say(f"report.role.{step.role}"),
                    "iteration": step.iteration,
                    "message": words(step.message, language),
                    "source": self._source(step.path, step.range, places),
                    **self.place(step.path, step.range, places),
                }
                for step in finding.trace
            ],
            "href": self.writer.pages.href(finding.code),
            "confirmed": None if mark is None else mark.plain(),
        }

    def _source(self, path: str, where: Range, places: Places) -> str:
        """The line that a step of the story is about, if its document is open."""
        place = places.place(path, where)
        part = self.documents.part(place.uri) if place is not None else None
        return part.text.line(place.range.start.line).strip() if place and part else ""
