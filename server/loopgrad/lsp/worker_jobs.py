"""What the worker does for the server: check a file, offer fixes, fix all, find the workspace's files.

The engine stands behind ``loopgrad.checker``. Another one can take its place: ``LOOPGRAD_ENGINE`` names a
function ``module:function`` that takes a source, a provider and the codes to look for, and gives a
``FileResult``. The tests of the server use one that finds what the comments of a file tell it to.
"""

from __future__ import annotations

import importlib
import os
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from loopgrad import checker
from loopgrad.checker import Checker, FileOutcome
from loopgrad.index.version import version
from loopgrad.lsp import wire
from loopgrad.lsp.worker_cells import cell_edits, line_edits
from loopgrad.lsp.worker_files import EditorConfig, EditorProvider
from loopgrad.lsp.worker_index import WorkerIndex
from loopgrad.lsp.worker_loops import training_loops
from loopgrad.model import Edit, FileResult, Finding, Fix, Message, Problem, Range
from loopgrad.source import Input, Provider, SourceError, SourceFile, discover

#: So many analyses are kept to offer fixes from.
KEPT = 6

Key = tuple[Any, ...]


class _Checker(Checker):
    """Keeps what the engine said, which the check of fixes compares with."""

    raw: FileResult | None = None

    def _analyse(self, source: SourceFile, enabled: frozenset[str]) -> FileResult:
        self.raw = super()._analyse(source, enabled)
        return self.raw


@dataclass
class _Kept:
    source: SourceFile
    result: FileResult
    enabled: frozenset[str]


