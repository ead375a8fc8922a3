"""What ends a stretch of a run: exceptions of the analysed program, its end, the budget, and a try given up."""

from __future__ import annotations

import ast
from typing import Any


class Raised(Exception):
    """An exception of the analysed program. ``kind`` is the class's name.

    ``sure`` where PyTorch raises it, whatever is not known of the program: what follows is dead. Any other may
    come from what the analysis does not know. ``place`` is the statement of the analysed file that failed.
    """

    def __init__(self, kind: str, value: Any = None, sure: bool = False) -> None:
        super().__init__(kind)
        self.kind = kind
        self.value = value
        self.sure = sure
        self.place: ast.stmt | None = None


class Ended(Exception):
    """The program ends here (``sys.exit``, an uncaught error of torch)."""


class Budget(Exception):
    """The run used up its steps."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


class Stale(Exception):
    """A merge left open what is asked now: the path runs anew, with the branch decided."""


class Abort(Exception):
    """A tried branch does something that a graph could notice: it must be decided, not merged."""
