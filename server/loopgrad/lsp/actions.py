"""Code actions: the checked fixes of what the cursor is on, whichever line of the story that is.

The list needs to know which fixes hold, so they are computed when it is asked for, and kept until a text that
they touch changes. Their edits are sent when one is chosen; by then the documents must be as they were, else the
request fails with *content modified*.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified

from loopgrad.lsp import wire
from loopgrad.lsp.analysis import Analysis
from loopgrad.lsp.analysis_queue import Priority, WorkerError
from loopgrad.lsp.client import CONFIRM, FIX_ALL
from loopgrad.lsp.diagnostics import SOURCE, Result, Writer
from loopgrad.lsp.documents import Documents, Unit
from loopgrad.lsp.places import overlaps
from loopgrad.lsp.wording import words
from loopgrad.lsp.workspace_edits import EditSet, workspace_edit
from loopgrad.model import Finding, Range

#: So many fixes are remembered for being resolved.
REMEMBERED = 500

Key = tuple[Any, ...]


@dataclass
class Actions:
    documents: Documents
    analysis: Analysis
    writer: Writer
    #: Whether the client resolves edits, takes versioned edits, has its own explanation.
    lazy: bool = True
    versioned: bool = True
    explain_command: str = "loopgrad.explain"
    can_show: bool = False
    #: Whether the client runs scripts to confirm a finding.
    can_confirm: bool = False
    _offers: dict[tuple[str, int, int, Key], tuple[wire.OfferedFix, ...]] = field(default_factory=dict)
    _lines: dict[tuple[str, int, int, Key], wire.Lines] = field(default_factory=dict)
    _edits: OrderedDict[int, EditSet] = field(default_factory=OrderedDict)
    _numbers: Any = field(default_factory=lambda: itertools.count(1))

    # The list ----------------------------------------------------------------------------------------

    async def at(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        unit = self.documents.unit(params.text_document.uri)
        if unit is None:
            return []
        only = params.context.only
        wants_fixes = _wanted(types.CodeActionKind.QuickFix, only)
        wants_all = _wanted(FIX_ALL, only)
        if not wants_fixes and not wants_all:
            return []
        result = await self._result(unit, params.context, explicit=bool(only) and wants_all)
        if result is None:
            return []
        found: list[types.CodeAction] = []
        if wants_fixes:
            found += await self._quick_fixes(unit, result, params)
        if wants_all and any(each.severity != "information" for _, each in self._findings(unit)):
            data = {"kind": "fixAll", "uri": unit.uri, "revision": unit.revision}
            title = self.writer.say("lsp.fix-all")
            found.append(await self._finished(types.CodeAction(title=title, kind=FIX_ALL, data=data)))
        return found

    async def _result(self, unit: Unit, context: types.CodeActionContext, explicit: bool) -> Result | None:
        """The result for the text as it is. A text that was edited is checked anew only if someone asks.

        Editors ask for actions with each move of the cursor; that alone is no reason for an analysis.
        """
        result = await self.analysis.settled(unit)
        if result is not None and result.snapshot is not None and result.broken is None:
            if result.snapshot.revision == unit.revision:
                return result
        invoked = context.trigger_kind != types.CodeActionTriggerKind.Automatic
        about_ours = any(diagnostic.source == SOURCE for diagnostic in context.diagnostics)
        return await self.analysis.fresh(unit) if explicit or invoked or about_ours else None

    def _findings(self, unit: Unit) -> Iterator[tuple[Result, Finding]]:
        yield from self.analysis.results.about(unit.path)

    async def _quick_fixes(
        self, unit: Unit, result: Result, params: types.CodeActionParams
    ) -> list[types.CodeAction]:
        uri, where = params.text_document.uri, params.range
        concerned = [
            (each, finding) for each, finding in self._story(unit) if self._on(each, finding, uri, where)
        ]
        fixes: list[types.CodeAction] = []
        explanations: list[types.CodeAction] = []
        suppressions: list[types.CodeAction] = []
        for each, finding in concerned:
            matching = [
                diagnostic
                for diagnostic in params.context.diagnostics
                if diagnostic.source == SOURCE and diagnostic.code == finding.code
            ]
            for fix, lines in await self._offered(each, finding):
                action = types.CodeAction(
                    title=words(fix.title, self.writer.language),
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=matching or None,
                    is_preferred=True if fix.preferred else None,
                    data={"kind": "fix", "number": self._remember(fix, lines)},
                )
                (suppressions if fix.kind == "suppress" else fixes).append(await self._finished(action))
            explanations.append(self._explanation(unit, finding))
            if self.can_confirm and unit.on_disk and not unit.is_notebook:
                explanations.append(self._confirmation(unit, each, finding))
        if sum(bool(action.is_preferred) for action in fixes) > 1:
            # Two findings on one line: none of their fixes is the one to apply unasked.
            for action in fixes:
                action.is_preferred = None
        return [*fixes, *explanations, *suppressions]

    def _story(self, unit: Unit) -> Iterator[tuple[Result, Finding]]:
        """The findings that any line of this unit plays a part in."""
        seen = set()
        for result, finding in self._findings(unit):
            seen.add(finding.key)
            yield result, finding
        for result in list(self.analysis.results.by_path.values()):
            for finding in result.checked.findings:
                if finding.key not in seen and any(step.path == unit.path for step in finding.trace):
                    seen.add(finding.key)
                    yield result, finding

    def _on(self, result: Result, finding: Finding, uri: str, where: types.Range) -> bool:
        places = result.places(self.documents)
        spots = [(finding.path, finding.range), *((step.path, step.range) for step in finding.trace)]
        if finding.raised_at is not None:
            spots.append(finding.raised_at)
        for path, span in spots:
            place = places.place(path, span)
            if place is not None and place.uri == uri and overlaps(place.range, where):
                return True
        return False

    def _explanation(self, unit: Unit, finding: Finding) -> types.CodeAction:
        title = self.writer.say("lsp.explain", code=finding.code)
        argument: dict[str, Any] = {"uri": unit.uri, "code": finding.code, "key": list(finding.key)}
        if self.explain_command == "loopgrad.explain" and self.can_show:
            argument["show"] = True
        return types.CodeAction(
            title=title,
            kind=types.CodeActionKind.QuickFix,
            command=types.Command(title=title, command=self.explain_command, arguments=[argument]),
        )

    def _confirmation(self, unit: Unit, result: Result, finding: Finding) -> types.CodeAction:
        """The client runs the script that is open: with it the finding shows, or not."""
        title = self.writer.say("lsp.confirm-finding", code=finding.code)
        argument: dict[str, Any] = {"uri": unit.uri, "codes": [finding.code], "key": list(finding.key)}
        if finding.loop_line is not None and finding.path == unit.path:
            where = Range(finding.loop_line, 1, finding.loop_line, 1)
            loop = result.places(self.documents).place(finding.path, where)
            if loop is not None:
                argument["line"] = loop.range.start.line
        return types.CodeAction(
            title=title,
            kind=types.CodeActionKind.QuickFix,
            command=types.Command(title=title, command=CONFIRM, arguments=[argument]),
        )

    # Offers ------------------------------------------------------------------------------------------

    async def _offered(self, result: Result, finding: Finding) -> list[tuple[wire.OfferedFix, wire.Lines]]:
        path = result.checked.path
        unit = self.documents.by_path(path)
        revision = unit.revision if unit is not None else -1
        key = (path, revision, result.serial, finding.key)
        if key not in self._offers:
            try:
                offered = await self.analysis.queue.submit(
                    wire.Offer(path, (finding.key,)), Priority.INTERACTIVE, ("offer", key)
                )
            except WorkerError:
                return []
            for known in [known for known in self._offers if known[:1] == key[:1] and known[:3] != key[:3]]:
                del self._offers[known], self._lines[known]
            self._offers[key] = offered.fixes.get(finding.key, ())
            self._lines[key] = offered.lines
        return [(fix, self._lines[key]) for fix in self._offers[key]]

    def _remember(self, fix: wire.OfferedFix, lines: wire.Lines) -> int:
        number: int = next(self._numbers)
        self._edits[number] = EditSet.of(self.documents, fix.edits, fix.cells, lines)
        while len(self._edits) > REMEMBERED:
            self._edits.popitem(last=False)
        return number

    # Edits -------------------------------------------------------------------------------------------

    async def _finished(self, action: types.CodeAction) -> types.CodeAction:
        """The action as the client wants it: to be resolved, or with its edit."""
        return action if self.lazy else await self.resolve(action)

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        data = action.data if isinstance(action.data, dict) else {}
        made: EditSet | None = None
        if data.get("kind") == "fix":
            made = self._edits.get(data.get("number", -1))
        elif data.get("kind") == "fixAll":
            unit = self.documents.unit(str(data.get("uri")))
            if unit is None or unit.revision != data.get("revision"):
                raise self._modified()
            made, _ = await self.fix_all([unit])
        else:
            return action
        if made is None or made.outdated(self.documents):
            raise self._modified()
        action.edit = workspace_edit(self.documents, made, self.versioned)
        if action.edit is None:
            raise self._modified()
        return action

    def _modified(self) -> JsonRpcContentModified:
        return JsonRpcContentModified(self.writer.say("lsp.modified"))

    async def fix_all(self, units: Iterable[Unit], across: bool = False) -> tuple[EditSet, tuple[Any, ...]]:
        """The edits that fix all of these, each in its own text or ``across`` files, and what they do."""
        units = list(units)
        paths = tuple(unit.path for unit in units)
        revisions = [unit.revision for unit in units]
        fixed = await self.analysis.queue.submit(
            wire.FixAll(paths, across), Priority.INTERACTIVE, ("fix-all", paths)
        )
        if revisions != [unit.revision for unit in units]:
            raise self._modified()
        return EditSet.of(self.documents, fixed.edits, fixed.cells, fixed.lines), fixed.titles


def _wanted(kind: str, only: Iterable[str] | None) -> bool:
    """Whether a kind is, or lies below, one of those asked for."""
    kind = str(getattr(kind, "value", kind))
    asked = [str(getattr(each, "value", each)) for each in only or ()]
    return not asked or any(kind == each or kind.startswith(each + ".") or not each for each in asked)
