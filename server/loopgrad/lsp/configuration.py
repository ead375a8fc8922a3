"""Asking the client: for its settings, and to tell us of files that change."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.uris import from_fs_path

from loopgrad.lsp.settings import Settings

if TYPE_CHECKING:
    from loopgrad.lsp.server import LoopgradServer

SECTION = "loopgrad"

#: Seconds that a client may take to answer; some never do.
PATIENCE = 5.0

WATCHED = ("**/*.py", "**/*.ipynb", "**/pyproject.toml")


async def watch(server: LoopgradServer) -> None:
    """Registers for changes of files and of settings, where the client takes registrations."""
    wanted: list[types.Registration] = []
    able = server.client_capabilities
    if get_capability(able, "workspace.did_change_watched_files.dynamic_registration", False):
        watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        wanted.append(types.Registration("loopgrad-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
    if get_capability(able, "workspace.did_change_configuration.dynamic_registration", False):
        section = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
        wanted.append(
            types.Registration("loopgrad-settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, section)
        )
    if wanted:
        server.client_register_capability(types.RegistrationParams(wanted))


async def fetch(server: LoopgradServer, *, changed: bool = False, sent: Any = None) -> None:
    """Reads the settings anew; what is open is checked again if they are other ones, or the folders are."""
    parts = server.parts
    store, analysis = parts.settings, parts.analysis
    before = (store.general, dict(store.folders), analysis.roots)
    if get_capability(server.client_capabilities, "workspace.configuration", False):
        roots = analysis.roots
        items = [types.ConfigurationItem(section=SECTION)]
        items += [types.ConfigurationItem(scope_uri=from_fs_path(root), section=SECTION) for root in roots]
        try:
            answer = await asyncio.wait_for(
                server.workspace_configuration_async(types.ConfigurationParams(items)), PATIENCE
            )
        except Exception:  # no answer, or an error: what was known stays
            answer = None
        if answer and len(answer) == len(items):
            general, *folders = answer
            fallback = server.client.settings
            store.general = Settings.read(_plain(general) if general is not None else fallback)
            store.folders = {
                root: Settings.read(_plain(section)) if section is not None else store.general
                for root, section in zip(roots, folders)
            }
    elif sent is not None:
        plain = _plain(sent)
        section = plain.get(SECTION) if isinstance(plain, dict) and SECTION in plain else plain
        store.general = Settings.read(section)
    first = not analysis.ready.is_set()
    analysis.ready.set()
    if before != (store.general, store.folders, analysis.roots) or (changed and first):
        analysis.reconfigure()
    if store.whole_workspace and (first or changed):
        await parts.workspace_check.run(unasked=True)


def _plain(value: Any) -> Any:
    """Settings as dicts and lists, whatever the protocol library made of them."""
    if hasattr(value, "_asdict"):
        return {key: _plain(part) for key, part in value._asdict().items()}
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return value
