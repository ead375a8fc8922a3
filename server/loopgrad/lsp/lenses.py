"""Code lenses: "Confirm on device" above a loop that trains or that a finding is about.

The command is the client's: it runs the user's script, which this server never does. A client that has it says
so in ``initializationOptions.commands``; a script that is on no disk, or has unsaved changes, is for the client
to save first.
"""

from __future__ import annotations

from dataclasses import dataclass

from lsprotocol import types

from loopgrad.lsp.analysis import Analysis
from loopgrad.lsp.diagnostics import Writer
from loopgrad.lsp.documents import Unit
from loopgrad.model import Range

CONFIRM = "loopgrad.confirm"


@dataclass
class Lenses:
    analysis: Analysis
    writer: Writer

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
