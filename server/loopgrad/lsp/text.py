"""The text of an open document: lines, edits by position, and the three ways to count columns.

A client counts columns in UTF-16 code units, in bytes of UTF-8 or in code points (UTF-32), whichever was agreed
at the start; Loopgrad counts code points from 1. Lines end at ``\\n``, ``\\r\\n`` or ``\\r`` and nowhere else: a
form feed, which ``str.splitlines`` would take for an end, is an ordinary character here as it is for clients.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


def split_keeping_ends(text: str) -> list[str]:
    return _LINE.findall(text)


def without_end(line: str) -> str:
    return line.rstrip("\r\n")


class Columns:
    """Columns of a client: how many units a stretch of a line has, and which character a unit is in."""

    def __init__(self, encoding: str = "utf-16") -> None:
        self.encoding = encoding

    def units(self, text: str) -> int:
        """The length of a text in the client's units."""
        if text.isascii() or self.encoding == "utf-32":
            return len(text)
        if self.encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text) + sum(char > "\uffff" for char in text)

    def index(self, line: str, units: int) -> int:
        """The character at a client's column; inside of a character means before it, too far means the end."""
        if units <= 0:
            return 0
        if line.isascii() or self.encoding == "utf-32":
            return min(units, len(line))
        width: Callable[[str], int] = _utf8_width if self.encoding == "utf-8" else _utf16_width
        passed = 0
        for index, char in enumerate(line):
            passed += width(char)
            if passed > units:
                return index
        return len(line)


def _utf16_width(char: str) -> int:
    return 2 if char > "\uffff" else 1


def _utf8_width(char: str) -> int:
    return len(char.encode("utf-8", "surrogatepass"))


class Text:
    """A text that is edited by lines. An edit costs what its lines cost, not what the file does."""

    def __init__(self, text: str) -> None:
        self._lines = split_keeping_ends(text)
        self._joined: str | None = text

    @property
    def text(self) -> str:
        if self._joined is None:
            self._joined = "".join(self._lines)
        return self._joined

    @property
    def lines(self) -> Sequence[str]:
        """The lines with their ends; a text that ends with a newline has no empty line at its end here."""
        return self._lines

    @property
    def count(self) -> int:
        """How many lines an editor shows: one more where the text ends with a newline."""
        ends = not self._lines or self._lines[-1].endswith(("\n", "\r"))
        return len(self._lines) + ends

    def line(self, number: int) -> str:
        """A line (from 0) without its end; empty beyond the text."""
        return without_end(self._lines[number]) if 0 <= number < len(self._lines) else ""

    def edit(self, start: tuple[int, int], end: tuple[int, int], new: str, columns: Columns) -> None:
        """Replaces what stands between two client positions (lines and columns from 0)."""
        first, last = min(start, end), max(start, end)
        start_line, before = self._cut(first, columns)
        end_line, after = self._cut(last, columns)
        # A neighbour on each side comes along: ``\r`` and ``\n`` that meet are one end of a line.
        low, high = max(start_line - 1, 0), min(end_line + 2, len(self._lines))
        prefix = "".join(self._lines[low:start_line]) + self._piece(start_line)[:before]
        suffix = self._piece(end_line)[after:] + "".join(self._lines[end_line + 1 : high])
        self._lines[low:high] = split_keeping_ends(prefix + new + suffix)
        self._joined = None

    def replace(self, text: str) -> None:
        self._lines = split_keeping_ends(text)
        self._joined = text

    def _piece(self, line: int) -> str:
        return self._lines[line] if line < len(self._lines) else ""

    def _cut(self, position: tuple[int, int], columns: Columns) -> tuple[int, int]:
        line, units = position
        if line < 0:
            return 0, 0
        if line >= len(self._lines):
            return len(self._lines), 0
        return line, columns.index(self.line(line), units)


@dataclass(frozen=True)
class LineShift:
    """Where the lines of an older text are in a newer one, by the lines that both begin and end with."""

    same_before: int
    changed: int
    delta: int

    @classmethod
    def between(cls, old: Sequence[str], new: Sequence[str]) -> LineShift:
        shortest = min(len(old), len(new))
        before = 0
        while before < shortest and old[before] == new[before]:
            before += 1
        after = 0
        while after < shortest - before and old[-1 - after] == new[-1 - after]:
            after += 1
        return cls(before, len(old) - before - after, len(new) - len(old))

    @property
    def nothing(self) -> bool:
        return not self.changed and not self.delta

    def line(self, number: int) -> int:
        """The new number (from 1) of an old line (from 1)."""
        index = number - 1
        if index < self.same_before:
            return number
        if index >= self.same_before + self.changed:
            return number + self.delta
        return max(min(number, self.same_before + self.changed + self.delta), self.same_before, 1)

    def touches(self, first: int, last: int) -> bool:
        """Whether an old stretch of lines (from 1, both included) was changed."""
        low, high = self.same_before + 1, self.same_before + self.changed
        return first <= high and last >= low if self.changed else False
