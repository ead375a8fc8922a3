"""Rows: the statements of a block with the lines that belong to them, as libcst has them.

A row is a line of small statements or a compound statement. The blank lines and comments above it are its
leading lines; those directly above it are about it and go where it goes, the others stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

import libcst as cst

from .snippet import in_lines_of
from .text import Document, EditError

Row = cst.SimpleStatementLine | cst.BaseCompoundStatement
Lines = list[cst.EmptyLine]

_BLANK = cst.EmptyLine(indent=False)


def led(row: Row, lines: Sequence[cst.EmptyLine]) -> Row:
    """The row with lines in front of it."""
    return row.with_changes(leading_lines=[*lines, *row.leading_lines])


def divided(lines: Sequence[cst.EmptyLine]) -> tuple[Lines, Lines]:
    """The lines above a row: those that stay, and the comments that are about it."""
    start = len(lines)
    while start and (line := lines[start - 1]).comment and line.indent and not line.whitespace.value:
        start -= 1
    return list(lines[:start]), list(lines[start:])


def with_comments(lines: Sequence[cst.EmptyLine]) -> tuple[Lines, Lines]:
    """The lines to the last comment, and the blank ones behind it."""
    end = max((number for number, line in enumerate(lines, 1) if line.comment), default=0)
    return list(lines[:end]), list(lines[end:])


def rows_in(doc: Document, text: str) -> tuple[list[Row], Lines]:
    """The rows that a fix's text is, and the blank lines that it ends with. Its levels are of four blanks."""
    lines = text.strip("\n").split("\n")
    blank = 0
    while lines and not lines[-1].strip():
        lines.pop()
        blank += 1
    written = in_lines_of(doc, "\n".join(["if 1:", "    pass", *lines, ""]))
    try:
        module = cst.parse_module(written)
    except cst.ParserSyntaxError as error:
        raise EditError(f"libcst cannot read {text!r}") from error
    rows = [
        row
        for row in module.body[1:]
        if isinstance(row, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
    ]
    return rows, [_BLANK] * blank


def under(header: str, doc: Document) -> cst.BaseCompoundStatement:
    """The compound statement with this header, and nothing to speak of in it."""
    rows, _ = rows_in(doc, f"{header.strip()} pass")
    if len(rows) != 1 or not isinstance(rows[0], cst.BaseCompoundStatement):
        raise EditError(f"not a header: {header!r}")
    return rows[0]


def shifted_rows(rows: Sequence[Row], old: str, new: str) -> list[Row]:
    """The rows as they lie under another indentation."""
    return [cast(Row, row.visit(_Shift(old, new))) for row in rows]


class _Shift(cst.CSTTransformer):
    """What of the indentation is not libcst's to write: joined lines and blank ones."""

    def __init__(self, old: str, new: str) -> None:
        super().__init__()
        self._joined = re.compile(r"(\\(?:\r\n|\n|\r))" + re.escape(old))
        self._new = new

    def leave_EmptyLine(self, original_node: cst.EmptyLine, updated_node: cst.EmptyLine) -> cst.EmptyLine:
        is_blank = updated_node.comment is None and not updated_node.whitespace.value
        return updated_node.with_changes(indent=False) if is_blank else updated_node

    def leave_SimpleWhitespace(
        self, original_node: cst.SimpleWhitespace, updated_node: cst.SimpleWhitespace
    ) -> cst.SimpleWhitespace:
        value = self._joined.sub(lambda match: match[1] + self._new, updated_node.value)
        return updated_node.with_changes(value=value)
