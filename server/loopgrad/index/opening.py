"""Opening the index of a run: which folder, which workspace, which version."""

from __future__ import annotations

import os
from collections.abc import Sequence

from loopgrad.config import Config
from loopgrad.index.index import Index
from loopgrad.index.places import FOLDER, VARIABLE, Place, prepare, user_folder, workspace_of
from loopgrad.index.store import Store
from loopgrad.index.version import version
from loopgrad.model import Message
from loopgrad.source import FileProvider
from loopgrad.source.decode import reason_of


class Refused(Exception):
    """The folder that the user asked for cannot be used; says why."""

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message


def place_of(paths: Sequence[str], config: Config, folder: str | None = None) -> tuple[Place, bool]:
    """Where the results for these paths are kept, and whether the user chose that.

    What the command line says (``folder``) wins over the environment, that over the settings of the workspace.
    """
    root = workspace_of(paths)
    chosen = folder or os.environ.get(VARIABLE)
    if chosen:
        return Place(os.path.abspath(os.path.expanduser(chosen)), root), True
    setting = config.settings(os.path.join(root, "_")).cache_dir
    return Place(setting or os.path.join(root, FOLDER), root), setting is not None


def index_of(
    paths: Sequence[str],
    provider: FileProvider,
    config: Config,
    folder: str | None = None,
    *,
    show_unused: bool = False,
) -> Index | None:
    """The index of a run over ``paths``, or None. Refused is raised where the user chose a folder in vain."""
    place, chosen = place_of(paths, config, folder)
    try:
        store = open_store(place)
    except OSError as error:
        if not chosen:
            return None
        message = Message.of("cache.refused", path=place.folder, reason=reason_of(error))
        raise Refused(message) from None
    return None if store is None else Index(store, provider, config, place.root, show_unused=show_unused)


def server_place(roots: Sequence[str]) -> Place:
    """Where the language server keeps what it found in a workspace: never in the workspace."""
    return Place(user_folder(), roots[0])


def open_store(place: Place) -> Store | None:
    """The database of a place; None if it is of no use, OSError if the folder cannot be had."""
    current = version()
    if current is None:
        return None
    store = Store(prepare(place, current))
    return store if store.usable else None
