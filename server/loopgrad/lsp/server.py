"""The server: builds the parts for one client, and ties the protocol's messages to them.

What the client can do is known with ``initialize``; until then there is nothing but this class. Handlers are
short: they find the document and hand on. None of them analyses, reads a file or waits for the worker without
leaving the loop free.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcParseError
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from loopgrad import __version__
from loopgrad.lsp import configuration
from loopgrad.lsp.actions import FIX_ALL, Actions
from loopgrad.lsp.analysis import Analysis
from loopgrad.lsp.analysis_queue import AnalysisQueue
from loopgrad.lsp.causes import Causes
from loopgrad.lsp.commands import Commands
from loopgrad.lsp.details import Details
from loopgrad.lsp.diagnostics import Results, Writer
from loopgrad.lsp.documents import Documents
from loopgrad.lsp.hover import Hovers
from loopgrad.lsp.lenses import CONFIRM, Lenses
from loopgrad.lsp.protocol import Protocol, unbound
from loopgrad.lsp.publishing import Publisher
from loopgrad.lsp.rule_pages import RulePages
from loopgrad.lsp.settings import Client, Settings, SettingsStore
from loopgrad.lsp.text import Columns
from loopgrad.lsp.wording import words
from loopgrad.lsp.workspace_check import WorkspaceCheck
from loopgrad.messages import language_of
from loopgrad.model import Message

logger = logging.getLogger(__name__)

STATUS = "loopgrad/status"


class LoopgradServer(LanguageServer):
    """One client's server."""

    def __init__(self) -> None:
        notebooks = types.NotebookDocumentSyncOptions(
            notebook_selector=[
                types.NotebookDocumentFilterWithNotebook(
                    notebook="jupyter-notebook", cells=[types.NotebookCellLanguage(language="python")]
                )
            ],
            save=True,
        )
        super().__init__(
            "loopgrad", __version__, notebook_document_sync=notebooks, protocol_cls=Protocol, max_workers=2
        )
        self.client = Client()
        self.language = "en"
        self.documents = Documents()
        self.settings = SettingsStore()
        self.analysis = Analysis(self.documents, self.settings, Results(), self.tell)
        self.analysis.queue = AnalysisQueue(
            self.analysis.news, self.analysis.worker_restarted, self._set_busy
        )
        self._status: str | None = None
        self.feature(types.INITIALIZE)(unbound(self.on_initialize))
        self.feature(types.INITIALIZED)(unbound(self.on_initialized))

    # The start ---------------------------------------------------------------------------------------

    def on_initialize(self, params: types.InitializeParams) -> None:
        self.client = Client.read(params.initialization_options)
        self.language = language_of(params.locale)
        self.documents.columns = Columns(_encoding(params.capabilities))
        self.set_roots(
            [folder.uri for folder in params.workspace_folders or []]
            or [uri for uri in (params.root_uri,) if uri]
        )
        if self.client.settings is not None:
            self.settings.general = Settings.read(self.client.settings)
        self._build(params.capabilities)
        asyncio.get_running_loop().call_later(3, self.analysis.ready.set)

    def set_roots(self, uris: list[str]) -> None:
        paths = [to_fs_path(uri) for uri in uris if uri.startswith("file:")]
        self.documents.roots = self.analysis.roots = tuple(path for path in paths if path)

    def _build(self, capabilities: types.ClientCapabilities) -> None:
        """The parts, by what the client can do."""

        def can(name: str) -> Any:
            return get_capability(capabilities, name, None)

        shown = "text_document.publish_diagnostics."
        writer = self.writer = Writer(
            self.documents,
            RulePages(self.client, self.language),
            self.language,
            related=bool(can(shown + "related_information")),
            tags=can(shown + "tag_support") is not None,
            code_description=can(shown + "code_description_support") is not False,
            data=can(shown + "data_support") is not False,
        )
        self.publisher = self.analysis.publisher = Publisher(
            self.documents,
            self.analysis.results,
            self.settings,
            writer,
            self.text_document_publish_diagnostics,
            self._ask_to_pull,
            pull=self._pulls(capabilities),
        )
        resolvable = can("text_document.code_action.resolve_support.properties") or ()
        can_show = bool(can("window.show_document.support"))
        self.actions = Actions(
            self.documents,
            self.analysis,
            writer,
            lazy="edit" in resolvable and bool(can("text_document.code_action.data_support")),
            versioned=bool(can("workspace.workspace_edit.document_changes")),
            can_show=can_show,
        )
        if "loopgrad.showExplanation" in self.client.commands:
            self.actions.explain_command = "loopgrad.showExplanation"
        self.hovers = Hovers(self.documents, self.analysis, writer)
        self.lenses = Lenses(self.analysis, writer)
        details = Details(self.documents, writer)
        self.workspace_check = WorkspaceCheck(
            self.analysis, writer, self.work_done_progress, bool(can("window.work_done_progress"))
        )
        self.commands = Commands(
            self.documents,
            self.analysis,
            self.actions,
            writer,
            details,
            Causes(self.analysis, details),
            self.workspace_check,
            self.workspace_apply_edit_async,
            self.window_show_document_async if can_show else None,
        )
        self._register(capabilities)

    def _pulls(self, capabilities: types.ClientCapabilities) -> bool:
        """Whether open documents are pulled: the client can, and hears when there is something new."""
        if self.client.diagnostics:
            return self.client.diagnostics == "pull"
        able = get_capability(capabilities, "text_document.diagnostic", None) is not None
        told = bool(get_capability(capabilities, "workspace.diagnostics.refresh_support", None))
        pushed = get_capability(capabilities, "text_document.publish_diagnostics", None) is not None
        return able and (told or not pushed)

    def _register(self, capabilities: types.ClientCapabilities) -> None:
        from loopgrad.lsp import handlers

        handlers.register(self)
        self.feature(
            types.TEXT_DOCUMENT_CODE_ACTION,
            types.CodeActionOptions(
                code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL], resolve_provider=True
            ),
        )(unbound(self.actions.at))
        self.feature(types.CODE_ACTION_RESOLVE)(unbound(self.actions.resolve))
        if self.publisher.pull:
            self.feature(
                types.TEXT_DOCUMENT_DIAGNOSTIC,
                types.DiagnosticOptions(
                    inter_file_dependencies=True, workspace_diagnostics=False, identifier="loopgrad"
                ),
            )(unbound(self.on_pull))
        if CONFIRM in self.client.commands:
            self.feature(types.TEXT_DOCUMENT_CODE_LENS)(unbound(self.on_lenses))
        self.command("loopgrad.checkWorkspace")(unbound(self.commands.check_workspace))
        self.command("loopgrad.fixAll")(unbound(self.commands.fix_all))
        self.command("loopgrad.explain")(unbound(self.commands.explain))
        self.command("loopgrad.fromTraceback")(unbound(self.commands.from_traceback))

    async def on_initialized(self, params: types.InitializedParams) -> None:
        self.analysis.queue.start()
        await configuration.watch(self)
        await configuration.fetch(self)

    # Requests ----------------------------------------------------------------------------------------

    async def on_pull(self, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        unit = self.documents.unit(params.text_document.uri)
        if unit is None or unit.is_notebook:  # cells come pushed
            return types.RelatedFullDocumentDiagnosticReport(items=[])
        await self.analysis.settled(unit)
        return self.publisher.report(unit, params.previous_result_id)

    async def on_lenses(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        unit = self.documents.unit(params.text_document.uri)
        return [] if unit is None else await self.lenses.of(unit)

    # The client hears --------------------------------------------------------------------------------

    def tell(self, message: Message, important: bool) -> None:
        """Writes to the client's log; shows a box only where the user's settings ask for it."""
        text = words(message, self.language)
        kind = types.MessageType.Warning
        self.window_log_message(types.LogMessageParams(kind, text))
        if important and self.settings.general.show_notifications != "off":
            self.window_show_message(types.ShowMessageParams(kind, text))

    def _set_busy(self, busy: bool) -> None:
        state = "busy" if busy else "idle"
        if self.client.status and state != self._status:
            self._status = state
            self.protocol.notify(STATUS, {"state": state})

    def _ask_to_pull(self) -> None:
        if get_capability(self.client_capabilities, "workspace.diagnostics.refresh_support", False):
            self.workspace_diagnostic_refresh(None)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Errors go to the log. What is no JSON gets the answer that JSON-RPC has for it."""
        if isinstance(error, ValueError) and "Expecting" in str(error):
            refusal = JsonRpcParseError(str(error)).to_response_error()
            self.protocol._send_data({"jsonrpc": "2.0", "id": None, "error": refusal})
        if source.__name__ != "FeatureRequestError" and self.protocol._workspace is not None:
            self.window_log_message(types.LogMessageParams(types.MessageType.Error, str(error)))


def _encoding(capabilities: types.ClientCapabilities) -> str:
    from pygls.capabilities import ServerCapabilitiesBuilder

    chosen = ServerCapabilitiesBuilder.choose_position_encoding(capabilities)
    return str(getattr(chosen, "value", chosen))
