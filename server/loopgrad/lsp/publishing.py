"""Bringing diagnostics to the client: pushed when they change, or pulled when the client asks.

A client that can pull and can be told to pull again gets open documents' diagnostics that way alone, so that
nothing shows twice. What no client pulls is pushed in any case: notebooks, whose cells are one result, and files
that are not open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from lsprotocol import types

from loopgrad.lsp.diagnostics import Results, Writer
from loopgrad.lsp.documents import Documents, Unit
from loopgrad.lsp.settings import SettingsStore


@dataclass
class Publisher:
    documents: Documents
    results: Results
    settings: SettingsStore
    writer: Writer
    publish: Callable[[types.PublishDiagnosticsParams], None]
    ask_to_pull: Callable[[], None] = lambda: None
    pull: bool = False
    _published: dict[str, tuple[int | None, list[types.Diagnostic]]] = field(default_factory=dict)
    _by_path: dict[str, set[str]] = field(default_factory=dict)
    _asked: bool = False

    def refresh(self, paths: Iterable[str]) -> None:
        """What shows in these files may have changed."""
        for path in paths:
            unit = self.documents.by_path(path)
            if self.pull and unit is not None and not unit.is_notebook:
                for uri in self._by_path.pop(path, set()):
                    self._push(uri, [], None)
                self._ask()
            else:
                self._push_file(path, unit)

    def _push_file(self, path: str, unit: Unit | None) -> None:
        found = self._written(path)
        for uri in self._by_path.get(path, set()) - found.keys():
            self._push(uri, [], None)
        versions = {part.uri: part.version for part in unit.parts} if unit else {}
        for uri, diagnostics in found.items():
            self._push(uri, diagnostics, versions.get(uri))
        shown = {uri for uri in found if uri in self._published}
        if shown:
            self._by_path[path] = shown
        else:
            self._by_path.pop(path, None)

    def _push(self, uri: str, diagnostics: list[types.Diagnostic], version: int | None) -> None:
        before = self._published.get(uri, (None, []))
        if diagnostics or version is not None:
            self._published[uri] = version, diagnostics
        else:
            self._published.pop(uri, None)
        if before != (version, diagnostics):
            self.publish(types.PublishDiagnosticsParams(uri, diagnostics, version))

    def _ask(self) -> None:
        """Asks the client to pull, once for all that changes in this turn of the loop."""
        if not self._asked:
            self._asked = True
            asyncio.get_running_loop().call_later(0.01, self._asking)

    def _asking(self) -> None:
        self._asked = False
        self.ask_to_pull()

    def _written(self, path: str) -> dict[str, list[types.Diagnostic]]:
        syntax = self.settings.of(path).show_syntax_errors
        return self.writer.diagnostics(self.results, path, syntax)

    def report(self, unit: Unit, previous: str | None) -> types.DocumentDiagnosticReport:
        """The answer to a pull."""
        identity = str(self.results.serial(unit.path))
        if previous == identity:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=identity)
        found = self._written(unit.path).get(unit.uri, [])
        return types.RelatedFullDocumentDiagnosticReport(items=found, result_id=identity)
