"""When documents are analysed, and what becomes of the results.

Each open unit has at most one check under way. A newer one takes its place; a result for a text that has moved
on is still shown, moved along with the lines, until the next one comes. While a text does not parse, the last
diagnostics stay. Saving a module checks the open documents that import it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from loopgrad.lsp import wire
from loopgrad.lsp.analysis_queue import AnalysisQueue, Priority, WorkerError
from loopgrad.lsp.diagnostics import Result, Results
from loopgrad.lsp.documents import Documents, Snapshot, Unit, real
from loopgrad.lsp.publishing import Publisher
from loopgrad.lsp.settings import SettingsStore
from loopgrad.model import Message, Problem

#: Seconds in which changes of files on disk are gathered: a checkout changes many at once.
GATHER = 0.2


@dataclass
class Analysis:
    documents: Documents
    settings: SettingsStore
    results: Results
    #: Tells the log something (a message, and whether the user should hear of it).
    tell: Callable[[Message, bool], None]
    #: Hears of each new result of an open unit.
    after: Callable[[Unit, Result], None] = lambda unit, result: None
    publisher: Publisher = field(init=False)
    queue: AnalysisQueue = field(init=False)
    roots: tuple[str, ...] = ()
    #: Set once the settings are known: no check starts before.
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    _pending: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    #: Files that were checked without being open: once they are closed again, they still are.
    _closed: set[str] = field(default_factory=set)
    _again: set[str] = field(default_factory=set)
    _touched: set[str] = field(default_factory=set)
    _gathering: bool = False
    _stale: set[str] = field(default_factory=set)
    _set_up: bool = False
    _settings_changed: bool = False
    _told: set[Message] = field(default_factory=set)

    # The worker's view -------------------------------------------------------------------------------

    def news(self) -> list[Any]:
        """What the worker has to know before its next job."""
        messages: list[Any] = []
        if not self._set_up:
            self._set_up = True
            messages.append(wire.Setup(self.roots, self.settings.wire(), self.settings.whole_workspace))
        changed = self.documents.news()
        if changed or self._stale or self._settings_changed:
            messages.append(wire.Texts(changed, tuple(self._stale), self._settings_changed))
            self._stale.clear()
            self._settings_changed = False
        return messages

    def worker_restarted(self) -> None:
        self._set_up = False
        self.documents.forget_told()

    def reconfigure(self) -> None:
        """Folders or settings are other ones: everything open is checked again."""
        self._set_up = False
        self._told.clear()
        for unit in self.documents:
            self.check(unit)
        for path in list(self.results.by_path):
            if self.documents.by_path(path) is None:
                self.check_closed(path)

    # Documents ---------------------------------------------------------------------------------------

    def opened(self, unit: Unit) -> None:
        self.check(unit)

    def changed(self, unit: Unit) -> None:
        settings = self.settings.of(unit.path)
        if settings.on_type and settings.active:
            self.check(unit, delay=settings.debounce)

    def saved(self, unit: Unit) -> None:
        self.check(unit)
        self.check_dependents([unit.path])

    def closed(self, unit: Unit) -> None:
        task = self._pending.pop(unit.uri, None)
        if task is not None:
            task.cancel()
        self.publisher.refresh(self.results.drop(unit.path))
        wanted = self.settings.of(unit.path).diagnostic_mode == "workspace" or unit.path in self._closed
        if wanted and os.path.isfile(unit.path):
            self.check_closed(unit.path)

    # Checking ----------------------------------------------------------------------------------------

    def check(self, unit: Unit, priority: Priority = Priority.EDITED, delay: float = 0) -> None:
        """Starts a check, in place of one that waits or runs."""
        old = self._pending.get(unit.uri)
        if old is not None:
            old.cancel()
        task = asyncio.get_running_loop().create_task(self._check(unit, priority, delay))
        self._pending[unit.uri] = task
        task.add_done_callback(lambda done: self._ended(unit.uri, done))

    def _ended(self, uri: str, task: asyncio.Task[None]) -> None:
        if self._pending.get(uri) is task:
            del self._pending[uri]
        if not task.cancelled() and task.exception() is not None:
            self.tell(Message.of("lsp.failed", reason=str(task.exception())), False)

    async def _check(self, unit: Unit, priority: Priority, delay: float) -> None:
        if delay:
            await asyncio.sleep(delay)
        await self.ready.wait()
        if not self.settings.of(unit.path).active:
            self.publisher.refresh(self.results.drop(unit.path))
            return
        seen: list[Snapshot] = []
        try:
            checked = await self.queue.submit(
                wire.Check(unit.path),
                priority,
                ("check", unit.uri),
                lambda: seen.append(unit.snapshot()),
            )
        except WorkerError as error:
            self.tell(Message.of("lsp.not-analysed", path=unit.path, reason=str(error)), False)
            return
        if self.documents.unit(unit.uri) is unit:
            self._take(unit, checked, seen[-1])

    def _take(self, unit: Unit, checked: wire.Checked, snapshot: Snapshot) -> None:
        known = self.results.by_path.get(unit.path)
        broken = checked.broken
        if known is not None and checked.broken_cells > known.checked.broken_cells:
            broken = next(iter(checked.problems), None)
        if broken is None:
            result = Result(checked, snapshot)
        elif known is not None:
            result = replace(known, broken=broken.message, broken_line=broken.line)
        else:
            empty = wire.Checked(unit.path, depends_on=checked.depends_on)
            result = Result(empty, snapshot, broken=broken.message, broken_line=broken.line)
        self._tell_problems(checked)
        self.publisher.refresh(self.results.put(unit.path, result))
        self.after(unit, result)

    def _tell_problems(self, checked: wire.Checked) -> None:
        """Tells the log what is not about the user's code, each thing once."""
        messages = [_located(part) for part in checked.problems if not part.message.key.startswith("source.")]
        for part in checked.partial:
            messages.append(Message.of("lsp.partial", path=part.path, line=part.line, reason=part.reason))
        if checked.settings_problem is not None:
            messages.append(checked.settings_problem)
        for message in messages:
            if message not in self._told:
                self._told.add(message)
                self.tell(message, message is checked.settings_problem)

    async def settled(self, unit: Unit) -> Result | None:
        """The unit's result once no check of it is under way."""
        while (task := self._pending.get(unit.uri)) is not None:
            await asyncio.wait({task})
        return self.results.by_path.get(unit.path)

    async def fresh(self, unit: Unit) -> Result | None:
        """A result for the unit's very text, made if there is none; None if that text does not parse."""
        for _ in range(3):
            result = await self.settled(unit)
            if result is not None and result.snapshot is not None:
                if result.snapshot.revision == unit.revision:
                    return None if result.broken is not None else result
            if self.documents.unit(unit.uri) is not unit or not self.settings.of(unit.path).active:
                return None
            revision = unit.revision
            self.check(unit, Priority.INTERACTIVE)
            result = await self.settled(unit)
            if result is not None and result.broken is not None and unit.revision == revision:
                return None
        return None

    # Other files -------------------------------------------------------------------------------------

    def check_closed(self, path: str) -> asyncio.Task[None]:
        """Checks a file that is not open, when there is nothing else to do."""
        return asyncio.get_running_loop().create_task(self.check_closed_now(path))

    async def check_closed_now(self, path: str) -> None:
        self._closed.add(path)
        if not self.settings.of(path).active:
            if self.documents.by_path(path) is None:
                self.publisher.refresh(self.results.drop(path))
            return
        try:
            checked = await self.queue.submit(
                wire.Check(path, filtered=True), Priority.BACKGROUND, ("closed", path)
            )
        except WorkerError as error:
            self.tell(Message.of("lsp.not-analysed", path=path, reason=str(error)), False)
            return
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and getattr(task, "cancelling", lambda: 0)():
                raise
            return  # a newer check of the same file took over
        if self.documents.by_path(path) is None:
            self.publisher.refresh(self.results.put(path, Result(checked, None)))

    async def recall(self, paths: list[str]) -> set[str]:
        """Takes what is known of files that are not open from earlier checks; gives those of which it is."""
        try:
            known = await self.queue.submit(wire.Recall(tuple(paths)), Priority.BACKGROUND, "recall")
        except WorkerError:
            return set()
        for path, checked in known.items():
            if self.documents.by_path(path) is None:
                self._closed.add(path)
                self.publisher.refresh(self.results.put(path, Result(checked, None)))
        return set(known)

    def check_dependents(self, paths: Iterable[str]) -> None:
        """Checks what was analysed with the help of these files."""
        changed = {real(path) for path in paths}
        for source, result in list(self.results.by_path.items()):
            if any(real(path) in changed for path in result.checked.depends_on):
                unit = self.documents.by_path(source)
                if unit is None:
                    self.check_closed(source)
                elif unit.uri not in self._pending and real(source) not in changed:
                    self.check(unit, Priority.DEPENDENT)

    def files_changed(self, changed: Iterable[str], created: Iterable[str], deleted: Iterable[str]) -> None:
        """Files changed on disk, outside of the editor or by it."""
        changed = [path for path in changed if not self._is_current(path)]
        created, deleted = list(created), list(deleted)
        everything = [*changed, *created, *deleted]
        self._stale.update(everything)
        if any(os.path.basename(path) == "pyproject.toml" for path in everything):
            self._settings_changed = True
            self._told.clear()
            self._again.update(self.results.by_path)
        for gone in deleted:
            for path in list(self.results.by_path):
                inside = path == gone or path.startswith(gone + os.sep)
                if inside and self.documents.by_path(path) is None:
                    self.publisher.refresh(self.results.drop(path))
        again = {path for path in (*changed, *created) if path in self.results.by_path}
        for path in created:
            if path.endswith((".py", ".ipynb")) and self.settings.of(path).diagnostic_mode == "workspace":
                again.add(path)
        if any(path.endswith(".py") for path in (*created, *deleted)):
            again.update(unit.path for unit in self.documents)  # an import may lead elsewhere now
        self._again.update(again)
        self._touched.update(everything)
        if not self._gathering:
            self._gathering = True
            asyncio.get_running_loop().call_later(GATHER, self._gathered)

    def _is_current(self, path: str) -> bool:
        """Whether a file is open and its check has seen the text, or will: a save tells of itself twice."""
        unit = self.documents.by_path(path)
        if unit is None:
            return False
        result = self.results.by_path.get(unit.path)
        seen = result.snapshot.revision if result is not None and result.snapshot is not None else None
        return unit.uri in self._pending or seen == unit.revision

    def _gathered(self) -> None:
        self._gathering = False
        again, self._again = self._again, set()
        touched, self._touched = self._touched, set()
        self.check_dependents(touched)
        for path in sorted(again):
            unit = self.documents.by_path(path)
            if unit is None:
                self.check_closed(path)
            elif unit.uri not in self._pending:
                self.check(unit, Priority.DEPENDENT)


def _located(problem: Problem) -> Message:
    return Message.of("lsp.problem", path=problem.path, line=problem.line, reason=problem.message)
