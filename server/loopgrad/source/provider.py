"""Where the analysis gets its files: the only door from the pure engine to the file system.

A provider reads each file once and finds the file behind an import as Python would: in the folder of the
importing file and beyond the packages it is in, in the project's root, its ``src`` folder and the working
folder. Unsaved texts, and texts that a fix would make, lie over the files (``with_source``).
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from loopgrad.collector import collect_if_due
from loopgrad.model import Message
from loopgrad.source.asked import Asked, Stamp, digest, stamp_of
from loopgrad.source.decode import read_bytes
from loopgrad.source.discover import STDIN, RealPaths
from loopgrad.source.errors import SourceError
from loopgrad.source.file import SourceFile

#: How much text stays in the cache; the trees of that and their lowered code are some hundred megabytes.
_KEEP_CHARACTERS = 4_000_000

_Provider = TypeVar("_Provider", bound="FileProvider")

_ROOT_MARKS = frozenset({"pyproject.toml", "setup.py", "setup.cfg", ".git"})


class Provider(Protocol):
    """What the engine asks of the outside."""

    def read(self, path: str) -> SourceFile | None:
        """A file that parses, or None: never an exception."""

    def resolve(self, module: str, level: int, from_path: str) -> str | None:
        """The file of ``import module`` (``level`` dots before it) in ``from_path``, or None."""

    def is_checked(self, path: str) -> bool:
        """Whether findings in this file are reported in its own right."""

    def with_source(self, source: SourceFile) -> Provider:
        """This provider with one file's text replaced; itself it stays as it is."""


class _Cache(dict[str, "SourceFile | SourceError"]):
    """What was read, and how much that is."""

    __slots__ = ("characters",)

    def __init__(self) -> None:
        self.characters = 0

    def keep(self, key: str, found: SourceFile | SourceError) -> None:
        self.drop(key)
        self[key] = found
        if isinstance(found, SourceFile):
            self.characters += len(found.text)

    def drop(self, key: str) -> None:
        found = self.pop(key, None)
        if isinstance(found, SourceFile):
            self.characters -= len(found.text)


