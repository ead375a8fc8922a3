"""What results rest on: files with what they held, and where the imports in them led.

A fact is a text, ``[path, digest, [[module, level, file or null], …]]`` in JSON, and its number a digest of that
text: the fact never changes, it holds now or it does not. A file that is read for many results is one fact, or a
few where not all of them came to each of its imports. Together they are the graph of imports of the workspace.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from loopgrad.index.store import Store, number_of
from loopgrad.source import FileProvider
from loopgrad.source.asked import Asked, stamp_of

_QUOTED = "\x01"


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


class Paths:
    """Paths as they are kept: relative to the workspace, with ``/``, where they lie in it.

    A name that is no text (bytes of another encoding, on Linux) is kept as JSON after a byte that no name begins with.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._inside = root.rstrip(os.sep) + os.sep
        self._kept: dict[str, str] = {}

    def keep(self, path: str) -> str:
        kept = self._kept.get(path)
        if kept is None:
            inside = path.startswith(self._inside)
            kept = path[len(self._inside) :].replace(os.sep, "/") if inside else path
            if not kept.isascii() and not _is_text(kept):
                kept = _QUOTED + json.dumps(kept)
            self._kept[path] = kept
        return kept

    def find(self, kept: str) -> str:
        """The absolute path; ValueError for what ``keep`` never made."""
        if kept.startswith(_QUOTED):
            kept = str(json.loads(kept[1:]))
        return kept if os.path.isabs(kept) else os.path.normpath(os.path.join(self._root, kept))


class Facts:
    def __init__(self, store: Store, provider: FileProvider, paths: Paths) -> None:
        self._store = store
        self._provider = provider
        self._paths = paths
        self._numbers: dict[Any, int] = {}
        self._holding: set[int] = set()
        self._contents: dict[str, str] = {}
        self._parsed: dict[int, str] = {}

    def forget(self) -> None:
        """Files may have changed: every fact is looked at again."""
        self._holding.clear()
        self._contents.clear()

    # New ones --------------------------------------------------------------------------------------

    def of(self, asked: Asked) -> dict[int, str | None]:
        """The facts that a check rests on, by number; the text is None for one that was given out before."""
        facts: dict[int, str | None] = {}
        for path, content in asked.texts.items():
            imports = asked.imports.get(path, {})
            key = (path, content, frozenset(imports.items()))
            number = self._numbers.get(key)
            text = None
            if number is None:
                text = self._text(path, content, imports)
                number = self._numbers[key] = number_of(text)
            facts[number] = text
        for path, stamp in asked.stamps.items():
            self._store.put_stamp(self._paths.keep(path), stamp, asked.texts[path])
        return facts

    def _text(self, path: str, content: str, imports: dict[tuple[str, int], str | None]) -> str:
        keep = self._paths.keep
        led = sorted(
            [module, level, None if found is None else keep(found)]
            for (module, level), found in imports.items()
        )
        return json.dumps([keep(path), content, led], separators=(",", ":"))

    # Old ones --------------------------------------------------------------------------------------

    def hold(self, facts: Sequence[int]) -> bool:
        """Whether all of them hold now."""
        for number in set(facts) - self._holding:
            text = self._store.fact(number)
            if text is None or not self._holds(number, text):
                return False
            self._holding.add(number)
        return True

    def _holds(self, number: int, text: str) -> bool:
        try:
            kept, content, imports = json.loads(text)
            path = self._paths.find(kept)
            self._parsed[number] = path
            if self._content(path) != content:
                return False
            folder = os.path.dirname(path)
            for module, level, led in imports:
                found = self._provider.find(folder, module, level)
                if (None if found is None else self._paths.keep(found)) != led:
                    return False
        except (ValueError, TypeError, AttributeError):
            return False
        return True

    def path(self, number: int) -> str:
        """The file of a fact that holds."""
        return self._parsed[number]

    def _content(self, path: str) -> str:
        """The digest of what a file holds now. One with the stamp that it had is not read again."""
        if path not in self._contents:
            content = self._provider.content(path)
            if content is None:
                kept = self._paths.keep(path)
                known = self._store.stamp(kept)
                if known is not None and known[0] == stamp_of(path):
                    content = known[1]
                else:
                    content, stamp = self._provider.read_content(path)
                    if stamp is not None:
                        self._store.put_stamp(kept, stamp, content)
            self._contents[path] = content
        return self._contents[path]
