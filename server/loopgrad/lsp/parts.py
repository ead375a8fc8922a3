"""The parts of the server for one client, built when the first message after ``initialize`` needs them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder, get_capability
from pygls.uris import to_fs_path

from loopgrad.lsp import configuration
from loopgrad.lsp.actions import Actions
from loopgrad.lsp.analysis import Analysis
from loopgrad.lsp.analysis_queue import AnalysisQueue
from loopgrad.lsp.causes import Causes
from loopgrad.lsp.client import CONFIRM, SHOW_EXPLANATION
from loopgrad.lsp.commands import Commands
from loopgrad.lsp.confirmations import Confirmations
from loopgrad.lsp.details import Details
from loopgrad.lsp.diagnostics import Results, Writer
from loopgrad.lsp.documents import Documents
from loopgrad.lsp.hover import Hovers
from loopgrad.lsp.lenses import Lenses
from loopgrad.lsp.publishing import Publisher
from loopgrad.lsp.rule_pages import RulePages
from loopgrad.lsp.settings import Settings, SettingsStore
from loopgrad.lsp.text import Columns
from loopgrad.lsp.wording import words
from loopgrad.lsp.workspace_check import WorkspaceCheck
from loopgrad.model import Message

if TYPE_CHECKING:
    from loopgrad.lsp.server import LoopgradServer

STATUS = "loopgrad/status"


class Parts:
    """Each part by its name. They know of each other what their constructors say, and nothing of the server."""

    def __init__(self, server: LoopgradServer) -> None:
        self._server = server
        self._status: str | None = None
        client, language = server.client, server.language
        able = server.client_capabilities

        def can(name: str) -> Any:
            return get_capability(able, name, None)

        self.documents = Documents()
        self.documents.columns = Columns(_encoding(able))
        self.settings = SettingsStore()
        if client.settings is not None:
            self.settings.general = Settings.read(client.settings)
        results = Results()
        self.analysis = Analysis(self.documents, self.settings, results, self.tell)
        self.analysis.queue = AnalysisQueue(
            self.analysis.news, self.analysis.worker_restarted, self._set_busy
        )
        shown = "text_document.publish_diagnostics."
        writer = Writer(
            self.documents,
            RulePages(client, language),
            language,
            related=bool(can(shown + "related_information")),
            tags=can(shown + "tag_support") is not None,
            code_description=can(shown + "code_description_support") is not False,
            data=can(shown + "data_support") is not False,
        )
        self.publisher = self.analysis.publisher = Publisher(
            self.documents,
            results,
            self.settings,
            writer,
            server.text_document_publish_diagnostics,
            self._ask_to_pull,
            pull=server.pulls,
        )
        self.confirmations = Confirmations(self.documents, results, self.publisher.refresh)
        writer.mark_of = self.confirmations.of
        resolvable = can("text_document.code_action.resolve_support.properties") or ()
        can_show = bool(can("window.show_document.support"))
        self.actions = Actions(
            self.documents,
            self.analysis,
            writer,
            lazy="edit" in resolvable and bool(can("text_document.code_action.data_support")),
            versioned=bool(can("workspace.workspace_edit.document_changes")),
            explain_command=SHOW_EXPLANATION if SHOW_EXPLANATION in client.commands else "loopgrad.explain",
            can_show=can_show,
            can_confirm=CONFIRM in client.commands,
        )
        self.hovers = Hovers(self.documents, self.analysis, writer)
        formats = can("text_document.hover.content_format")
        if formats and types.MarkupKind.Markdown not in formats:
            self.hovers.kind = types.MarkupKind.PlainText
        self.lenses = Lenses(self.analysis, writer)
        if CONFIRM in client.commands and can("workspace.code_lens.refresh_support"):
            self.lenses.refresh = lambda: server.workspace_code_lens_refresh(None)
            self.analysis.after = self.lenses.result_came
        self.workspace_check = WorkspaceCheck(
            self.analysis, writer, server.work_done_progress, bool(can("window.work_done_progress"))
        )
        details = Details(self.documents, writer)
        self.commands = Commands(
            self.documents,
            self.analysis,
            self.actions,
            writer,
            details,
            Causes(self.analysis, details),
            self.workspace_check,
            self.confirmations,
            server.workspace_apply_edit_async,
            server.window_show_document_async if can_show else None,
        )
        self.set_roots(server.first_roots)
        # A client that never says ``initialized`` gets its diagnostics all the same.
        asyncio.get_running_loop().call_later(3, self.analysis.ready.set)

    def set_roots(self, uris: list[str]) -> None:
        paths = [to_fs_path(uri) for uri in uris if uri.startswith("file:")]
        self.documents.roots = self.analysis.roots = tuple(path for path in paths if path)

    async def fetch_settings(self, *, changed: bool = False, sent: Any = None) -> None:
        await configuration.fetch(self._server, changed=changed, sent=sent)

    async def initialized(self) -> None:
        self.analysis.queue.start()
        await configuration.watch(self._server)
        await self.fetch_settings()

    # Requests ----------------------------------------------------------------------------------------

    async def pull(self, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        unit = self.documents.unit(params.text_document.uri)
        if unit is None or unit.is_notebook:  # cells come pushed
            return types.RelatedFullDocumentDiagnosticReport(items=[])
        await self.analysis.settled(unit)
        return self.publisher.report(unit, params.previous_result_id)

    async def code_lenses(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        unit = self.documents.unit(params.text_document.uri)
        return [] if unit is None else await self.lenses.of(unit)

    # The client hears --------------------------------------------------------------------------------

    def tell(self, message: Message, important: bool) -> None:
        """Writes to the client's log; shows a box only where the user's settings ask for it."""
        text = words(message, self._server.language)
        kind = types.MessageType.Warning
        boxes = ("onWarning", "always")
        self._server.window_log_message(types.LogMessageParams(kind, text))
        if important and self.settings.general.show_notifications in boxes:
            self._server.window_show_message(types.ShowMessageParams(kind, text))

    def _set_busy(self, busy: bool) -> None:
        state = "busy" if busy else "idle"
        if self._server.client.status and state != self._status:
            self._status = state
            self._server.protocol.notify(STATUS, {"state": state})

    def _ask_to_pull(self) -> None:
        able = self._server.client_capabilities
        if get_capability(able, "workspace.diagnostics.refresh_support", False):
            self._server.workspace_diagnostic_refresh(None)


def _encoding(capabilities: types.ClientCapabilities) -> str:
    chosen = ServerCapabilitiesBuilder.choose_position_encoding(capabilities)
    return str(getattr(chosen, "value", chosen))
