"""From the paths on the command line to the files to check: each once, in a stable order.

A file that is named is always checked, whatever its name. A folder is searched for ``*.py``, ``*.pyw`` and
``*.ipynb``, without hidden folders and those that hold other people's code or build results. Links are
followed; a loop of links ends where a folder comes a second time.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from loopgrad.model import Message, Problem
from loopgrad.source.decode import reason_of

SUFFIXES = (".py", ".pyw", ".ipynb")

#: Folders that are not entered (nor are hidden ones) unless they are named themselves.
SKIPPED = frozenset({"venv", "node_modules", "__pycache__", "build", "dist", "site-packages"})

#: The name of standard input.
STDIN = "-"


class RealPaths:
    """``os.path.realpath`` of many files: each is looked up once, and the folder that they share too.

    What is no absolute path is meant from the working folder of the time when this was made.
    """

    def __init__(self) -> None:
        self._cwd = os.getcwd()
        self._folders: dict[str, str] = {}
        self._known: dict[str, str] = {}

    def path(self, path: str) -> str:
        real = self._known.get(path)
        if real is None:
            real = self._known[path] = self._look_up(path)
        return real

    def note(self, path: str, real: str) -> None:
        """Takes in what a search has found out on its way."""
        self._known[path] = self._known[os.path.join(self._cwd, path)] = real

    def _look_up(self, path: str) -> str:
        path = os.path.join(self._cwd, path)
        folder, name = os.path.split(path)
        if name in ("", os.curdir, os.pardir) or os.path.islink(path) or os.name == "nt":
            return os.path.realpath(path)
        real = self._folders.get(folder)
        if real is None:
            real = self._folders[folder] = os.path.realpath(folder)
        return os.path.join(real, name)


@dataclass(frozen=True)
class Input:
    """A file to check. ``named`` is False for one that a search of a folder brought."""

    path: str
    named: bool


def discover(
    paths: Iterable[str], excluded: Callable[[str], bool] = lambda path: False, real: RealPaths | None = None
) -> tuple[list[Input], list[Problem]]:
    """The files under ``paths``, and what went wrong on the way. ``excluded`` is asked in folders only.

    ``real`` takes in the real paths of the files.
    """
    inputs: list[Input] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    real = real or RealPaths()

    def add(path: str, named: bool) -> None:
        key = path if path == STDIN else real.path(path)
        if key not in seen:
            seen.add(key)
            inputs.append(Input(path, named))

    for path in _expanded(paths):
        if path != STDIN and os.path.isdir(path):
            for file in _walk(path, excluded, problems, real):
                add(file, False)
        else:
            add(path, True)
    return inputs, problems


def _expanded(paths: Iterable[str]) -> Iterator[str]:
    """Patterns that no shell has expanded (quoted, or on Windows) stand for what they match."""
    for path in paths:
        if glob.has_magic(path) and not os.path.lexists(path):
            matches = sorted(glob.glob(path, recursive=True))
            yield from matches or [path]
        else:
            yield path


def _walk(
    root: str, excluded: Callable[[str], bool], problems: list[Problem], real_paths: RealPaths
) -> Iterator[str]:
    visited: set[str] = set()
    todo = [root]
    while todo:
        folder = todo.pop()
        real = os.path.realpath(folder)
        if real in visited:
            continue
        visited.add(real)
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            problems.append(Problem(folder, 1, Message.of("source.unreadable", reason=reason_of(error))))
            continue
        folders: list[str] = []
        for entry in entries:
            name = entry.name
            path = name if folder == os.curdir else os.path.join(folder, name)
            if _is(entry.is_dir):
                if not (name.startswith(".") or name in SKIPPED or excluded(path)):
                    folders.append(path)
            elif name.endswith(SUFFIXES) and _is(entry.is_file) and not excluded(path):
                if not entry.is_symlink():
                    real_paths.note(path, os.path.join(real, name))
                yield path
        todo.extend(reversed(folders))


def _is(kind: Callable[[], bool]) -> bool:
    """Whether an entry is a folder, or a file: of a link that leads in circles nothing can be said."""
    try:
        return kind()
    except OSError:
        return False
