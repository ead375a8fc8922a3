"""Python's collector of cycles, where it costs more than what it collects.

It goes through all objects that it has not seen often, again and again while more of them are made. Trees and
lowered code are millions of objects that live as long as their files' texts.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: How many objects are made before it looks for cycles: a check makes many that live until its end.
THRESHOLD = 50_000
#: How many of its middle collections pass before it goes through everything, the trees of all files at hand as well.
SELDOM = 60


def collect_seldom() -> None:
    """For a process that checks many files."""
    first, second, third = gc.get_threshold()
    if first:
        gc.set_threshold(max(THRESHOLD, first), second, max(SELDOM, third))


@contextmanager
def uncollected() -> Iterator[None]:
    """Makes what has no cycles, and much of it: ``ast.parse`` takes a quarter of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