class Jobs:
    """The worker's state, and one method a job."""

    def __init__(self) -> None:
        self._setup = wire.Setup()
        self._provider = EditorProvider(self._setup)
        self._config = EditorConfig(self._setup.settings)
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._index = WorkerIndex()
        self._index.set_up(self._setup, self._provider, self._config)
        use_engine(os.environ.get("LOOPGRAD_ENGINE"))

    @staticmethod
    def warm_up() -> None:
        """Loads the engine, before there is something to do. libcst waits for the first fix."""
        if not os.environ.get("LOOPGRAD_ENGINE"):
            importlib.import_module("loopgrad.rules.run")
            version()  # of the files that are loaded now: an update may replace them while the worker runs

    # What changes between jobs ---------------------------------------------------------------------

    def set_up(self, setup: wire.Setup) -> None:
        before, self._setup = self._provider, setup
        self._provider = EditorProvider(setup)
        self._provider.adopt(before)
        self._config = EditorConfig(setup.settings)
        self._index.set_up(setup, self._provider, self._config)
        self._kept.clear()

    def take(self, texts: wire.Texts) -> None:
        for path, text in texts.changed.items():
            if text is None:
                self._provider.close(path)
                self._kept.pop(path, None)
            else:
                self._provider.open(path, text)
        for path in texts.stale:
            if self._provider.document(path) is None:
                self._provider.forget(path)
        if texts.settings_changed:
            self._config = EditorConfig(self._setup.settings)
            self._index.set_up(self._setup, self._provider, self._config)

    def rest(self) -> None:
        """Nothing is to be done for a while."""
        self._index.rest()

    def run(self, job: wire.Job) -> Any:
        self._provider.begin()
        self._index.begin()
        try:
            if isinstance(job, wire.Check):
                return self._check(job)
            if isinstance(job, wire.Recall):
                return self._recall(job)
            if isinstance(job, wire.Offer):
                return self._offer(job)
            if isinstance(job, wire.FixAll):
                return self._fix_all(job)
            if isinstance(job, wire.Hold):
                return self._hold(job)
            return self._discover()
        finally:
            self._provider.trim()

    # Checking --------------------------------------------------------------------------------------

    def _check(self, job: wire.Check) -> wire.Checked:
        started = time.perf_counter()
        checked = wire.Checked(job.path)
        if not self._config.excluded(job.path):
            outcome = self._outcome(job, checked)
            if outcome is not None:
                self._tell(checked, outcome)
        checked.depends_on = frozenset(self._provider.touched - {job.path})
        checked.settings_problem = self._config.problem
        checked.seconds = time.perf_counter() - started
        return checked

    def _tell(self, checked: wire.Checked, outcome: FileOutcome) -> None:
        checked.findings = [replace(found, requests=(), fixes=()) for found in outcome.findings]
        checked.partial, checked.problems = outcome.partial, outcome.problems
        checked.lines = self._lines(_places(checked.findings))

    def _recall(self, job: wire.Recall) -> dict[str, wire.Checked]:
        """What is known of files that are not open."""
        known: dict[str, wire.Checked] = {}
        check = Checker(self._config, self._provider)
        for path in job.paths:
            excluded = self._provider.document(path) is not None or self._config.excluded(path)
            hit = None if excluded else self._index.find(path)
            if hit is not None:
                checked = known[path] = wire.Checked(path, depends_on=frozenset(hit.files()) - {path})
                checked.broken = _broken(hit.outcome)
                self._tell(checked, check.finish(hit.outcome))
                checked.settings_problem = self._config.problem
        return known

    def _closed(self, check: Checker, path: str) -> FileOutcome:
        """Checks a file that a search brought, if that has not been done before."""
        hit = self._index.find(path)
        if hit is not None:
            self._provider.touched.update(hit.files())
            return check.finish(hit.outcome)
        outcome, asked = check.heard(Input(path, False))
        self._index.put(path, outcome, asked)
        return check.finish(outcome)

    def _outcome(self, job: wire.Check, checked: wire.Checked) -> FileOutcome | None:
        source = self._provider.document(job.path)
        check = _Checker(self._config, self._provider)
        if source is None:
            if job.filtered:
                outcome = self._closed(check, job.path)
            else:
                outcome = check.check(Input(job.path, True))
            checked.broken = _broken(outcome)
            if checked.broken is None and check.raw is not None:
                source = self._provider.load(job.path)
        else:
            outcome = check.check_source(source)
            checked.broken_cells = len(source.errors)
            try:
                source.tree  # noqa: B018
                self._provider.parsed(source)
            except SourceError as error:
                checked.broken = error.problem()
                return None
        if source is not None and check.raw is not None:
            checked.loops = tuple(training_loops(source.tree))
            self._keep(source, replace(check.raw, findings=outcome.findings))
        return outcome

    def _keep(self, source: SourceFile, result: FileResult) -> _Kept:
        kept = _Kept(source, result, self._config.enabled(source.path))
        self._kept[source.path] = kept
        self._kept.move_to_end(source.path)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return kept

    # Fixing ----------------------------------------------------------------------------------------

    def _offer(self, job: wire.Offer) -> wire.Offered:
        offered = wire.Offered()
        kept = self._kept.get(job.path)
        current = self._provider.document(job.path)
        if kept is None or (current is not None and kept.source is not current):
            self._outcome(wire.Check(job.path), wire.Checked(job.path))
            kept = self._kept.get(job.path)
        if kept is None:
            return offered
        for finding in kept.result.findings:
            if finding.key in job.keys:
                fixes = checker.offer(finding, kept.source, self._provider, kept.result, kept.enabled)
                made = [self._offered(fix) for fix in fixes]
                offered.fixes[finding.key] = tuple(fix for fix in made if fix is not None)
        offered.lines = self._lines(
            (edit.path, edit.range)
            for fixes in offered.fixes.values()
            for fix in fixes
            for edit in fix.edits
            if self._notebook(edit.path) is None
        )
        return offered

    def _offered(self, fix: Fix) -> wire.OfferedFix | None:
        edits: list[Edit] = []
        cells: list[int | None] = []
        for path in dict.fromkeys(edit.path for edit in fix.edits):
            its_edits = [edit for edit in fix.edits if edit.path == path]
            notebook = self._notebook(path)
            if notebook is None:
                edits += its_edits
                cells += [None] * len(its_edits)
                continue
            in_cells = cell_edits(notebook, notebook.apply(its_edits))
            if in_cells is None or self._provider.document(path) is None:
                return None  # a notebook that is not open is no document that an editor can change
            edits += [edit for _, edit in in_cells]
            cells += [cell for cell, _ in in_cells]
        return wire.OfferedFix(
            fix.title, fix.kind, fix.preferred, fix.stops_training, tuple(edits), tuple(cells)
        )

    def _fix_all(self, job: wire.FixAll) -> wire.FixedAll:
        """Each file is fixed with those before it as they are then."""
        fixed = wire.FixedAll()
        over, texts = self._provider, dict[str, str]()
        for path in job.paths:
            source = self._provider.document(path)
            if source is None or self._config.excluded(path) or over.read(path) is not source:
                continue  # silenced by the settings, or half typed
            text, titles = checker.fix_all(source, over, self._config.enabled(path))
            if text != source.text:
                fixed.titles += tuple(titles)
                texts[path] = text
                over = over.with_source(source.with_text(text))
        for path in job.paths if job.across else ():
            current = over.read(path)
            if current is not None and not self._config.excluded(path):
                more = checker.fix_across(current, over, self._config.enabled(path))
                for other, text in more.items():
                    texts[other] = text
                    over = over.with_source(over.load(other).with_text(text))
        edits: list[Edit] = []
        cells: list[int | None] = []
        for path, text in texts.items():
            source = self._provider.document(path) or self._provider.load(path)
            if source.notebook is None:
                edits += (made := line_edits(path, source.text, text))
                cells += [None] * len(made)
            elif self._provider.document(path) is not None:
                in_cells = cell_edits(source, text) or []
                edits += [edit for _, edit in in_cells]
                cells += [cell for cell, _ in in_cells]
        fixed.edits, fixed.cells = tuple(edits), tuple(cells)
        fixed.lines = self._lines((edit.path, edit.range) for edit, cell in zip(edits, cells) if cell is None)
        return fixed

    def _hold(self, job: wire.Hold) -> wire.Held:
        source = self._provider.document(job.path)
        if source is None or self._config.excluded(job.path) or os.environ.get("LOOPGRAD_ENGINE"):
            return wire.Held()
        from loopgrad.lsp.worker_held import held

        try:
            return held(source, self._provider)
        except (SourceError, RecursionError):
            return wire.Held()

    # The workspace ---------------------------------------------------------------------------------

    def _discover(self) -> tuple[str, ...]:
        inputs, _ = discover(self._setup.roots, self._config.excluded)
        return tuple(item.path for item in inputs)

    # Positions -------------------------------------------------------------------------------------

    def _source(self, path: str) -> SourceFile | None:
        try:
            return self._provider.document(path) or self._provider.load(path)
        except SourceError:
            return None

    def _notebook(self, path: str) -> SourceFile | None:
        source = self._source(path) if path.endswith(".ipynb") or self._provider.document(path) else None
        return source if source is not None and source.notebook is not None else None

    def _lines(self, places: Iterable[tuple[str, Range]]) -> wire.Lines:
        found = wire.Lines()
        for path, where in places:
            source = self._source(path)
            if source is None:
                continue
            for line in (where.line, where.end_line):
                text = source.line(line)
                if not text.isascii():
                    found.wide.setdefault(path, {})[line] = text
                if source.notebook is not None and self._provider.document(path) is None:
                    found.cells.setdefault(path, {})[line] = source.place(line)
        return found


