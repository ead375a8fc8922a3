"""What earlier windows found in the files of a workspace, so that opening it again does not analyse them all.

It is kept in the user's folder for caches, never in the workspace: whether that is trusted, read-only or on another
machine's disk is then of no concern. Open documents are always analysed: their text may be on no disk.
"""

from __future__ import annotations

import os

from loopgrad.checker import FileOutcome
from loopgrad.config import Config
from loopgrad.index import Hit, Index
from loopgrad.index.opening import open_store, server_place
from loopgrad.index.store import Store
from loopgrad.lsp.wire import Setup
from loopgrad.source import FileProvider, Input
from loopgrad.source.asked import Asked


class WorkerIndex:
    """The index of the first workspace folder, opened when a closed file is to be checked."""

    def __init__(self) -> None:
        self._folders: tuple[str, ...] = ()
        self._store: Store | None = None
        self._index: Index | None = None
        self._opened = False

    def set_up(self, setup: Setup, provider: FileProvider, config: Config) -> None:
        """Other folders or settings."""
        self.rest()
        if setup.roots != self._folders:
            if self._store is not None:
                self._store.close()
            self._folders, self._store, self._opened = setup.roots, None, False
        self._provider, self._config = provider, config
        self._index = None

    def begin(self) -> None:
        if self._index is not None:
            self._index.forget()

    def find(self, path: str) -> Hit | None:
        index = self._get()
        return None if index is None else index.find(Input(path, False), fixes=False)

    def put(self, path: str, outcome: FileOutcome, asked: Asked) -> None:
        index = self._get()
        if index is not None:
            index.put(Input(path, False), outcome, asked, fixes=False)

    def rest(self) -> None:
        """Nothing is to be done for a while: what has gathered is written."""
        if self._index is not None:
            self._index.rest()

    def _get(self) -> Index | None:
        if not self._opened:
            self._opened = True
            self._store = self._open()
        if self._index is None and self._store is not None:
            self._index = Index(self._store, self._provider, self._config, self._folders[0])
        return self._index

    def _open(self) -> Store | None:
        if not self._folders or os.environ.get("LOOPGRAD_ENGINE"):
            return None
        try:
            return open_store(server_place(self._folders))
        except OSError:
            return None
