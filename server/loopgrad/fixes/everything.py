"""Fix all: the preferred fixes of errors and warnings, one after the other, until nothing changes.

Each fix is checked on the text that the ones before it made, and the analysis that accepted it is the one the
next finding is looked for in. A text that was there before is never returned to, so this ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from loopgrad.model import FileResult, Finding, Message
from loopgrad.source import Provider, SourceFile

from .check import Engine, Trial, analyse, codes_to_check, preferred, trials, visible
from .compare import statement_text
from .text import document

#: Passes over a file's findings, and over a workspace's files.
ROUNDS = 20
#: A finding that could not be mended is tried once more if other fixes came since.
ATTEMPTS = 2


@dataclass
class _Work:
    """A workspace under repair: its files as they are now, and what was done."""

    provider: Provider
    select: frozenset[str]
    include_information: bool
    engine: Engine
    own: str | None = None
    changed: dict[str, SourceFile] = field(default_factory=dict)
    titles: list[str | Message] = field(default_factory=list)

    @property
    def codes(self) -> frozenset[str]:
        return codes_to_check(*self.select)

    def concerns(self, finding: Finding) -> bool:
        if finding.code not in self.select or not any(request.preferable for request in finding.requests):
            return False
        return finding.severity != "information" or self.include_information

    def allows(self, trial: Trial) -> bool:
        """A fix for all stays in the file, or in the checked files of the workspace."""
        return all(
            path == self.own if self.own is not None else self.provider.is_checked(path)
            for path in trial.sources
        )

    def file(self, source: SourceFile) -> bool:
        """Mends one file; says whether anything changed."""
        source = self.changed.get(source.path, source)
        self.provider = self.provider.with_source(source)
        result = self._analysed(source)
        seen = {source.text}
        tried: Counter[tuple[str, str]] = Counter()
        any_change = False
        for _ in range(ROUNDS):
            passed: set[tuple[str, str]] = set()
            progress = False
            while True:
                finding = self._next(result, source, passed, tried)
                if finding is None:
                    break
                trial = self._best(finding, source, result, seen)
                if trial is None:
                    continue
                self.provider = trial.provider
                self.changed.update(trial.sources)
                self.titles.append(trial.request.title)
                source, result = trial.sources.get(source.path, source), trial.result
                seen.add(source.text)
                progress = any_change = True
            if not progress:
                break
        return any_change

    def _analysed(self, source: SourceFile) -> FileResult:
        return visible(self.engine(source, self.provider, self.codes), self.provider, {source.path: source})

    def _next(
        self,
        result: FileResult,
        source: SourceFile,
        passed: set[tuple[str, str]],
        tried: Counter[tuple[str, str]],
    ) -> Finding | None:
        """The next finding to mend that this pass has not been at, noted as tried."""
        for finding in result.findings:
            file = source if finding.path == source.path else self.provider.read(finding.path)
            where = statement_text(document(file.text), finding.range) if file else ""
            identity = (finding.code, f"{finding.path}:{where}:{finding.range.column}:{finding.carriers}")
            if self.concerns(finding) and identity not in passed and tried[identity] < ATTEMPTS:
                passed.add(identity)
                tried[identity] += 1
                return finding
        return None

    def _best(self, finding: Finding, source: SourceFile, result: FileResult, seen: set[str]) -> Trial | None:
        accepted: list[Trial] = []
        for trial in trials(finding, source, self.provider, result, self.codes, self.engine):
            fresh = source.path not in trial.sources or trial.sources[source.path].text not in seen
            if trial.may_be_preferred and fresh and self.allows(trial):
                accepted.append(trial)
                if not trial.verdict.beyond:
                    break
        return preferred(accepted)


def fix_all(
    source: SourceFile,
    provider: Provider,
    select: frozenset[str],
    *,
    include_information: bool = False,
    engine: Engine = analyse,
) -> tuple[str, list[str | Message]]:
    """The file's text with all preferred fixes that lie in it, and the titles of what was done."""
    work = _Work(provider, frozenset(select), include_information, engine, own=source.path)
    work.file(source)
    changed = work.changed.get(source.path, source)
    return changed.text, work.titles


def fix_workspace(
    sources: Iterable[SourceFile],
    provider: Provider,
    select: frozenset[str],
    *,
    include_information: bool = False,
    engine: Engine = analyse,
) -> dict[str, str]:
    """The new texts of the files that change, fixes that lie in another checked file included."""
    files = list(sources)
    work = _Work(provider, frozenset(select), include_information, engine)
    for file in files:
        work.provider = work.provider.with_source(file)
    before = {file.path: file.text for file in files}
    for _ in range(ROUNDS):
        # All files are looked at again after a change: a fix in one may show, or mend, a fault in another.
        changes = [file.path for file in files if work.file(file)]
        if not changes:
            break
    return {path: file.text for path, file in work.changed.items() if before.get(path) != file.text}
