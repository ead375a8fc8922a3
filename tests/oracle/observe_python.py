"""What CPython prints when it runs a program: the line of each `print` and the text."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from .limits import TooLong, time_limit

LIMIT = 5.0


def cpython_prints(source: str) -> list[tuple[int, str]] | None:
    """The line and the text of each `print` in order; None if the program fails or does not end."""
    printed: list[tuple[int, str]] = []

    def record(*values: object, **_: object) -> None:
        printed.append((sys._getframe(1).f_lineno, " ".join(str(value) for value in values)))

    scope: dict[str, Any] = {"__name__": "__main__", "print": record}
    try:
        with time_limit(LIMIT), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(source, "<program>", "exec"), scope)
    except (TooLong, Exception):
        return None
    return printed
