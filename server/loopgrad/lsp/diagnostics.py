"""From findings to diagnostics: one for the finding, and a hint where the exception would point.

``Results`` keeps what each analysed file brought. A finding shows in the file of its own line, wherever the
analysis began that came across it; two files that lead to one cause show it once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from loopgrad.lsp.documents import Documents, Snapshot
from loopgrad.lsp.places import Place, Places
from loopgrad.lsp.rule_pages import RulePages
from loopgrad.lsp.wire import Checked
from loopgrad.lsp.wording import words
from loopgrad.model import Finding, Message, TraceStep

if TYPE_CHECKING:
    from loopgrad.lsp.confirmations import Mark

SOURCE = "loopgrad"

_SEVERITY = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
}

#: Code that says nothing: editors fade it.
_UNNECESSARY = frozenset({"LG202", "LG401", "LG402"})


@dataclass
class Result:
    """What the analysis of one file said, and the text it saw (None: the file on disk)."""

    checked: Checked
    snapshot: Snapshot | None
    #: Counts up with each new result; it is what pull diagnostics compare.
    serial: int = 0
    #: What is wrong with the text now, while ``checked`` still speaks of the last one that parsed.
    broken: Message | None = None
    broken_line: int = 0

    def places(self, documents: Documents) -> Places:
        snapshots = {} if self.snapshot is None else {self.checked.path: self.snapshot}
        return Places(documents, self.checked.lines, snapshots)

    def targets(self) -> set[str]:
        """The files that it shows something in, its own always."""
        found = {self.checked.path}
        for finding in self.checked.findings:
            found.add(finding.path)
            if finding.raised_at is not None:
                found.add(finding.raised_at[0])
        return found


@dataclass
class Results:
    """All results, by the path that was analysed."""

    by_path: dict[str, Result] = field(default_factory=dict)
    _targets: dict[str, set[str]] = field(default_factory=dict)
    _serial: int = 0

    def put(self, path: str, result: Result) -> set[str]:
        """Takes in a result; gives the files whose diagnostics may be other ones now."""
        before = self.drop(path)
        self._serial += 1
        self.by_path[path] = replace(result, serial=self._serial)
        targets = result.targets()
        for target in targets:
            self._targets.setdefault(target, set()).add(path)
        return before | targets

    def drop(self, path: str) -> set[str]:
        old = self.by_path.pop(path, None)
        if old is None:
            return {path}
        targets = old.targets()
        for target in targets:
            sources = self._targets.get(target, set())
            sources.discard(path)
            if not sources:
                self._targets.pop(target, None)
        return targets

    def about(self, path: str) -> Iterator[tuple[Result, Finding]]:
        """The findings that show in a file, each once and as certain as any analysis found it."""
        found: dict[Any, tuple[Result, Finding]] = {}
        own_first = sorted(self._targets.get(path, ()), key=lambda source: (source != path, source))
        for source in own_first:
            result = self.by_path[source]
            for finding in result.checked.findings:
                shows = finding.path == path or (finding.raised_at or ("",))[0] == path
                known = found.get(finding.key)
                if shows and (
                    known is None or (known[1].certainty, finding.certainty) == ("possible", "certain")
                ):
                    found[finding.key] = result, finding
        yield from found.values()

    def touch(self, path: str) -> None:
        """What shows in a file is said otherwise now, though the findings are the same."""
        for source in self._targets.get(path, ()):
            self._serial += 1
            self.by_path[source] = replace(self.by_path[source], serial=self._serial)

    def serial(self, path: str) -> int:
        """A number that changes when what shows in a file may have changed."""
        return max((self.by_path[source].serial for source in self._targets.get(path, ())), default=0)


@dataclass
class Writer:
    """Words findings for one client: its language, its capabilities, its rule pages."""

    documents: Documents
    pages: RulePages
    language: str = "en"
    related: bool = True
    tags: bool = True
    code_description: bool = True
    data: bool = True
    #: What a run has shown of a finding.
    mark_of: Callable[[Finding], Mark | None] = lambda finding: None

    def say(self, key: str, **args: Any) -> str:
        return words(Message.of(key, **args), self.language)

    # One file ----------------------------------------------------------------------------------------

    def diagnostics(self, results: Results, path: str, syntax: bool) -> dict[str, list[types.Diagnostic]]:
        """What to show in a file, by URI: one for a document, one for each cell of a notebook."""
        unit = self.documents.by_path(path)
        uris = [part.uri for part in unit.parts] if unit else [self.documents.uri_of(path)]
        found: dict[str, list[types.Diagnostic]] = {uri: [] for uri in uris}
        hints: dict[tuple[str, int], types.Diagnostic] = {}
        for result, finding in results.about(path):
            places = result.places(self.documents)
            if finding.path == path:
                place = places.place(path, finding.range)
                if place is not None:
                    found.setdefault(place.uri, []).append(self._diagnostic(finding, place, places))
            if finding.raised_at is not None and finding.raised_at[0] == path:
                self._hint(finding, places, hints)
        for (uri, _), hint in hints.items():
            found.setdefault(uri, []).append(hint)
        own = results.by_path.get(path)
        if syntax and own is not None and own.broken is not None and unit is not None and unit.parts:
            found[unit.parts[0].uri].append(self._syntax(own.broken, own.broken_line))
        return found

    def _diagnostic(self, finding: Finding, place: Place, places: Places) -> types.Diagnostic:
        message = words(finding.message, self.language)
        cell = places.cell(finding.path, finding.range.line)
        if cell is not None:
            message = f"{self.say('report.cell', cell=cell)}: {message}"
        mark = self.mark_of(finding)
        data: dict[str, Any] = {"key": list(finding.key)}
        severity = finding.severity
        if mark is not None:
            message = self.say("lsp.marked", message=message, mark=mark.message)
            data["confirmed"] = mark.plain()
            # A run that shows nothing weighs more than what was reckoned.
            severity = "information" if mark.status == "refuted" else severity
        related = self.related_information(finding, places)
        if not self.related:
            message = "\n".join([message, *("- " + part.message for part in related)])
        return types.Diagnostic(
            range=place.range,
            message=message,
            severity=_SEVERITY.get(severity, types.DiagnosticSeverity.Warning),
            code=finding.code,
            code_description=self._description(finding.code),
            source=SOURCE,
            tags=[types.DiagnosticTag.Unnecessary] if self.tags and finding.code in _UNNECESSARY else None,
            related_information=related if self.related and related else None,
            data=data if self.data else None,
        )

    def related_information(
        self, finding: Finding, places: Places
    ) -> list[types.DiagnosticRelatedInformation]:
        """The story, step by step, each at its own line."""
        found = []
        for step in finding.trace:
            place = places.place(step.path, step.range)
            if place is not None:
                location = types.Location(place.uri, place.range)
                found.append(types.DiagnosticRelatedInformation(location, self.step(step)))
        return found

    def step(self, step: TraceStep) -> str:
        role = self.say(f"report.role.{step.role}")
        message = words(step.message, self.language)
        if step.iteration is None:
            return self.say("report.step", role=role, message=message)
        return self.say("report.step-iteration", role=role, iteration=step.iteration, message=message)

    def _hint(self, finding: Finding, places: Places, hints: dict[tuple[str, int], types.Diagnostic]) -> None:
        """A hint at the ``.backward()`` that a traceback names, which links to the cause."""
        assert finding.raised_at is not None
        path, where = finding.raised_at
        place = places.place(path, where)
        cause = places.place(finding.path, finding.range)
        if place is None or cause is None or (path == finding.path and where == finding.range):
            return
        link = types.DiagnosticRelatedInformation(
            types.Location(cause.uri, cause.range), words(finding.message, self.language)
        )
        known = hints.get((place.uri, place.range.start.line))
        if known is not None:
            known.related_information = [*(known.related_information or []), link]
            return
        line = cause.range.start.line + 1
        key = "lsp.hint" if finding.iteration is None else "lsp.hint-iteration"
        if cause.uri != place.uri:
            key += "-elsewhere"
        name = cause.uri.rpartition("/")[2]
        hints[place.uri, place.range.start.line] = types.Diagnostic(
            range=place.range,
            message=self.say(key, line=line, iteration=finding.iteration, file=name),
            severity=types.DiagnosticSeverity.Hint,
            code=finding.code,
            code_description=self._description(finding.code),
            source=SOURCE,
            related_information=[link] if self.related else None,
            data={"key": list(finding.key), "hint": True} if self.data else None,
        )

    def _syntax(self, broken: Message, line: int) -> types.Diagnostic:
        start = types.Position(max(line - 1, 0), 0)
        return types.Diagnostic(
            range=types.Range(start, types.Position(start.line + 1, 0)),
            message=self.say("lsp.syntax", reason=broken),
            severity=types.DiagnosticSeverity.Information,
            source=SOURCE,
        )

    def _description(self, code: str) -> types.CodeDescription | None:
        href = self.pages.href(code) if self.code_description else None
        return types.CodeDescription(href) if href else None
