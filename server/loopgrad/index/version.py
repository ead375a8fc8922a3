"""What a result depends on besides the files: Loopgrad's code and tables, libcst, Python's grammar.

A release has its number, but a working copy of Loopgrad changes without one: so the name of a version holds a
digest of all that is installed of it.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b

from loopgrad import __version__

#: Grows when the form of the database changes.
FORMAT = 1

#: What no result depends on.
_OUTSIDE = frozenset({"confirm", "lsp", "messages", "report", "__pycache__"})


@cache
def version() -> str | None:
    """The folder name of this version's results, or None where Loopgrad's own files cannot be read."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    state = blake2b(digest_size=6)
    state.update(f"{FORMAT} {sys.implementation.name} {sys.version_info[:3]}".encode())
    count = 0
    try:
        for path in sorted(_files(package)):
            with open(path, "rb") as file:
                data = file.read()
            state.update(os.path.relpath(path, package).replace(os.sep, "/").encode())
            state.update(len(data).to_bytes(8, "big"))
            state.update(data)
            count += 1
    except OSError:
        return None
    return f"{__version__}-{state.hexdigest()}" if count else None


def _files(package: str) -> Iterator[str]:
    for folder, folders, names in os.walk(package):
        folders[:] = [name for name in folders if name not in _OUTSIDE]
        yield from (os.path.join(folder, name) for name in names if name.endswith((".py", ".json")))
    libcst = importlib.util.find_spec("libcst")
    if libcst is not None and libcst.origin is not None:
        numbered = os.path.join(os.path.dirname(libcst.origin), "_version.py")
        if os.path.isfile(numbered):
            yield numbered
