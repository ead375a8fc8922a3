"""Source lines with carets under a range, as wide as a terminal shows them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from loopgrad.model import Range
from loopgrad.report.style import Style
from loopgrad.source import SourceFile

#: Ranges of more lines than this show their beginning and their end.
MAX_LINES = 6

#: Lines longer than this are cut to what is around the range.
MAX_WIDTH = 160

_GAP = "…"


def snippet(
    source: SourceFile, where: Range, style: Style, colour: str, left_out: Callable[[int], str]
) -> list[str]:
    """The lines of a range, each with its number and carets. ``left_out`` words a gap of some lines."""
    last = min(max(where.end_line, where.line), max(len(source.lines), 1))
    if last > where.line and where.end_column <= 1:
        last -= 1  # the range ends before that line's first character
    numbers = list(range(where.line, last + 1))
    gap_after = 0
    if len(numbers) > MAX_LINES:
        gap_after = numbers[MAX_LINES - 3]
        left = len(numbers) - MAX_LINES + 1
        numbers = [*numbers[: MAX_LINES - 2], numbers[-1]]
    width = len(str(max(source.place(number)[1] for number in numbers)))
    bar = style("frame", " " * width + " |")
    rows = [bar]
    for number in numbers:
        text = source.line(number)
        start = where.column if number == where.line else _indent(text) + 1
        end = where.end_column if number == where.end_line else len(text) + 1
        shown, carets = _window(text, start, end)
        label = str(source.place(number)[1]).rjust(width)
        rows.append((style("frame", f"{label} |") + " " + shown).rstrip())
        rows.append(bar + " " + _painted(carets, style, colour))
        if number == gap_after:
            rows.append(style("frame", " " * width + " :") + " " + left_out(left))
    return rows


def _window(text: str, start: int, end: int) -> tuple[str, str]:
    """The line as shown and the line of carets under its columns ``start`` to ``end``, not included."""
    start = min(max(start, 1), len(text) + 1)
    end = max(min(end, len(text) + 1), start + 1)
    first = 0
    before = after = ""
    if len(text) > MAX_WIDTH:
        first = max(0, min(start - 1 - MAX_WIDTH // 4, len(text) - MAX_WIDTH))
        before = _GAP if first else ""
        after = _GAP if first + MAX_WIDTH < len(text) else ""
        text = text[first : first + MAX_WIDTH]
        end = min(end, first + MAX_WIDTH + 1)
    carets = [" " * len(before)]
    for column, char in enumerate(text, first + 1):
        if column >= end:
            break
        marked = column >= start
        if char == "\t":
            carets.append("\t")
        else:
            carets.append(("^" if marked else " ") * display_width(char))
    else:
        if start > first + len(text):  # a position behind the line's end
            carets.append("^")
    return before + printable(text) + after, "".join(carets).rstrip()


def _painted(carets: str, style: Style, colour: str) -> str:
    space = carets[: len(carets) - len(carets.lstrip())]
    return space + style(colour, carets[len(space) :])


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def display_width(char: str) -> int:
    """The columns that a terminal gives a character: two for wide ones, none for combining ones."""
    if char < "\x7f":
        return 1
    if unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Me", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def printable(text: str) -> str:
    """The text without characters that would command the terminal; tabs stay."""
    if text.isprintable():
        return text
    return "".join(
        " " if unicodedata.category(char) in ("Cc", "Cs") and char != "\t" else char for char in text
    )
