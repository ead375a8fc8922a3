"""What a check asked of its provider: with the same answers, another check would say the same.

Three kinds of questions are asked: what does a file hold (answered by the digest of its bytes), which file is
behind an import, and is a file one of those that are checked. ``loopgrad.index`` keeps results by the answers.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

#: Nanoseconds that a file must have been at rest before it was read, for its stamp to stand for its content: two
#: changes within the resolution of a file system's clock (2 s on FAT) leave the same stamp.
REST = 2_000_000_000


class Stamp(NamedTuple):
    """What a file system says of a file without reading it: it changes with the content. Times in nanoseconds."""

    changed: int
    status_changed: int
    size: int


def stamp_of(path: str) -> Stamp | None:
    """A file's stamp, or None where there is none that can be trusted: taken before reading, it is of what is read."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    stamp = Stamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size)
    return stamp if max(stamp.changed, stamp.status_changed) + REST < time.time_ns() else None


def digest(data: bytes) -> str:
    """The name of a content, in 32 hexadecimal digits."""
    return blake2b(data, digest_size=16).hexdigest()


@dataclass
class Asked:
    """Questions and answers of one check. Paths are absolute; an import is ``(module, level)``."""

    texts: dict[str, str] = field(default_factory=dict)
    imports: dict[str, dict[tuple[str, int], str | None]] = field(default_factory=dict)
    checked: dict[str, bool] = field(default_factory=dict)
    #: The stamps of files whose digest they may stand for from now on.
    stamps: dict[str, Stamp] = field(default_factory=dict)
    #: Whether an answer is of no use to another check: a text on no disk, or a file that changed meanwhile.
    passing: bool = False

    def note_text(self, path: str, content: str | None, stamp: Stamp | None) -> None:
        """A file was read; ``content`` is its digest, None where it has none."""
        if content is None or self.texts.setdefault(path, content) != content:
            self.passing = True
        elif stamp is not None:
            self.stamps[path] = stamp

    def note_import(self, path: str, module: str, level: int, found: str | None) -> None:
        imports = self.imports.get(path)
        if imports is None:
            imports = self.imports[path] = {}
        if imports.setdefault((module, level), found) != found:
            self.passing = True

    def note_checked(self, path: str, answer: bool) -> None:
        self.checked[path] = answer
