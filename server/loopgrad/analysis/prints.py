"""What a program prints, as far as the analysis knows: the check of Python's semantics against CPython."""

from __future__ import annotations

import ast

from .entries import Entry, run_entry
from .runtime import Runtime
from .shared import FileRecord, Shared
from .signals import Budget, Ended, Raised, Stale


def run(source: str, limit: int = 200_000) -> list[tuple[int, str | None]]:
    """Run ``source`` and return one (line, text) for each executed ``print``; None where a part is unknown."""
    record = FileRecord("<source>", ast.parse(source))
    shared = Shared(record, None)
    while True:
        rt = Runtime(shared, {}, limit)
        rt.prints = []
        try:
            run_entry(rt, Entry(1))
        except Stale:
            continue
        except (Raised, Ended, Budget):
            pass
        return rt.prints
