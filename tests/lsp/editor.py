"""An editor for tests: pytest-lsp's client around the real server process, with the texts that it has open."""

from __future__ import annotations

import asyncio
import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.protocol import default_converter
from pygls.uris import from_fs_path
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, LanguageClient, register_lsp_features

HERE = Path(__file__).parent
SERVER = Path(__file__).parents[2] / "server"

#: Nothing that a test waits for takes this long; it is for the day that something never comes.
PATIENCE = 20.0


def capabilities(**changes: Any) -> types.ClientCapabilities:
    """What VS Code can do, as far as it concerns this server. ``pull=True`` adds pull diagnostics."""
    pull = changes.pop("pull", False)
    encodings = changes.pop("encodings", None)
    lazy = changes.pop("lazy", True)
    versioned = changes.pop("versioned", True)
    related = changes.pop("related", True)
    configuration = changes.pop("configuration", True)
    watched = changes.pop("watched", True)
    formats = changes.pop("hover_formats", [types.MarkupKind.Markdown])
    assert not changes
    return types.ClientCapabilities(
        general=types.GeneralClientCapabilities(position_encodings=encodings),
        workspace=types.WorkspaceClientCapabilities(
            apply_edit=True,
            configuration=configuration,
            workspace_folders=True,
            workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=versioned),
            diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True) if pull else None,
            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(
                dynamic_registration=watched
            ),
            code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True),
            file_operations=types.FileOperationClientCapabilities(did_delete=True, did_rename=True),
        ),
        text_document=types.TextDocumentClientCapabilities(
            publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
                related_information=related,
                tag_support=types.ClientDiagnosticsTagOptions(value_set=[types.DiagnosticTag.Unnecessary]),
                version_support=True,
                code_description_support=True,
                data_support=True,
            ),
            diagnostic=types.DiagnosticClientCapabilities() if pull else None,
            code_action=types.CodeActionClientCapabilities(
                data_support=True,
                is_preferred_support=True,
                resolve_support=types.ClientCodeActionResolveOptions(properties=["edit"]) if lazy else None,
                code_action_literal_support=types.ClientCodeActionLiteralOptions(
                    code_action_kind=types.ClientCodeActionKindOptions(value_set=["quickfix", "source"])
                ),
            ),
            code_lens=types.CodeLensClientCapabilities(),
            hover=types.HoverClientCapabilities(content_format=formats),
        ),
        window=types.WindowClientCapabilities(
            work_done_progress=True, show_document=types.ShowDocumentClientCapabilities(support=True)
        ),
        notebook_document=types.NotebookDocumentClientCapabilities(
            synchronization=types.NotebookDocumentSyncClientCapabilities()
        ),
    )


def _function(handler: Any) -> Any:
    """pygls notes things on handlers, which methods do not take."""
    return functools.partial(handler) if hasattr(handler, "__self__") else handler


def converter() -> Any:
    """pygls' converter. lsprotocol takes a code action that has a command for a command; clients do not."""
    made = default_converter()

    def structure(value: Any, _: Any) -> Any:
        command = isinstance(value.get("command"), str)
        return made.structure(value, types.Command if command else types.CodeAction)

    made.register_structure_hook(types.Command | types.CodeAction, structure)
    return made


