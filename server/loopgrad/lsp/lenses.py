"""Code lenses: "Confirm on device" above a loop that trains or that a finding is about.

The command is the client's: it runs the user's script, which this server never does. A client that has it says
so in ``initializationOptions.commands``; a script that is on no disk, or has unsaved changes, is for the client
to save first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lsprotocol import types

from loopgrad.lsp.analysis import Analysis
from loopgrad.lsp.client import CONFIRM
from loopgrad.lsp.diagnostics import Result, Writer
from loopgrad.lsp.documents import Unit
from loopgrad.model import Range


@dataclass
class Lenses:
    analysis: Analysis
    writer: Writer
    #: Asks the client to ask again: a save may move lenses though the text stays as it was.
    refresh: Callable[[], Any] = lambda: None
    _shown: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def result_came(self, unit: Unit, result: Result) -> None:
        shown = (result.checked.loops, *((each.loop_line, each.code) for each in result.checked.findings))
        if self._shown.get(unit.uri) != shown:
            self._shown[unit.uri] = shown
            self.refresh()

    async def of(self, unit: Unit) -> list[types.CodeLens]:
        if not unit.on_disk or unit.is_notebook or not self.analysis.settings.of(unit.path).code_lens:
            return []
        result = await self.analysis.settled(unit)
        if result is None:
            return []
        lines = {line for line, _ in result.checked.loops}
        findings: dict[int, list[str]] = {}
        for finding in result.checked.findings:
            if finding.loop_line is not None and finding.path == unit.path:
                findings.setdefault(finding.loop_line, []).append(finding.code)
        places = result.places(self.analysis.documents)
        title = self.writer.say("lsp.confirm")
        lenses = []
        for line in sorted(lines | findings.keys()):
            place = places.place(unit.path, Range(line, 1, line, 1))
            if place is not None:
                argument = {
                    "uri": unit.uri,
                    "line": place.range.start.line,
                    "codes": sorted(set(findings.get(line, ()))),
                }
                command = types.Command(title=title, command=CONFIRM, arguments=[argument])
                lenses.append(types.CodeLens(range=place.range, command=command))
        return lenses
