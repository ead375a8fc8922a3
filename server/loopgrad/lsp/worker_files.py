"""Where the worker's analyses get their files: open documents over the file system.

An open document reads as the editor has it. While a helper module is half typed, those that import it go on
with its last text that parsed. The provider also notes what an analysis read, so that the server knows which
documents to check again when a file is saved.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from loopgrad.config import Config, ConfigError, Settings, expand
from loopgrad.lsp.wire import CellText, FolderSettings, Setup
from loopgrad.lsp.worker_cells import join_cells
from loopgrad.model import Finding, Message
from loopgrad.source import FileProvider, SourceFile

#: How much text keeps its tree in memory, which weighs twenty times that: of closed files, and of open documents.
KEEP_CHARACTERS = 1_000_000
KEEP_OPEN = 200_000


class EditorProvider(FileProvider):
    """The file system under the documents that are open."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(roots=setup.roots)
        self._whole_workspace = setup.whole_workspace
        self._folders = tuple(os.path.realpath(root) + os.sep for root in setup.roots)
        self._open: dict[str, SourceFile] = {}
        self._good: dict[str, SourceFile] = {}
        self._stamps: dict[str, tuple[int, int] | None] = {}
        #: The files that were read since ``begin``.
        self.touched: set[str] = set()

    def adopt(self, other: EditorProvider) -> None:
        """Takes over the open documents of a provider with other folders."""
        self._open, self._good = other._open, other._good
        for source in self._open.values():
            self._overlay[self._key(source.path)] = source
            self._spelling[self._key(source.path)] = source.path

    # Open documents ----------------------------------------------------------------------------------

    def open(self, path: str, text: str | tuple[CellText, ...]) -> None:
        key = self._key(path)
        if isinstance(text, str):
            source = SourceFile(path, text.removeprefix("\ufeff"))
        else:
            source = join_cells(path, text)
        self._open.pop(key, None)  # what was edited last stands last
        self._open[key] = self._overlay[key] = source
        self._spelling[key] = path

    def close(self, path: str) -> None:
        key = self._key(path)
        for table in (self._open, self._overlay, self._good):
            table.pop(key, None)
        self._spelling.pop(key, None)
        self.forget(path)

    def document(self, path: str) -> SourceFile | None:
        """An open document's text as it is now, whether it parses or not."""
        return self._open.get(self._key(path))

    # What the engine asks ----------------------------------------------------------------------------

    def read(self, path: str) -> SourceFile | None:
        self.touched.add(path)
        found = super().read(path)
        key = self._key(path)
        if found is None:
            good = self._good.get(key)
            if good is not None and self.asked is not None:
                self.asked.passing = True
            return good
        if self._open.get(key) is found:
            self._good[key] = found
        return found

    def parsed(self, source: SourceFile) -> None:
        """A document parses: what imports it goes on with this text while the next one does not."""
        self._good[self._key(source.path)] = source

    def resolve(self, module: str, level: int, from_path: str) -> str | None:
        found = super().resolve(module, level, from_path)
        if found is not None:
            self.touched.add(found)
        return found

    def _is_checked(self, path: str) -> bool:
        return super()._is_checked(path) or (
            self._whole_workspace and self._key(path).startswith(self._folders) and bool(self._folders)
        )

    # Freshness ---------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Before a job: what changed on disk since is read again. Not every client watches files for us."""
        self.touched = set()
        self._listings.clear()
        self._search.clear()
        self._found.clear()
        for key in list(self._cache):
            if key not in self._stamps or self._stamps[key] != _stamp(key):
                del self._cache[key]
                self._stamps.pop(key, None)

    def load(self, path: str) -> SourceFile:
        key = self._key(path)
        if key not in self._cache:
            self._stamps[key] = _stamp(key)
        return super().load(path)

    def trim(self) -> None:
        """After a job: trees of documents and of other files are given up when they are many."""
        cached = [source for source in self._cache.values() if isinstance(source, SourceFile)]
        if sum(len(source.text) for source in cached) > KEEP_CHARACTERS:
            self._cache.clear()
            self._stamps.clear()
        kept = 0
        for source in reversed(self._open.values()):
            kept += len(source.text)
            if kept > KEEP_OPEN:
                source._tree = None
                for made in _MADE:
                    source.__dict__.pop(made, None)


#: What a source makes of its text when it is asked for.
_MADE = ("lines", "suppressions", "_starts")


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


class EditorConfig(Config):
    """The settings of ``pyproject.toml`` under those of the editor, which differ by workspace folder.

    A mistake in either costs that part of the settings, not the diagnostics: ``problem`` says what it was.
    """

    def __init__(self, folders: tuple[FolderSettings, ...]) -> None:
        super().__init__()
        self.problem: Message | None = None
        self._parts = [(folder, *self._read(folder)) for folder in folders]

    def _read(self, folder: FolderSettings) -> tuple[Config, dict[str, str]]:
        severity: dict[str, str] = {}
        try:
            for entry, value in sorted(folder.severity, key=lambda pair: len(pair[0])):
                if entry not in _CATEGORIES:
                    severity.update(dict.fromkeys(expand([entry]), value))
            return _FolderConfig(self, folder.select or None, folder.ignore or None), severity
        except ConfigError as error:
            self.problem = error.message
            return _FolderConfig(self, None, None), severity

    def _of(self, path: str) -> tuple[FolderSettings, Config, dict[str, str]]:
        """The settings of the innermost folder that a file is in."""
        best = self._parts[0]
        for part in self._parts:
            root = part[0].root
            if (not root or _inside(path, root)) and len(root) >= len(best[0].root):
                best = part
        return best

    def settings(self, path: str) -> Settings:
        try:
            return super().settings(path)
        except ConfigError as error:
            self.problem = error.message
            return Settings()

    def enabled(self, path: str) -> frozenset[str]:
        _, config, severity = self._of(path)
        off = {code for code, value in severity.items() if value == "off"}
        return config.enabled(path) - off

    def severity(self, finding: Finding) -> str:
        folder, _, by_code = self._of(finding.path)
        plain = super().severity(finding)
        by_category = dict(folder.severity)
        chosen = by_code.get(finding.code) or by_category.get(plain) or plain
        return plain if chosen == "off" else chosen

    def excluded(self, path: str) -> bool:
        folder, _, _ = self._of(path)
        if any(Settings(root=folder.root).matches(path, pattern) for pattern in folder.ignore_patterns):
            return True
        return super().excluded(path)


class _FolderConfig(Config):
    """What one folder's editor settings make of the settings in ``pyproject.toml`` that ``parent`` reads."""

    def __init__(
        self, parent: EditorConfig, select: Iterable[str] | None, ignore: Iterable[str] | None
    ) -> None:
        super().__init__(select, ignore)
        self._parent = parent

    def settings(self, path: str) -> Settings:
        return self._parent.settings(path)


_CATEGORIES = ("error", "warning", "information")


def _inside(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


__all__ = ["EditorConfig", "EditorProvider"]
