"""Colours for terminals, and whether to use them."""

from __future__ import annotations

import os
from typing import IO

_CODES = {
    "error": "1;31",
    "warning": "1;33",
    "information": "1;36",
    "strong": "1",
    "frame": "1;34",
    "note": "36",
    "fix": "1;32",
    "added": "32",
    "removed": "31",
    "dim": "2",
    "heading": "1;4",
}


class Style:
    """Paints words, or leaves them as they are."""

    def __init__(self, colour: bool = False) -> None:
        self.colour = colour

    def __call__(self, kind: str, text: str) -> str:
        return f"\x1b[{_CODES[kind]}m{text}\x1b[0m" if self.colour and text else text


def wants_colour(choice: str, stream: IO[str]) -> bool:
    """``always``, ``never``, or ``auto``: on a terminal, unless NO_COLOR or TERM=dumb says otherwise."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"
