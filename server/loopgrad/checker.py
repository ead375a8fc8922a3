"""From files to findings: reading, prefilter, analysis, comments that silence, settings.

``Checker`` does it for one file at a time (``parallel`` for many). What a file brings is a ``FileOutcome``,
plain data that travels between processes; ``merge`` makes one ``Outcome`` of them, where a cause that two
files lead to is one finding.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from loopgrad.config import Config
from loopgrad.model import FileResult, Finding, Fix, Message, Partial, Problem
from loopgrad.rules.catalogue import RULES
from loopgrad.source import FileProvider, Input, Provider, SourceError, SourceFile
from loopgrad.source.asked import Asked

#: What the rules can find something in, besides ``torch`` itself: files that get it from a helper.
_NEEDED = (b"backward", b"requires_grad", b"retain_graph", b"detach", b"training_step", b"no_grad")


def may_hold_findings(data: bytes) -> bool:
    """The prefilter: whether a file's bytes have ``torch`` or a name that a rule needs."""
    return b"torch" in data or any(name in data for name in _NEEDED)


# The engine, behind three functions: loaded when it is needed, and replaced in tests ---------------------


def analyse(source: SourceFile, provider: Provider, select: frozenset[str]) -> FileResult:
    from loopgrad import rules
    from loopgrad.rules.deep import run_deep

    result: FileResult = run_deep(lambda: rules.check(source, provider, select=select))
    return result


def offer(
    finding: Finding,
    source: SourceFile,
    provider: Provider,
    baseline: FileResult,
    select: frozenset[str],
) -> tuple[Fix, ...]:
    from loopgrad import fixes
    from loopgrad.rules.deep import run_deep

    return run_deep(lambda: fixes.offer(finding, source, provider, baseline=baseline, select=select))


def fix_all(
    source: SourceFile, provider: Provider, select: frozenset[str]
) -> tuple[str, list[str | Message]]:
    from loopgrad import fixes
    from loopgrad.rules.deep import run_deep

    return run_deep(lambda: fixes.fix_all(source, provider, select))


def fix_across(source: SourceFile, provider: Provider, select: frozenset[str]) -> dict[str, str]:
    from loopgrad import fixes
    from loopgrad.rules.deep import run_deep

    return run_deep(lambda: fixes.fix_workspace([source], provider, select))


# One file ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UnusedIgnore:
    """A comment, or one code of it, that silences nothing."""

    path: str
    line: int
    column: int
    message: Message


@dataclass
class FileOutcome:
    """What one file brought. ``used`` and ``unused`` are comments by (path, line, entry)."""

    path: str
    findings: list[Finding] = field(default_factory=list)
    partial: list[Partial] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    used: set[tuple[str, int, str]] = field(default_factory=set)
    comments: list[tuple[str, UnusedIgnore]] = field(default_factory=list)
    #: Whether the prefilter lets the file through, as far as is known.
    wanted: bool = True


