"""The server: what it can do, told to the client at once, and the messages tied to the parts that do it.

An editor waits for the answer to ``initialize``. Until then nothing is loaded that the answer does not need;
``parts`` are built with the first message that comes after. Handlers are short: none of them analyses, reads a
file or waits for the worker without leaving the loop free.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcParseError
from pygls.io_ import run_async
from pygls.lsp.server import LanguageServer

from loopgrad import __version__
from loopgrad.lsp import handlers
from loopgrad.lsp.client import COMMANDS, CONFIRM, FIX_ALL, Client
from loopgrad.lsp.protocol import Protocol
from loopgrad.messages import language_of

if TYPE_CHECKING:
    from loopgrad.lsp.parts import Parts

logger = logging.getLogger(__name__)

_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithNotebook(
            notebook="jupyter-notebook", cells=[types.NotebookCellLanguage(language="python")]
        )
    ],
    save=True,
)


class LoopgradServer(LanguageServer):
    """One client's server."""

    def __init__(self) -> None:
        super().__init__(
            "loopgrad", __version__, notebook_document_sync=_NOTEBOOKS, protocol_cls=Protocol, max_workers=2
        )
        self.client = Client()
        self.language = "en"
        self.pulls = False
        self.first_roots: list[str] = []
        self._register_start()

    @cached_property
    def parts(self) -> Parts:
        from loopgrad.lsp.parts import Parts

        return Parts(self)

    def _register_start(self) -> None:
        @self.feature(types.INITIALIZE)
        def initialize(params: types.InitializeParams) -> None:
            self.client = Client.read(params.initialization_options)
            self.language = language_of(params.locale)
            self.pulls = self._pulls(params.capabilities)
            folders = [folder.uri for folder in params.workspace_folders or []]
            self.first_roots = folders or [uri for uri in (params.root_uri,) if uri]
            self._register()

        @self.feature(types.INITIALIZED)
        async def initialized(params: types.InitializedParams) -> None:
            await self.parts.initialized()

    def _pulls(self, capabilities: types.ClientCapabilities) -> bool:
        """Whether open documents are pulled: the client can, and hears when there is something new."""
        if self.client.diagnostics:
            return self.client.diagnostics == "pull"
        able = get_capability(capabilities, "text_document.diagnostic", None) is not None
        told = bool(get_capability(capabilities, "workspace.diagnostics.refresh_support", None))
        pushed = get_capability(capabilities, "text_document.publish_diagnostics", None) is not None
        return able and (told or not pushed)

    def _register(self) -> None:
        """What this client is offered."""
        handlers.register(self)

        @self.feature(
            types.TEXT_DOCUMENT_CODE_ACTION,
            types.CodeActionOptions(
                code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL], resolve_provider=True
            ),
        )
        async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
            return await self.parts.actions.at(params)

        @self.feature(types.CODE_ACTION_RESOLVE)
        async def resolve(params: types.CodeAction) -> types.CodeAction:
            return await self.parts.actions.resolve(params)

        if self.pulls:
            options = types.DiagnosticOptions(
                inter_file_dependencies=True, workspace_diagnostics=False, identifier="loopgrad"
            )

            @self.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)
            async def pull(params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
                return await self.parts.pull(params)

        if CONFIRM in self.client.commands:

            @self.feature(types.TEXT_DOCUMENT_CODE_LENS)
            async def code_lens(params: types.CodeLensParams) -> list[types.CodeLens]:
                return await self.parts.code_lenses(params)

        for name in COMMANDS:
            self._register_command(name)

    def _register_command(self, name: str) -> None:
        async def command(*arguments: Any) -> Any:
            return await self.parts.commands.run(name, arguments)

        # pygls asks whether an annotation is a kind of server, and Python 3.10 cannot say that of ``Any``.
        command.__annotations__.clear()
        self.command(f"loopgrad.{name}")(command)

    def start_tcp(self, host: str, port: int) -> None:
        """Serves the first client that connects, and ends when it goes."""
        asyncio.run(self._serve_one(host, port))

    async def _serve_one(self, host: str, port: int) -> None:
        gone = asyncio.Event()
        taken = False

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal taken
            if taken:
                writer.close()
                return
            taken = True
            self.protocol.set_writer(writer)
            try:
                await run_async(
                    stop_event=threading.Event(),
                    reader=reader,
                    protocol=self.protocol,
                    logger=logger,
                    error_handler=self.report_server_error,
                )
            finally:
                writer.close()
                gone.set()

        listening = await asyncio.start_server(connected, host, port)
        address, number = listening.sockets[0].getsockname()[:2]
        print(f"loopgrad server: waiting on {address}:{number}", file=sys.stderr, flush=True)
        await gone.wait()
        listening.close()

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Errors go to the log. What is no JSON gets the answer that JSON-RPC has for it."""
        if isinstance(error, ValueError) and "Expecting" in str(error):
            refusal = JsonRpcParseError(str(error)).to_response_error()
            self.protocol._send_data({"jsonrpc": "2.0", "id": None, "error": refusal})
        if source.__name__ != "FeatureRequestError" and self.protocol._workspace is not None:
            self.window_log_message(types.LogMessageParams(types.MessageType.Error, str(error)))
