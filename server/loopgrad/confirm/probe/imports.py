"""Which files are the user's, and how they are compiled when they are imported.

The user's are all Python files outside the standard library and the folders that packages are installed to.
They are found as ever (``PathFinder``); only the loader is exchanged for one that compiles with the calls of
``instrument``, and that neither reads nor writes bytecode on disk.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from .instrument import compiled

_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


class Sources:
    """Compiles the user's files, and remembers which they are."""

    def __init__(self, replaced: dict[str, str], *, marks: bool = True) -> None:
        self._marks = marks
        #: Told of a file that compiles models.
        self.on_compiler: Callable[[], None] = lambda: None
        self._replaced = {os.path.realpath(path): text for path, text in replaced.items()}
        own = os.path.dirname(os.path.abspath(__file__))
        paths = sysconfig.get_paths()
        self._foreign = tuple(
            {os.path.realpath(paths[key]) + os.sep for key in ("stdlib", "platstdlib")} | {own + os.sep}
        )
        #: File names of code objects that have calls in.
        self.files: set[str] = set()

    def is_users(self, path: str) -> bool:
        real = os.path.realpath(path)
        return (
            real.endswith(".py")
            and not real.startswith(self._foreign)
            and not any(part in real for part in _INSTALLED)
        )

    def text(self, path: str) -> bytes | str:
        replaced = self._replaced.get(os.path.realpath(path))
        if replaced is not None:
            return replaced
        with open(path, "rb") as file:
            return file.read()

    def compile(self, source: bytes | str, path: str) -> CodeType:
        replaced = self._replaced.get(os.path.realpath(path))
        source = source if replaced is None else replaced
        if ("torch.compile" if isinstance(source, str) else b"torch.compile") in source:  # type: ignore[operator]
            self.on_compiler()
        try:
            code = compiled(source, path, marks=self._marks)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return compile(source, path, "exec", dont_inherit=True)  # it says what is wrong in its own words
        self.files.add(path)
        return code


class Loader(SourceFileLoader):
    def __init__(self, fullname: str, path: str, sources: Sources) -> None:
        super().__init__(fullname, path)
        self._sources = sources

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self._sources.compile(self.get_data(path), path)


class Finder:
    """Stands first on ``sys.meta_path``."""

    def __init__(self, sources: Sources, found: Callable[[str], None]) -> None:
        self._sources = sources
        self._found = found

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or not spec.origin:
            return None
        if not self._sources.is_users(spec.origin):
            return None
        spec.loader = Loader(name, spec.origin, self._sources)
        self._found(spec.origin)
        return spec

    def invalidate_caches(self) -> None:
        PathFinder.invalidate_caches()


def install(sources: Sources, found: Callable[[str], None]) -> None:
    finder: Any = Finder(sources, found)
    sys.meta_path.insert(0, finder)