class Checker:
    """Checks and fixes files by one set of settings.

    ``offer_fixes`` computes the fixes of each finding, which takes further analyses; ``show_unused`` looks
    for comments that silence nothing, also in files that the prefilter skips.
    """

    def __init__(
        self,
        config: Config,
        provider: FileProvider,
        *,
        offer_fixes: bool = False,
        show_unused: bool = False,
    ) -> None:
        self.config = config
        self.provider = provider
        self.offer_fixes = offer_fixes
        self.show_unused = show_unused
        #: Files that ``fixed`` has seen with findings whose fixes may lie in other checked files.
        self.reach_across: list[Input] = []

    def check(self, item: Input) -> FileOutcome:
        """Checks a file. Whatever goes wrong with it is part of the outcome."""
        outcome = self.finish(self.examine(item))
        self.provider.trim()
        return outcome

    def examine(self, item: Input) -> FileOutcome:
        """Checks a file; the findings have the severities of their rules, whatever the settings say."""
        outcome = FileOutcome(item.path, wanted=not item.named)
        try:
            source = self._load(item)
            if source is not None:
                self._check(source, outcome)
            else:
                outcome.wanted = False
        except SourceError as error:
            outcome.problems.append(error.problem())
        return outcome

    def heard(self, item: Input) -> tuple[FileOutcome, Asked]:
        """``examine``, and what it asked."""
        self.provider.asked = asked = Asked()
        try:
            return self.examine(item), asked
        finally:
            self.provider.asked = None

    def finish(self, outcome: FileOutcome) -> FileOutcome:
        """The outcome with the severities that the settings give."""
        outcome.findings = [
            replace(finding, severity=self.config.severity(finding)) for finding in outcome.findings
        ]
        return outcome

    def check_source(self, source: SourceFile) -> FileOutcome:
        """Checks a text that is at hand, without the prefilter: a file that is open in an editor."""
        outcome = FileOutcome(source.path)
        try:
            self._check(source, outcome, filtered=False)
        except SourceError as error:
            outcome.problems.append(error.problem())
        return self.finish(outcome)

    def _load(self, item: Input) -> SourceFile | None:
        """The file's source, or None if a search of a folder brought it and the prefilter skips it."""
        if item.named:
            return self.provider.load(item.path)
        return self.provider.peek(item.path, self._worth_reading)

    def _worth_reading(self, data: bytes) -> bool:
        return may_hold_findings(data) or (self.show_unused and b"loopgrad:" in data)

    def _check(self, source: SourceFile, outcome: FileOutcome, *, filtered: bool = True) -> None:
        outcome.wanted = self._worth_reading(source.text.encode("utf-8", "replace"))
        outcome.problems.extend(error.problem() for error in source.errors)
        source.tree  # noqa: B018 - raises what is wrong with it
        if source.suppressions.everything:
            return
        if filtered and not outcome.wanted:
            return  # a file that was named has been parsed all the same
        enabled = self.config.enabled(source.path)
        result = self._analyse(source, enabled)
        outcome.partial.extend(result.partial)
        outcome.problems.extend(result.problems)
        visible = [
            finding
            for finding in result.findings
            if finding.code in enabled and not self._silenced(finding, source, outcome)
        ]
        baseline = replace(result, findings=visible)
        for finding in visible:
            changed = replace(finding)
            if self.offer_fixes:
                changed.fixes = self._offer(finding, source, baseline, enabled, outcome)
            outcome.findings.append(changed)
        if self.show_unused and not outcome.partial:
            outcome.comments.extend(_comments(source, enabled))

    def _analyse(self, source: SourceFile, enabled: frozenset[str]) -> FileResult:
        try:
            return analyse(source, self.provider, enabled)
        except (RecursionError, MemoryError):
            return FileResult(source.path, partial=[Partial(source.path, 1, Message.of("check.too-deep"))])
        except Exception as error:  # no file may end the run
            return FileResult(source.path, problems=[_internal(source.path, error)])

    def _offer(
        self,
        finding: Finding,
        source: SourceFile,
        baseline: FileResult,
        enabled: frozenset[str],
        outcome: FileOutcome,
    ) -> tuple[Fix, ...]:
        try:
            return offer(finding, source, self.provider, baseline, enabled)
        except (RecursionError, MemoryError):
            return ()  # an edit beside a statement that is nested too deeply
        except Exception as error:  # a finding without a fix is still a finding
            outcome.problems.append(_internal(source.path, error))
            return ()

    def _silenced(self, finding: Finding, source: SourceFile, outcome: FileOutcome) -> bool:
        if finding.path != source.path:
            other = self.provider.read(finding.path)
            if other is None:
                return False
            source = other
        found = source.suppressions.find(finding)
        if found is None:
            return False
        ignore, entry = found
        outcome.used.add((source.path, ignore.line, entry))
        return True

    # Fixes -----------------------------------------------------------------------------------------

    def fixed(self, item: Input) -> tuple[SourceFile, bytes, list[str | Message]] | None:
        """What ``--fix`` makes of a file: its source, the new bytes and what was done; None for nothing.

        Raises SourceError where the file cannot be read or the result could not be stored.
        """
        source, findings = self._to_fix(item)
        if source is None or not findings:
            return None
        if any(
            step.path != source.path and self.provider.is_checked(step.path)
            for finding in findings
            for request in finding.requests
            for step in request.steps
        ):
            self.reach_across.append(item)
        try:
            text, titles = fix_all(source, self.provider, self.config.enabled(item.path))
        except Exception as error:
            raise _as_source_error(item.path, error) from error
        return None if text == source.text else (source, _encoded(source, text), titles)

    def fixed_across(self, item: Input) -> list[tuple[SourceFile, bytes]]:
        """What is left for ``--fix`` in other checked files, for a file of ``reach_across``."""
        source, findings = self._to_fix(item)
        if source is None or not findings:
            return []
        try:
            texts = fix_across(source, self.provider, self.config.enabled(item.path))
        except Exception as error:
            raise _as_source_error(item.path, error) from error
        changed = [(self.provider.load(path), text) for path, text in texts.items()]
        return [(file, _encoded(file, text)) for file, text in changed if file.text != text]

    def _to_fix(self, item: Input) -> tuple[SourceFile | None, list[Finding]]:
        """The file and its errors and warnings."""
        source = self._load(item)
        outcome = FileOutcome(item.path)
        if source is not None:
            Checker(self.config, self.provider)._check(source, outcome)
        return source, to_fix(self.finish(outcome))