def _places(findings: Iterable[Finding]) -> Iterator[tuple[str, Range]]:
    for finding in findings:
        yield finding.path, finding.range
        for step in finding.trace:
            yield step.path, step.range
        if finding.raised_at is not None:
            yield finding.raised_at


def _broken(outcome: FileOutcome) -> Problem | None:
    """Why a file that is not open could not be read, or None."""
    return next((part for part in outcome.problems if part.message.key.startswith("source.")), None)


def use_engine(name: str | None) -> None:
    """Puts another engine behind the checker."""
    if not name:
        return
    module, _, function = name.partition(":")
    engine = getattr(importlib.import_module(module), function)

    def offer(
        finding: Finding,
        source: SourceFile,
        provider: Provider,
        baseline: FileResult,
        select: frozenset[str],
    ) -> tuple[Fix, ...]:
        from loopgrad import fixes

        return fixes.offer(finding, source, provider, baseline=baseline, select=select, engine=engine)

    def fix_all(
        source: SourceFile, provider: Provider, select: frozenset[str]
    ) -> tuple[str, list[str | Message]]:
        from loopgrad import fixes

        return fixes.fix_all(source, provider, select, engine=engine)

    def fix_across(source: SourceFile, provider: Provider, select: frozenset[str]) -> dict[str, str]:
        from loopgrad import fixes

        return fixes.fix_workspace([source], provider, select, engine=engine)

    replacements: dict[str, Any] = {
        "analyse": engine,
        "offer": offer,
        "fix_all": fix_all,
        "fix_across": fix_across,
    }
    for attribute, value in replacements.items():
        setattr(checker, attribute, value)
