"""The notifications of documents, notebooks, files and settings: each tells the part that it concerns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.uris import to_fs_path

if TYPE_CHECKING:
    from loopgrad.lsp.server import LoopgradServer

_FILES = types.FileOperationRegistrationOptions(
    filters=[types.FileOperationFilter(types.FileOperationPattern("**"), scheme="file")]
)


def register(server: LoopgradServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(params: types.DidOpenTextDocumentParams) -> None:
        unit = server.parts.documents.open(params.text_document)
        if unit is not None:
            server.parts.analysis.opened(unit)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        changed = params.text_document
        unit = server.parts.documents.change(changed.uri, changed.version, params.content_changes)
        if unit is not None:
            server.parts.confirmations.changed(unit)
            server.parts.analysis.changed(unit)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE, types.SaveOptions(include_text=False))
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        unit = server.parts.documents.unit(params.text_document.uri)
        if unit is not None:
            server.parts.analysis.saved(unit)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        unit = server.parts.documents.close(params.text_document.uri)
        if unit is not None:
            server.parts.hovers.closed(unit)
            server.parts.analysis.closed(unit)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def notebook_did_open(params: types.DidOpenNotebookDocumentParams) -> None:
        server.parts.analysis.opened(
            server.parts.documents.open_notebook(params.notebook_document, params.cell_text_documents)
        )

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def notebook_did_change(params: types.DidChangeNotebookDocumentParams) -> None:
        unit = server.parts.documents.change_notebook(params)
        if unit is not None:
            server.parts.confirmations.changed(unit)
            server.parts.analysis.changed(unit)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def notebook_did_save(params: types.DidSaveNotebookDocumentParams) -> None:
        unit = server.parts.documents.unit(params.notebook_document.uri)
        if unit is not None:
            server.parts.analysis.saved(unit)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def notebook_did_close(params: types.DidCloseNotebookDocumentParams) -> None:
        unit = server.parts.documents.close_notebook(params.notebook_document.uri)
        if unit is not None:
            server.parts.hovers.closed(unit)
            server.parts.analysis.closed(unit)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        return await server.parts.hovers.at(params.text_document.uri, params.position)

    # Files, folders and settings ---------------------------------------------------------------------

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        changes: dict[types.FileChangeType, list[str]] = {kind: [] for kind in types.FileChangeType}
        for change in params.changes:
            path = to_fs_path(change.uri) if change.uri.startswith("file:") else None
            if path:
                changes[change.type].append(path)
        server.parts.analysis.files_changed(
            changes[types.FileChangeType.Changed],
            changes[types.FileChangeType.Created],
            changes[types.FileChangeType.Deleted],
        )

    @server.feature(types.WORKSPACE_DID_DELETE_FILES, _FILES)
    def files_deleted(params: types.DeleteFilesParams) -> None:
        gone = [to_fs_path(file.uri) for file in params.files if file.uri.startswith("file:")]
        server.parts.analysis.files_changed([], [], [path for path in gone if path])

    @server.feature(types.WORKSPACE_DID_RENAME_FILES, _FILES)
    def files_renamed(params: types.RenameFilesParams) -> None:
        gone = [to_fs_path(file.old_uri) for file in params.files if file.old_uri.startswith("file:")]
        come = [to_fs_path(file.new_uri) for file in params.files if file.new_uri.startswith("file:")]
        server.parts.analysis.files_changed(
            [], [path for path in come if path], [path for path in gone if path]
        )

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders_changed(params: types.DidChangeWorkspaceFoldersParams) -> None:
        server.parts.set_roots([folder.uri for folder in server.workspace.folders.values()])
        await server.parts.fetch_settings(changed=True)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def settings_changed(params: types.DidChangeConfigurationParams) -> None:
        await server.parts.fetch_settings(changed=True, sent=params.settings)
