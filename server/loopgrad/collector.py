"""Python's collector of cycles, where it costs more than what it collects.

It goes through all objects that it has not seen often, again and again while more of them are made. Trees and
lowered code are millions of objects that live as long as their files' texts; what a run of the analysis makes is
taken apart at its end (``Runtime.untie``).
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: How many objects are made before it looks for cycles: a check makes many that live until its end.
THRESHOLD = 50_000
#: So many more objects than at the last collection are looked through between two files.
MANY = 6_000_000


def collect_seldom() -> None:
    """For a process that only checks files: cycles are looked for between files, when much has come together."""
    gc.disable()


def much_is_uncollected() -> bool:
    return gc.get_count()[0] > MANY


def collect_if_due() -> None:
    """Between two files."""
    if much_is_uncollected():
        gc.collect()


@contextmanager
def uncollected() -> Iterator[None]:
    """While files are checked, or what has no cycles is made: ``ast.parse`` takes a quarter of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
