"""What ``workspace/executeCommand`` does. Arguments come from anyone who can type a command: they are checked.

========================== ==================================================================================
``loopgrad.checkWorkspace`` check every file; gives the counts
``loopgrad.fixAll``         apply the preferred fixes in a document (its URI), or in all that are open
``loopgrad.explain``        a rule's page, and the finding if ``{"uri", "key"}`` name one; ``show`` opens the page
``loopgrad.fromTraceback``  the finding that explains a pasted traceback
``loopgrad.confirmed``      what a run has shown of findings: its report, and the folder it was started in
========================== ==================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from loopgrad.lsp.actions import Actions
from loopgrad.lsp.analysis import Analysis
from loopgrad.lsp.causes import Causes
from loopgrad.lsp.confirmations import Confirmations
from loopgrad.lsp.details import Details
from loopgrad.lsp.diagnostics import Writer
from loopgrad.lsp.documents import Documents
from loopgrad.lsp.rule_pages import page_path
from loopgrad.lsp.wording import words
from loopgrad.lsp.workspace_check import WorkspaceCheck
from loopgrad.lsp.workspace_edits import workspace_edit
from loopgrad.model import Message


@dataclass
class Commands:
    documents: Documents
    analysis: Analysis
    actions: Actions
    writer: Writer
    details: Details
    causes: Causes
    workspace: WorkspaceCheck
    confirmations: Confirmations
    apply_edit: Callable[[types.ApplyWorkspaceEditParams], Any]
    show_document: Callable[[types.ShowDocumentParams], Any] | None

    async def run(self, name: str, arguments: tuple[Any, ...]) -> Any:
        """A command by its name without ``loopgrad.``"""
        handlers = {
            "checkWorkspace": self.check_workspace,
            "fixAll": self.fix_all,
            "explain": self.explain,
            "fromTraceback": self.from_traceback,
            "confirmed": self.confirmed,
        }
        return await handlers[name](*arguments)

    async def check_workspace(self, *arguments: Any) -> dict[str, Any]:
        return await self.workspace.run()

    async def fix_all(self, *arguments: Any) -> dict[str, Any]:
        uri = _field(arguments, "uri", str, positional=True)
        units = [unit for unit in self.documents if uri is None or unit is self.documents.unit(uri)]
        if uri is not None and not units:
            raise JsonRpcInvalidParams(self.writer.say("lsp.not-open", uri=uri))
        made, titles = await self.actions.fix_all(units, across=True)
        edit = workspace_edit(self.documents, made, self.actions.versioned)
        applied = False
        if made.edits and edit is not None:
            answer = await self.apply_edit(
                types.ApplyWorkspaceEditParams(edit=edit, label=self.writer.say("lsp.fix-all"))
            )
            applied = bool(answer and answer.applied)
        done = [
            words(title, self.writer.language) if isinstance(title, Message) else title for title in titles
        ]
        return {"applied": applied, "fixes": done}

    async def explain(self, *arguments: Any) -> dict[str, Any]:
        from loopgrad.rules.catalogue import RULES

        code = (_field(arguments, "code", str, positional=True) or "").upper()
        rule = RULES.get(code)
        if rule is None:
            raise JsonRpcInvalidParams(self.writer.say("lsp.hover-no-rule", code=code))
        if _field(arguments, "show", bool) and self.show_document is not None:
            path = page_path(code, self.writer.language)
            if path is not None:
                await self.show_document(
                    types.ShowDocumentParams(uri=self.documents.uri_of(path), take_focus=True)
                )
        return {
            "code": code,
            "name": rule.name,
            "summary": self.writer.pages.summary(code),
            "markdown": self.writer.pages.text(code),
            "href": self.writer.pages.href(code),
            "finding": self._finding(arguments),
        }

    def _finding(self, arguments: tuple[Any, ...]) -> dict[str, Any] | None:
        key = _field(arguments, "key", list)
        for result in self.analysis.results.by_path.values() if key else ():
            for finding in result.checked.findings:
                if list(finding.key) == key:
                    return self.details.finding(result, finding)
        return None

    async def from_traceback(self, *arguments: Any) -> dict[str, Any]:
        text = _field(arguments, "text", str, positional=True)
        if text is None:
            raise JsonRpcInvalidParams(self.writer.say("lsp.traceback-none"))
        return await self.causes.of(text[:1_000_000])

    async def confirmed(self, *arguments: Any) -> dict[str, Any]:
        report = _field(arguments, "report", dict)
        if report is None:
            raise JsonRpcInvalidParams(self.writer.say("lsp.no-report"))
        for unit in self.documents:  # the client may have saved the script just before the run
            await self.analysis.settled(unit)
        return {"marked": self.confirmations.take(report, _field(arguments, "folder", str))}


def _field(arguments: tuple[Any, ...], name: str, kind: type, positional: bool = False) -> Any:
    """A named argument of the object that a command is given, or its one argument itself."""
    first = arguments[0] if arguments else None
    if isinstance(first, dict):
        value = first.get(name)
    else:
        value = first if positional else None
    return value if isinstance(value, kind) else None
