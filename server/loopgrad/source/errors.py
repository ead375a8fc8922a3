"""The one exception of this package: a file that cannot be read as Python source."""

from __future__ import annotations

from loopgrad.model import Message, Problem


class SourceError(Exception):
    """Says in one sentence why ``path`` cannot be analysed, and at which line (1 where none fits)."""

    def __init__(self, path: str, line: int, message: Message) -> None:
        super().__init__(path, line, message)
        self.path = path
        self.line = line
        self.message = message

    def problem(self) -> Problem:
        """The same as plain data, for a report."""
        return Problem(self.path, self.line, self.message)
