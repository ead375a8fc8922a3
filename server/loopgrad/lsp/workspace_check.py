"""Checking every file of the workspace, one after the other, with progress that the user sees and can stop.

Open documents are checked as such and come first in any case: the files here have the lowest priority, and one
that is being analysed is interrupted when a document changes. Files that an earlier check has seen, with all that
they import, as they are now, are not analysed again (``loopgrad.index``).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lsprotocol import types

from loopgrad.lsp import wire
from loopgrad.lsp.analysis import Analysis
from loopgrad.lsp.analysis_queue import Priority
from loopgrad.lsp.diagnostics import Writer

#: So many files are asked for at once: few enough that a document need not wait for the answer.
TOGETHER = 200


@dataclass
class WorkspaceCheck:
    analysis: Analysis
    writer: Writer
    #: pygls' progress, and whether the client shows any.
    progress: Any
    shows_progress: bool
    _running: bool = False

    async def run(self, *, unasked: bool = False) -> dict[str, Any]:
        """Checks all files; gives how many, and what was found in them.

        ``unasked``, it keeps to the folders whose settings want all files checked.
        """
        if self._running:
            return {"running": True}
        self._running = True
        bar = _Bar(self.progress, self.writer.say) if self.shows_progress else None
        try:
            return await self._run(bar, unasked)
        finally:
            self._running = False
            if bar is not None:
                bar.end()

    async def _run(self, bar: _Bar | None, unasked: bool) -> dict[str, Any]:
        if bar is not None:
            await bar.begin()
        analysis = self.analysis
        await analysis.ready.wait()
        paths = await analysis.queue.submit(wire.Discover(), Priority.BACKGROUND, "discover")
        modes = {path: analysis.settings.of(path) for path in paths}
        paths = [
            path
            for path, settings in modes.items()
            if settings.active and (not unasked or settings.diagnostic_mode == "workspace")
        ]
        for path in list(analysis.results.by_path):
            if analysis.documents.by_path(path) is None and path not in modes:
                analysis.publisher.refresh(analysis.results.drop(path))  # gone since the last time
        left = await self._recalled(paths, bar)
        done = len(paths) - len(left)
        for path in left:
            if bar is not None and bar.cancelled:
                break
            unit = analysis.documents.by_path(path)
            if unit is None:
                await analysis.check_closed_now(path)
            else:
                await analysis.settled(unit)
            done += 1
            if bar is not None:
                bar.report(done, len(paths))
        return {"files": done, "total": len(paths), "cancelled": done < len(paths), **self._counts()}

    async def _recalled(self, paths: list[str], bar: _Bar | None) -> list[str]:
        """Takes what earlier checks have found, and gives the files that are left to check."""
        left: list[str] = []
        for start in range(0, len(paths), TOGETHER):
            some = paths[start : start + TOGETHER]
            closed = [path for path in some if self.analysis.documents.by_path(path) is None]
            known = await self.analysis.recall(closed)
            left += [path for path in some if path not in known]
            if bar is not None and known:
                bar.report(start + len(some) - len(left), len(paths))
            if bar is not None and bar.cancelled:
                return left + paths[start + TOGETHER :]
        return left

    def _counts(self) -> dict[str, int]:
        results = self.analysis.results.by_path.values()
        findings = {finding.key: finding for result in results for finding in result.checked.findings}
        severities = [finding.severity for finding in findings.values()]
        return {
            "errors": severities.count("error"),
            "warnings": severities.count("warning"),
            "information": severities.count("information"),
            "unreadable": sum(result.checked.broken is not None for result in results),
        }


class _Bar:
    """The client's progress bar."""

    def __init__(self, progress: Any, say: Callable[..., str]) -> None:
        self._progress = progress
        self._say = say
        self._token = str(uuid.uuid4())
        self._begun = False

    async def begin(self) -> None:
        await self._progress.create_async(self._token)
        title = self._say("lsp.checking-workspace")
        self._progress.begin(
            self._token, types.WorkDoneProgressBegin(title=title, cancellable=True, percentage=0)
        )
        self._begun = True

    def report(self, done: int, total: int) -> None:
        self._progress.report(
            self._token,
            types.WorkDoneProgressReport(
                message=self._say("lsp.progress", done=done, total=total),
                percentage=100 * done // total,
                cancellable=True,
            ),
        )

    @property
    def cancelled(self) -> bool:
        future = self._progress.tokens.get(self._token)
        return future is not None and future.cancelled()

    def end(self) -> None:
        if self._begun:
            self._progress.end(self._token, types.WorkDoneProgressEnd())
            self._progress.tokens.pop(self._token, None)