class Editor:
    def __init__(self) -> None:
        self.client = LanguageClient(converter_factory=converter)
        features = dict(DEFAULT_CLIENT_FEATURES)
        features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = self._published
        features[types.WORKSPACE_APPLY_EDIT] = self._apply
        features[types.CLIENT_REGISTER_CAPABILITY] = self._register
        features[types.WORKSPACE_DIAGNOSTIC_REFRESH] = self._refresh
        features[types.WORKSPACE_CODE_LENS_REFRESH] = self._lenses
        features[types.WINDOW_SHOW_DOCUMENT] = self._show
        features["loopgrad/status"] = self._status
        register_lsp_features(self.client, {name: _function(each) for name, each in features.items()})
        self.shown: dict[str, types.PublishDiagnosticsParams] = {}
        self.published: list[types.PublishDiagnosticsParams] = []
        self.refreshes = 0
        self.lens_refreshes = 0
        self.registrations: list[types.Registration] = []
        self.statuses: list[str] = []
        self.documents: list[str] = []
        self.versions: dict[str, int] = {}
        self.texts: dict[str, str] = {}
        self.result: types.InitializeResult
        self._news = asyncio.Event()

    # Start and end -----------------------------------------------------------------------------------

    async def start(
        self,
        *roots: Path,
        settings: dict[str, Any] | None = None,
        options: dict[str, Any] | None = None,
        locale: str | None = None,
        engine: bool = True,
        cache: Path | None = None,
        **able: Any,
    ) -> Editor:
        env = dict(os.environ, PYTHONPATH=str(SERVER))
        if cache is not None:
            env["LOOPGRAD_CACHE_DIR"] = str(cache)
        if engine:
            env |= {"LOOPGRAD_ENGINE": "fake_engine:check", "LOOPGRAD_ENGINE_PATH": str(HERE / "engine")}
        command = ("-m", "loopgrad", "server", "--stdio")
        cwd = str(roots[0]) if roots else None
        await self.client.start_io(sys.executable, *command, env=env, cwd=cwd)
        if settings is not None:
            self.configure(settings)
        folders = [types.WorkspaceFolder(uri(root), root.name) for root in roots]
        self.result = await self.client.initialize_session(
            types.InitializeParams(
                capabilities=capabilities(**able),
                workspace_folders=folders,
                initialization_options=options,
                locale=locale,
            )
        )
        return self

    def configure(self, settings: dict[str, Any], root: Path | None = None) -> None:
        scope = uri(root) if root is not None else None
        self.client.set_configuration({"loopgrad": settings}, scope_uri=scope)

    async def stop(self) -> None:
        process = self.client._server
        if process is not None and process.returncode is None:
            try:
                await asyncio.wait_for(self.client.shutdown_session(), PATIENCE)
            except BaseException:
                process.kill()
                raise
        await self.client.stop()

    # What the server sends ---------------------------------------------------------------------------

    def _published(self, params: types.PublishDiagnosticsParams) -> None:
        self.shown[params.uri] = params
        self.published.append(params)
        self._news.set()

    def _apply(self, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        self.apply(params.edit)
        return types.ApplyWorkspaceEditResult(applied=True)

    def _register(self, params: types.RegistrationParams) -> None:
        self.registrations.extend(params.registrations)
        self._news.set()

    def _refresh(self, params: None) -> None:
        self.refreshes += 1
        self._news.set()

    def _lenses(self, params: None) -> None:
        self.lens_refreshes += 1
        self._news.set()

    def _show(self, params: types.ShowDocumentParams) -> types.ShowDocumentResult:
        self.documents.append(params.uri)
        return types.ShowDocumentResult(success=True)

    def _status(self, params: Any) -> None:
        self.statuses.append(params.state)
        self._news.set()

    async def until(self, true: Callable[[], Any], patience: float = PATIENCE) -> None:
        """Waits for something that a message of the server makes true."""

        async def wait() -> None:
            while not true():
                self._news.clear()
                try:
                    await asyncio.wait_for(self._news.wait(), 0.2)
                except asyncio.TimeoutError:
                    pass

        await asyncio.wait_for(wait(), patience)

    def diagnostics(self, document: str, hints: bool = False) -> list[types.Diagnostic]:
        params = self.shown.get(document)
        everything = list(params.diagnostics) if params else []
        return [each for each in everything if hints or each.severity != types.DiagnosticSeverity.Hint]

    def codes(self, document: str) -> list[str]:
        return sorted(str(each.code) for each in self.diagnostics(document))

    def lines(self, document: str) -> list[int]:
        """The lines of the diagnostics, from 1."""
        return sorted(each.range.start.line + 1 for each in self.diagnostics(document))

    async def until_codes(self, document: str, *codes: str, version: int | None = None) -> None:
        def reached() -> bool:
            params = self.shown.get(document)
            return (
                params is not None
                and self.codes(document) == sorted(codes)
                and (version is None or params.version == version)
            )

        try:
            await self.until(reached)
        except asyncio.TimeoutError:
            raise AssertionError(f"{document} shows {self.codes(document)}, not {codes}") from None

    async def idle(self) -> None:
        """Waits until the server has taken in what was sent: it answers in order."""
        await self.command("explain", "LG101")

    # Documents ---------------------------------------------------------------------------------------

    def open(self, where: Path | str, text: str | None = None, language: str = "python") -> str:
        document = where if isinstance(where, str) else uri(where)
        if text is None:
            assert isinstance(where, Path)
            text = where.read_text(encoding="utf-8")
        self.texts[document], self.versions[document] = text, 1
        item = types.TextDocumentItem(document, language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return document

    def change(self, document: str, text: str) -> int:
        """Replaces the whole text; gives the new version."""
        return self._change(document, types.TextDocumentContentChangeWholeDocument(text))

    def edit(self, document: str, start: tuple[int, int], end: tuple[int, int], text: str) -> int:
        """One incremental change, positions from 0 in the client's units."""
        where = types.Range(types.Position(*start), types.Position(*end))
        return self._change(document, types.TextDocumentContentChangePartial(range=where, text=text))

    def _change(self, document: str, change: types.TextDocumentContentChangeEvent) -> int:
        self.versions[document] += 1
        identity = types.VersionedTextDocumentIdentifier(self.versions[document], document)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identity, [change]))
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            self.texts[document] = change.text
        return self.versions[document]

    def save(self, document: str, text: str | None = None) -> None:
        if text is not None:
            self.change(document, text)
        if document.startswith("file:"):
            Path(path(document)).write_text(self.texts[document], encoding="utf-8")
        identity = types.TextDocumentIdentifier(document)
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(identity))

    def close(self, document: str) -> None:
        identity = types.TextDocumentIdentifier(document)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(identity))

    def watched(self, kind: types.FileChangeType, *files: Path) -> None:
        events = [types.FileEvent(uri(file), kind) for file in files]
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(events))

    def apply(self, edit: types.WorkspaceEdit) -> None:
        """Applies an edit to the texts at hand (in UTF-16 or ASCII alone) and tells the server."""
        changes = dict(edit.changes or {})
        for change in edit.document_changes or []:
            assert isinstance(change, types.TextDocumentEdit)
            changes[change.text_document.uri] = list(change.edits)
        for document, edits in changes.items():
            self.change(document, applied(self.texts[document], edits))

    # Requests ----------------------------------------------------------------------------------------

    async def actions(
        self,
        document: str,
        line: int,
        only: list[str] | None = None,
        invoked: bool = True,
        diagnostics: list[types.Diagnostic] | None = None,
    ) -> list[types.CodeAction]:
        """The code actions at a line (from 1)."""
        spot = types.Position(line - 1, 0)
        kind = types.CodeActionTriggerKind
        found = await self.client.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(document),
                types.Range(spot, spot),
                types.CodeActionContext(
                    diagnostics=diagnostics if diagnostics is not None else [],
                    only=only,
                    trigger_kind=kind.Invoked if invoked else kind.Automatic,
                ),
            )
        )
        return [action for action in found or [] if isinstance(action, types.CodeAction)]

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        return await self.client.code_action_resolve_async(action)

    async def hover(self, document: str, line: int, column: int) -> str:
        """The hover at a position, both from 1; empty if there is none."""
        found = await self.client.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(document), types.Position(line - 1, column - 1))
        )
        return found.contents.value if found else ""

    async def command(self, name: str, *arguments: Any) -> Any:
        params = types.ExecuteCommandParams(f"loopgrad.{name}", list(arguments))
        return await asyncio.wait_for(self.client.workspace_execute_command_async(params), PATIENCE)

    async def pull(self, document: str, previous: str | None = None) -> Any:
        return await self.client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(
                types.TextDocumentIdentifier(document), previous_result_id=previous
            )
        )


def uri(where: Path) -> str:
    return from_fs_path(str(where)) or ""


def path(document: str) -> str:
    from pygls.uris import to_fs_path

    return to_fs_path(document) or ""


def applied(text: str, edits: list[Any]) -> str:
    lines = text.split("\n")

    def offset(position: types.Position) -> int:
        before = sum(len(line) + 1 for line in lines[: position.line])
        line = lines[position.line] if position.line < len(lines) else ""
        encoded = line.encode("utf-16-le")[: 2 * position.character]
        return min(before + len(encoded.decode("utf-16-le")), len(text))

    for edit in sorted(edits, key=lambda edit: offset(edit.range.start), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text