class FileProvider:
    """The file system, with caches and an overlay of texts that are not on disk.

    ``files`` are the checked files: a path that leads to one of them is spelled as it was given.
    ``roots`` are further folders to import from (an editor's workspace folders); ``real`` are the real paths that
    a search for the files has found.
    """

    def __init__(
        self, files: Iterable[str] = (), roots: Iterable[str] = (), real: RealPaths | None = None
    ) -> None:
        self._cwd = os.getcwd()
        self._roots = tuple(roots)
        self._real = real or RealPaths()
        self._spelling = {self._key(path): path for path in files}
        self._cache = _Cache()
        #: The digest of what was read last, and the file's stamp before that.
        self._contents: dict[str, tuple[str, Stamp | None]] = {}
        self._overlay: dict[str, SourceFile] = {}
        #: Files whose text is one that is being tried out (``with_source``).
        self._tried: frozenset[str] = frozenset()
        self._listings: dict[str, frozenset[str]] = {}
        self._search: dict[str, tuple[str, ...]] = {}
        self._found: dict[tuple[str, str, int], str | None] = {}
        self.asked: Asked | None = None

    # Reading ---------------------------------------------------------------------------------------

    def load(self, path: str) -> SourceFile:
        """A file, parsed or not; raises the SourceError that says why there is none."""
        key = self._key(path)
        found: SourceFile | SourceError | None = self._overlay.get(key)
        if found is None:
            found = self._cache.get(key)
        if found is None:
            try:
                found = SourceFile.from_bytes(path, self._bytes(path, key))
            except SourceError as error:
                found = error
            self._cache.keep(key, found)
        self._note_text(path, key)
        if isinstance(found, SourceError):
            raise SourceError(path, found.line, found.message)
        return found

    def peek(self, path: str, wanted: Callable[[bytes], bool] | None) -> SourceFile | None:
        """A file whose bytes are ``wanted`` (None: any), else None and nothing is decoded or kept."""
        key = self._key(path)
        if wanted is None or key in self._overlay or key in self._cache:
            return self.load(path)
        try:
            data = self._bytes(path, key)
        finally:
            self._note_text(path, key)
        if not wanted(data):
            return None
        try:
            self._cache.keep(key, SourceFile.from_bytes(path, data))
        except SourceError as error:
            self._cache.keep(key, error)
        return self.load(path)

    def _bytes(self, path: str, key: str) -> bytes:
        stamp = stamp_of(path)
        try:
            if path == STDIN:
                raise SourceError(path, 1, Message.of("source.missing"))
            data = read_bytes(path)
        except SourceError as error:
            self._contents[key] = ("!" + error.message.key, None)
            raise
        self._contents[key] = (digest(data), stamp)
        return data

    def _note_text(self, path: str, key: str) -> None:
        if self.asked is None or key in self._tried:
            return
        if key in self._overlay:
            self.asked.note_text(self.absolute(path), _digest_of(self._overlay[key]), None)
        elif key in self._contents:
            self.asked.note_text(self.absolute(path), *self._contents[key])

    def content(self, path: str) -> str | None:
        """The digest of what a check would read, if no file has to be read for it; "" for a text without one."""
        key = self._key(path)
        if key in self._overlay:
            return _digest_of(self._overlay[key]) or ""
        return self._contents[key][0] if key in self._cache and key in self._contents else None

    def read_content(self, path: str) -> tuple[str, Stamp | None]:
        """The digest of what is on disk, and the stamp that may stand for it. Nothing is kept."""
        key = self._key(path)
        try:
            self._bytes(path, key)
        except SourceError:
            pass
        return self._contents[key]

    def read(self, path: str) -> SourceFile | None:
        try:
            source = self.load(path)
            source.tree  # noqa: B018 - a helper that does not parse is out of reach
        except SourceError:
            return None
        return source

    def is_checked(self, path: str) -> bool:
        answer = self._is_checked(path)
        if self.asked is not None:
            self.asked.note_checked(self.absolute(path), answer)
        return answer

    def _is_checked(self, path: str) -> bool:
        return self._key(path) in self._spelling

    def with_source(self: _Provider, source: SourceFile) -> _Provider:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        key = self._key(source.path)
        other._overlay = {**self._overlay, key: source}
        other._tried = self._tried | {key}
        return other

    def put(self, source: SourceFile) -> None:
        """Takes in a text that is on no disk, or not yet."""
        self._overlay[self._key(source.path)] = source

    def put_error(self, error: SourceError) -> None:
        """Remembers that there is no text: standard input that could not be decoded."""
        self._cache.keep(self._key(error.path), error)

    @property
    def is_full(self) -> bool:
        """Whether much was read."""
        return self._cache.characters > _KEEP_CHARACTERS

    def trim(self) -> None:
        """Lets go of what was read once that is much: a run over thousands of files cannot keep them all."""
        if self.is_full:
            kept, self._cache = self._cache.get(STDIN), _Cache()
            if kept is not None:
                self._cache.keep(STDIN, kept)
            gc.collect()  # what is left is little, so that this takes no time
        else:
            collect_if_due()

    def forget(self, path: str) -> None:
        """A file has changed, come or gone: what was known of it and of its folder is read again."""
        key = self._key(path)
        self._overlay.pop(key, None)
        self._cache.drop(key)
        self._listings.pop(os.path.dirname(key), None)
        self._listings.pop(os.path.dirname(self.absolute(path)), None)
        self._search.clear()
        self._found.clear()

    # Imports ---------------------------------------------------------------------------------------

    def resolve(self, module: str, level: int, from_path: str) -> str | None:
        importer = self.absolute(from_path)
        found = self.find(os.path.dirname(importer), module, level)
        if self.asked is not None:
            self.asked.note_import(importer, module, level, found)
        return None if found is None else self.spell(found, from_path)

    def find(self, folder: str, module: str, level: int) -> str | None:
        """The absolute path of the file of an import in a file of ``folder``, or None."""
        key = (folder, module, level)
        if key not in self._found:
            parts = [part for part in module.split(".") if part]
            if level > 0:
                for _ in range(level - 1):
                    folder = os.path.dirname(folder)
                self._found[key] = self._below(folder, parts)[0]
            else:
                self._found[key] = self._absolute_import(folder, parts)
        return self._found[key]

    def _absolute_import(self, folder: str, parts: list[str]) -> str | None:
        if not parts:
            return None
        if parts[0] in sys.stdlib_module_names:
            # A script's own folder comes before the standard library, all else after it.
            places: tuple[str, ...] = () if "__init__.py" in self._listing(folder) else (folder,)
        else:
            places = self._places(folder)
        for place in places:
            found, decided = self._below(place, parts)
            if found is not None or decided:
                return found
        return None

    def _below(self, folder: str, parts: list[str]) -> tuple[str | None, bool]:
        """The module's file in a folder, and whether the folder's package of that name decides."""
        if not parts:
            init = os.path.join(folder, "__init__.py")
            return (init if "__init__.py" in self._listing(folder) else None), True
        decided = False
        for part in parts[:-1]:
            listing = self._listing(folder)
            if part in listing:
                folder = os.path.join(folder, part)
                decided = decided or "__init__.py" in self._listing(folder)
            elif part + ".py" in listing:
                return None, True  # a module has no submodules
            else:
                return None, decided
        last = parts[-1]
        listing = self._listing(folder)
        if last in listing and "__init__.py" in self._listing(os.path.join(folder, last)):
            return os.path.join(folder, last, "__init__.py"), True
        if last + ".py" in listing:
            return os.path.join(folder, last + ".py"), True
        return None, decided

    def _places(self, folder: str) -> tuple[str, ...]:
        """The folders that imports of a file in ``folder`` are looked for in."""
        if folder not in self._search:
            here = folder
            places = [here]
            while "__init__.py" in self._listing(here) and os.path.dirname(here) != here:
                here = os.path.dirname(here)
                places.append(here)
            for root in (self._project_root(here), self._cwd, *self._roots):
                places += [root, os.path.join(root, "src")]
            self._search[folder] = tuple(dict.fromkeys(places))
        return self._search[folder]

    def _project_root(self, folder: str) -> str:
        here = folder
        while True:
            if not _ROOT_MARKS.isdisjoint(self._listing(here)):
                return here
            parent = os.path.dirname(here)
            if parent == here:
                return folder
            here = parent

    def _listing(self, folder: str) -> frozenset[str]:
        """The names in a folder: one look for many imports, and exact in upper and lower case."""
        if folder not in self._listings:
            try:
                self._listings[folder] = frozenset(os.listdir(folder))
            except (OSError, ValueError):
                self._listings[folder] = frozenset()
        return self._listings[folder]

    # Paths -----------------------------------------------------------------------------------------

    def absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self._cwd, path))

    def _key(self, path: str) -> str:
        return path if path == STDIN else self._real.path(path)

    def spell(self, found: str, from_path: str) -> str:
        """The path as it was given, else in the way (relative or absolute) that ``from_path`` is."""
        given = self._spelling.get(self._key(found))
        if given is not None:
            return given
        if os.path.isabs(from_path):
            return found
        try:
            return os.path.relpath(found, self._cwd)
        except ValueError:  # another drive
            return found


def _digest_of(source: SourceFile) -> str | None:
    """The digest of the file that a text would make, or None: cells of an open notebook are in no file like this."""
    if source.notebook is not None:
        return None
    try:
        return digest(source.encode())
    except SourceError:
        return None