def to_fix(outcome: FileOutcome) -> list[Finding]:
    """The errors and warnings: what ``--fix`` tries to mend."""
    return [finding for finding in outcome.findings if finding.severity != "information"]


def _encoded(source: SourceFile, text: str) -> bytes:
    """The new bytes of a file, if its new text is Python."""
    try:
        source.with_text(text).tree  # noqa: B018
    except SourceError:
        raise SourceError(source.path, 1, Message.of("check.no-fix")) from None
    return source.encode(text)


def _as_source_error(path: str, error: Exception) -> SourceError:
    problem = _internal(path, error)
    return SourceError(problem.path, problem.line, problem.message)


def _internal(path: str, error: Exception) -> Problem:
    if os.environ.get("LOOPGRAD_DEBUG"):
        raise error
    return Problem(path, 1, Message.of("check.internal", error=f"{type(error).__name__}: {error}"))


def _comments(source: SourceFile, enabled: frozenset[str]) -> Iterator[tuple[str, UnusedIgnore]]:
    """Each comment's entries that could have silenced something, with what to say if they did not."""
    for ignore in source.suppressions.ignores:
        place = (source.path, ignore.line, ignore.column)
        if ignore.codes is None:
            yield "", UnusedIgnore(*place, Message.of("ignore.unused"))
        for code in ignore.codes or ():
            known = [rule for rule in RULES if rule.startswith(code)]
            if not known:
                yield code, UnusedIgnore(*place, Message.of("ignore.unknown-code", code=code))
            elif not enabled.isdisjoint(known):
                yield code, UnusedIgnore(*place, Message.of("ignore.unused-code", code=code))


# Many files ----------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """What a run brought, in the order of the inputs."""

    findings: list[Finding] = field(default_factory=list)
    partial: list[Partial] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unused: list[UnusedIgnore] = field(default_factory=list)
    files: int = 0


def merge(inputs: Sequence[Input], outcomes: Iterable[FileOutcome]) -> Outcome:
    """One outcome of many; a finding that several files lead to counts once, the most certain of them."""
    merged = Outcome(files=len(inputs))
    order = {item.path: number for number, item in enumerate(inputs)}
    findings: dict[Any, Finding] = {}
    used: set[tuple[str, int, str]] = set()
    comments: list[tuple[str, UnusedIgnore]] = []
    for outcome in outcomes:
        merged.partial.extend(part for part in outcome.partial if part not in merged.partial)
        merged.problems.extend(problem for problem in outcome.problems if problem not in merged.problems)
        used |= outcome.used
        comments.extend(outcome.comments)
        for finding in outcome.findings:
            known = findings.get(finding.key)
            if known is None or (known.certainty, finding.certainty) == ("possible", "certain"):
                findings[finding.key] = finding
    merged.findings = sorted(
        findings.values(),
        key=lambda finding: (order.get(finding.path, len(order)), finding.path, finding.range, finding.code),
    )
    merged.unused = [unused for entry, unused in comments if (unused.path, unused.line, entry) not in used]
    return merged
