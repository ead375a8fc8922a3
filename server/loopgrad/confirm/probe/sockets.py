"""Names of sockets in folders of any depth: the kernel takes about a hundred bytes (``man 7 unix``)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

#: Bytes that a socket's name may have on every system where one is made.
LONGEST = 100


@contextlib.contextmanager
def short(path: str) -> Iterator[str]:
    """A name for ``path`` that is short enough, by way of its folder's descriptor (Linux) where it has to be."""
    if len(os.fsencode(path)) <= LONGEST:
        yield path
        return
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{os.path.basename(path)}"
    finally:
        os.close(folder)
