"""What runs have shown of findings: a diagnostic says so until its document changes.

The client runs ``loopgrad confirm``; the server never does. It then sends the report (``loopgrad.confirmed``), and
the findings that the report names are marked: confirmed, on which device and in which iteration, or refuted by a
run that was complete.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pygls.uris import to_fs_path

from loopgrad.lsp.diagnostics import Results
from loopgrad.lsp.documents import Documents, Unit, real
from loopgrad.lsp.workspace_edits import State, state
from loopgrad.model import Finding, Message

CONFIRMED, REFUTED = "confirmed", "refuted"


@dataclass(frozen=True)
class Mark:
    """What a run has shown of a finding. ``text`` is what its file was; the mark holds as long as it is that."""

    status: str
    device: str
    iteration: int | None
    shape_only: bool
    text: State

    @property
    def message(self) -> Message:
        if self.status == REFUTED:
            return Message.of("lsp.refuted", device=self.device)
        key = "lsp.confirmed-shape-only" if self.shape_only else "lsp.confirmed"
        if self.iteration is None:
            return Message.of(key, device=self.device)
        return Message.of(f"{key}-iteration", device=self.device, iteration=self.iteration)

    def plain(self) -> dict[str, Any]:
        return {"status": self.status, "device": self.device, "iteration": self.iteration}


@dataclass
class Confirmations:
    documents: Documents
    results: Results
    #: Shows the diagnostics of these files anew.
    refresh: Callable[[Iterable[str]], None]
    _marks: dict[tuple[Any, ...], Mark] = field(default_factory=dict)

    def of(self, finding: Finding) -> Mark | None:
        mark = self._marks.get(finding.key)
        return mark if mark is not None and state(self.documents, finding.path) == mark.text else None

    def take(self, report: Any, folder: str | None) -> int:
        """Marks what a report (of ``confirm --output-format json``) names; gives how many findings that were.

        Its paths are relative to ``folder``, where the run was started.
        """
        if not isinstance(report, dict):
            return 0
        marked: set[str] = set()
        count = 0
        told = dict(_told(report, self._folder(folder)))
        for finding in self._current():
            status = told.get((finding.code, real(finding.path), finding.range.line))
            if status is None:
                continue
            self._marks.pop(finding.key, None)
            if status in (CONFIRMED, REFUTED):
                iteration = report.get("iteration") if status == CONFIRMED else None
                self._marks[finding.key] = Mark(
                    status,
                    str(report.get("device") or "-"),
                    iteration if isinstance(iteration, int) else None,
                    report.get("shape_only") is True,
                    state(self.documents, finding.path),
                )
                count += 1
            marked.add(finding.path)
        self._show(marked)
        return count

    def _folder(self, folder: str | None) -> str:
        if folder is not None and folder.startswith("file:"):
            folder = to_fs_path(folder)
        return folder or (self.documents.roots[0] if self.documents.roots else os.path.expanduser("~"))

    def _current(self) -> Iterator[Finding]:
        """The findings of texts as they are, each once."""
        seen = set()
        for result in list(self.results.by_path.values()):
            unit = self.documents.by_path(result.checked.path)
            if unit is not None and (result.snapshot is None or result.snapshot.revision != unit.revision):
                continue
            for finding in result.checked.findings:
                if finding.key not in seen:
                    seen.add(finding.key)
                    yield finding

    def changed(self, unit: Unit) -> None:
        """A document changed: what a run has shown of the text before is no longer said."""
        gone = [key for key, mark in self._marks.items() if mark.text[0] in (unit.path, real(unit.path))]
        for key in gone:
            del self._marks[key]
        if gone:
            self._show({unit.path})

    def _show(self, paths: set[str]) -> None:
        for path in paths:
            self.results.touch(path)
        self.refresh(paths)


def _told(report: dict[str, Any], folder: str) -> Iterator[tuple[tuple[str, str, int], str]]:
    """What a report says of each finding: (code, path, line) and the status. What is malformed is left out."""
    findings = report.get("findings")
    for each in findings if isinstance(findings, list) else ():
        try:
            path = os.path.join(folder, each["path"])
            yield (str(each["code"]), real(path), int(each["range"]["start"]["line"])), str(each["status"])
        except (KeyError, TypeError, ValueError):
            continue
