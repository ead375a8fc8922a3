"""The first write into the workspace, reported once with the user's line.

``sys.addaudithook`` sees what Python opens, renames and removes (the table of audit events in Python's
manual). ``torch.save`` writes in C++ beside it, so its writer's opener is watched as well.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = {"os.mkdir": 0, "os.remove": 0, "os.rmdir": 0, "os.truncate": 0, "os.rename": 1, "os.link": 1}
_WATCHED = frozenset(_CHANGES) | {"open"}


class Writes:
    def __init__(self, folders: Sequence[str], report: Callable[[str], None]) -> None:
        temporary = os.path.realpath(tempfile.gettempdir())
        real = {os.path.realpath(folder) for folder in folders} - {temporary}
        self._folders = tuple(folder + os.sep for folder in real)
        self._report = report
        self._owner = os.getpid()
        self._done = False

    def install(self) -> None:
        sys.addaudithook(self._audit)
        try:
            import torch.serialization as serialization

            original = serialization._open_zipfile_writer

            def opener(target: Any, *args: Any, **options: Any) -> Any:
                self._wrote(target)
                return original(target, *args, **options)

            serialization._open_zipfile_writer = opener
        except (ImportError, AttributeError):
            return

    def _audit(self, event: str, args: Any) -> None:
        if self._done or event not in _WATCHED:  # first of all: looking at frames is an event as well
            return
        if event == "open":
            path, mode, flags = args
            if (isinstance(flags, int) and flags & _WRITING) or (
                isinstance(mode, str) and set(mode) & set("wax+")
            ):
                self._wrote(path)
        elif event in _CHANGES:
            self._wrote(args[_CHANGES[event]])

    def _wrote(self, path: Any) -> None:
        if self._done or not isinstance(path, (str, bytes, os.PathLike)) or os.getpid() != self._owner:
            return
        real = os.path.realpath(os.fsdecode(path))
        if "tempfile" in (
            sys._getframe(2).f_globals.get("__name__"),
            sys._getframe(1).f_globals.get("__name__"),
        ):
            return  # it tries folders out by writing
        if real.startswith(self._folders) and "__pycache__" not in real:
            self._done = True
            self._report(real)
