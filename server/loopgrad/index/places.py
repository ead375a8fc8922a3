"""Where the results of a workspace are kept, what marks the folder, and how it is taken away.

``loopgrad check`` keeps them in ``.loopgrad_cache`` of the workspace, the language server, which writes nothing into
a folder that it only reads, in the user's folder for caches. In either there is a folder for each version of
Loopgrad. The folder says to backup programs what it is (``CACHEDIR.TAG``, see https://bford.info/cachedir/) and to
git that it is none of its business.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b

from loopgrad.source.discover import STDIN

FOLDER = ".loopgrad_cache"
VARIABLE = "LOOPGRAD_CACHE_DIR"

_TAG = "CACHEDIR.TAG"
_TAG_TEXT = "Signature: 8a477f597d28d172789f06886806bc55\n# Results of earlier runs of Loopgrad. `loopgrad clean` removes it.\n"
_GITIGNORE = "# Made by Loopgrad.\n*\n"
_MARKS = ("pyproject.toml", ".git")

#: Folders of other versions that stay: those of a second Loopgrad that runs here now and then.
OTHER_VERSIONS = 3
#: Databases of other workspaces that stay in one folder.
OTHER_WORKSPACES = 50

_VERSION = re.compile(r"\d+\.\d+[\w.+]*-[0-9a-f]{12}")
_DATABASE = re.compile(r"(?:workspace|[0-9a-f]{16})\.sqlite3(?:-journal)?")


@dataclass(frozen=True)
class Place:
    """A folder for results, and the workspace that paths in them are relative to."""

    folder: str
    root: str

    def database(self, version: str) -> str:
        """The file for this workspace; one that lies in the workspace itself may move with it."""
        own = os.path.dirname(os.path.abspath(self.folder)) == self.root
        name = "workspace" if own else blake2b(os.fsencode(self.root), digest_size=8).hexdigest()
        return os.path.join(self.folder, version, name + ".sqlite3")


def workspace_of(paths: Iterable[str]) -> str:
    """The nearest folder above all of the checked paths that looks like a project's, else the working folder."""
    here = os.getcwd()
    wanted = [os.path.abspath(path) for path in paths if path != STDIN] or [here]
    try:
        folder = os.path.commonpath(
            [path if os.path.isdir(path) else os.path.dirname(path) for path in wanted]
        )
    except ValueError:  # several drives
        return here
    while not any(os.path.exists(os.path.join(folder, mark)) for mark in _MARKS):
        parent = os.path.dirname(folder)
        if parent == folder:
            return here
        folder = parent
    return folder


def user_folder() -> str:
    """The user's folder for caches, by the conventions of the system."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return os.path.abspath(os.path.expanduser(chosen))
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
        return os.path.join(base, "loopgrad", "Cache")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", "loopgrad")
    base = os.environ.get("XDG_CACHE_HOME") or ""
    return os.path.join(base if os.path.isabs(base) else os.path.join(home, ".cache"), "loopgrad")


def prepare(place: Place, version: str) -> str:
    """Makes and marks the folder, lets old versions go, and gives the database's path; OSError if that is not to be.

    A folder that somebody already keeps other things in is used, but not marked.
    """
    folder = place.folder
    os.makedirs(folder, exist_ok=True)
    if not os.listdir(folder):
        for name, text in ((_TAG, _TAG_TEXT), (".gitignore", _GITIGNORE)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
    path = place.database(version)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.exists(path):
        _let_go(_versions(folder), version, OTHER_VERSIONS)
        _let_go(_databases(os.path.dirname(path)), os.path.basename(path), OTHER_WORKSPACES)
    return path


def clean(folder: str) -> bool:
    """Takes away what Loopgrad keeps in a folder, and the folder if nothing else is in it."""
    versions = list(_versions(folder))
    for path in versions:
        _remove(path)
    marked = _is_marked(folder)
    if marked:
        for name in (".gitignore", _TAG):
            _remove(os.path.join(folder, name))
        try:
            os.rmdir(folder)
        except OSError:
            pass
    return bool(versions) or marked


def caches_below(root: str) -> Iterator[str]:
    """The folders named ``.loopgrad_cache`` in a folder and below it."""
    for folder, folders, _ in os.walk(root):
        if FOLDER in folders:
            yield os.path.join(folder, FOLDER)
        folders[:] = [name for name in folders if name not in (FOLDER, ".git", "node_modules")]


def _is_marked(folder: str) -> bool:
    try:
        with open(os.path.join(folder, _TAG), encoding="utf-8", errors="replace") as file:
            return file.read(1000) == _TAG_TEXT
    except OSError:
        return False


def _versions(folder: str) -> Iterator[str]:
    """The folders of versions: whatever else is there has only databases in it as well."""
    for name in _names(folder):
        path = os.path.join(folder, name)
        if _VERSION.fullmatch(name) and os.path.isdir(path) and not os.path.islink(path):
            if all(_DATABASE.fullmatch(inside) for inside in _names(path)):
                yield path


def _databases(folder: str) -> Iterator[str]:
    for name in _names(folder):
        if name.endswith(".sqlite3"):
            yield os.path.join(folder, name)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _let_go(paths: Iterable[str], current: str, keep: int) -> None:
    """All but the ones that were written last, and the current one."""
    others = [path for path in paths if os.path.basename(path) != current]
    for path in sorted(others, key=_age)[keep:]:
        _remove(path)


def _age(path: str) -> float:
    """The later it was written the smaller; of a folder, what is in it counts."""
    times = []
    for part in (path, *(os.path.join(path, name) for name in (_names(path) if os.path.isdir(path) else ()))):
        try:
            times.append(os.stat(part).st_mtime)
        except OSError:
            continue
    return -max(times, default=0.0)


def _remove(path: str) -> None:
    if os.path.isdir(path):
        shutil.rmtree(path, ignore_errors=True)
        return
    try:
        os.remove(path)
    except OSError:
        pass
