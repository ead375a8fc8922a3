"""The text of a file as edits see it: offsets, lines, and splices that leave all else alone.

Three coordinates meet here. ``ast`` counts lines from 1 and columns in UTF-8 bytes from 0; the data model
counts both from 1 and columns in characters; an edit wants an offset into the text. A ``Document`` turns one
into another. A byte order mark belongs to no line: it is set aside on the way in and put back on the way out.
Lines end where Python says they do (``\\n``, ``\\r\\n``, ``\\r``), not where ``str.splitlines`` does.

A ``Splice`` replaces a stretch of text.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from loopgrad.model import Edit, Range
from loopgrad.source.parse import read_tree

BOM = "\ufeff"
LINE_BREAK = re.compile(r"\r\n|\n|\r")


class EditError(Exception):
    """An edit that does not fit the source: its fix is not offered."""


@dataclass(frozen=True)
class Splice:
    """Put ``text`` in the place of ``[start, end)``."""

    start: int
    end: int
    text: str


def merged(splices: Iterable[Splice]) -> list[Splice]:
    """The splices in the order of the text; those that would write over each other are refused."""
    ordered = sorted(splices, key=lambda splice: (splice.start, splice.end))
    for left, right in pairwise(ordered):
        if right.start < left.end or (left.start == right.start and left.end > left.start):
            raise EditError("edits overlap")
    return ordered


def spliced(text: str, splices: Iterable[Splice]) -> str:
    parts: list[str] = []
    position = 0
    for splice in merged(splices):
        parts += [text[position : splice.start], splice.text]
        position = splice.end
    return "".join(parts) + text[position:]


def shifted(splices: Sequence[Splice], offset: int, *, after: bool) -> int:
    """Where ``offset`` lies once the (merged) splices are done.

    ``after`` decides what an insertion at the very offset does: with it the offset moves behind what was
    inserted (right for the end of a stretch that grows), without it stays in front (right for a start).
    """
    delta = 0
    for splice in splices:
        if splice.end < offset or (splice.end == offset and (splice.start < splice.end or after)):
            delta += len(splice.text) - (splice.end - splice.start)
        elif splice.start < offset:
            return splice.start + delta + (len(splice.text) if after else 0)
        else:
            break
    return offset + delta


class Document:
    """One file's text with its lines, its syntax tree and its habits of layout."""

    def __init__(self, text: str) -> None:
        self.bom = BOM if text.startswith(BOM) else ""
        self.text = text[len(self.bom) :]
        self.starts = [0] + [match.end() for match in LINE_BREAK.finditer(self.text)]

    @cached_property
    def tree(self) -> ast.Module:
        try:
            return read_tree(self.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise EditError(f"not valid Python: {error}") from error

    @cached_property
    def newline(self) -> str:
        match = LINE_BREAK.search(self.text)
        return match.group() if match else "\n"

    @cached_property
    def unit(self) -> str:
        """One level of indentation: what the first indented block of the file uses."""
        for node in ast.walk(self.tree):
            body = getattr(node, "body", None)
            if not isinstance(node, ast.stmt) or not isinstance(body, list) or not body:
                continue
            line = body[0].lineno
            outer, inner = self.indentation(node.lineno), self.indentation(line)
            alone = len(inner.encode()) == body[0].col_offset and not self.line_text(line - 1).endswith("\\")
            if line > node.lineno and alone and inner.startswith(outer) and len(inner) > len(outer):
                return inner[len(outer) :]
        return "    "

    @cached_property
    def unused(self) -> str:
        """The start of names that the file does not have, for what stands in for its code."""
        name = "_loopgrad_"
        while name in self.text:
            name += "_"
        return name

    # -- lines and offsets

    def line_text(self, line: int) -> str:
        """The line without what ends it."""
        start = self.starts[line - 1]
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def indentation(self, line: int) -> str:
        text = self.line_text(line)
        return text[: len(text) - len(text.lstrip(" \t\f"))].replace("\f", "")

    def line_of(self, offset: int) -> int:
        return bisect_right(self.starts, offset)

    def line_start(self, offset: int) -> int:
        return self.starts[self.line_of(offset) - 1]

    def next_line(self, offset: int) -> int:
        """The offset at which the line after the one of ``offset`` starts, or the end of the text."""
        line = self.line_of(offset)
        return self.starts[line] if line < len(self.starts) else len(self.text)

    def offset(self, line: int, column: int) -> int:
        if not 1 <= line <= len(self.starts) or column < 1:
            raise EditError(f"no line {line}, column {column}")
        offset = self.starts[line - 1] + column - 1
        limit = self.starts[line] if line < len(self.starts) else len(self.text)
        if offset > limit:
            raise EditError(f"no line {line}, column {column}")
        return offset

    def position(self, offset: int) -> tuple[int, int]:
        line = self.line_of(offset)
        return line, offset - self.starts[line - 1] + 1

    def span(self, range_: Range) -> tuple[int, int]:
        start = self.offset(range_.line, range_.column)
        end = self.offset(range_.end_line, range_.end_column)
        if end < start:
            raise EditError("a range that ends before it starts")
        return start, end

    def range(self, start: int, end: int) -> Range:
        return Range(*self.position(start), *self.position(end))

    def byte_offset(self, line: int, column: int) -> int:
        """The offset of a position as ``ast`` gives it: columns in bytes, from 0."""
        start = self.starts[line - 1]
        stop = self.starts[line] if line < len(self.starts) else len(self.text)
        text = self.text[start:stop]
        if text.isascii():
            return start + column
        return start + len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace"))

    def node_span(self, node: ast.AST) -> tuple[int, int]:
        """The stretch of a node; a decorated definition starts at its ``def`` or ``class``."""
        line, column = getattr(node, "lineno", None), getattr(node, "col_offset", 0)
        end_line, end_column = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", 0)
        if line is None or end_line is None or end_line > len(self.starts):
            raise EditError("a node without a position")
        return self.byte_offset(line, column), self.byte_offset(end_line, end_column)

    def source(self, node: ast.AST) -> str:
        start, end = self.node_span(node)
        return self.text[start:end]


@lru_cache(maxsize=8)
def document(text: str) -> Document:
    """The document of a text; a few are kept, since one finding's fixes all start from the same text."""
    return Document(text)


def as_edits(path: str, doc: Document, splices: Iterable[Splice]) -> tuple[Edit, ...]:
    """Splices, in order, as edits. Of those that touch one is made: whoever applies edits from the last to the first
    need not know which of two at the same position comes first."""
    joined: list[Splice] = []
    for splice in splices:
        if joined and joined[-1].end == splice.start:
            last = joined.pop()
            splice = Splice(last.start, splice.end, last.text + splice.text)
        joined.append(splice)
    return tuple(Edit(path, doc.range(splice.start, splice.end), splice.text) for splice in joined)


def as_splices(doc: Document, edits: Iterable[Edit]) -> list[Splice]:
    return merged(Splice(*doc.span(edit.range), edit.new_text) for edit in edits)


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text with the edits applied, all of them positions in the given text; overlapping ones are refused.

    >>> apply("loss = a\\n", [Edit("t.py", Range(1, 9, 1, 9), ".item()")])
    'loss = a.item()\\n'
    """
    doc = document(text)
    return doc.bom + spliced(doc.text, as_splices(doc, edits))
