"""One source file: its bytes, text, lines, tree, and the ways between their positions.

Three kinds of positions meet here. ``ast`` counts columns in UTF-8 bytes from 0; everything Loopgrad says
counts characters from 1 (``loopgrad.model.Range``); and a notebook's lines are counted in its joined text
inside, but in the cell for the reader (``SourceFile.place``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property
from typing import Protocol

from loopgrad.model import Edit, Range
from loopgrad.source.decode import Encoding, decode, read_bytes
from loopgrad.source.errors import SourceError
from loopgrad.source.notebook import Notebook, read_notebook
from loopgrad.source.parse import parse, split_keeping_ends, split_lines
from loopgrad.source.suppress import Suppressions, read_suppressions


class _Located(Protocol):
    lineno: int
    col_offset: int
    end_lineno: int | None
    end_col_offset: int | None


class SourceFile:
    """A file as the analysis sees it. Immutable in use: a changed text makes a new one (``with_text``)."""

    def __init__(
        self,
        path: str,
        text: str,
        *,
        encoding: Encoding | None = None,
        notebook: Notebook | None = None,
    ) -> None:
        self.path = path
        self.text = text
        self.encoding = encoding or Encoding()
        self.notebook = notebook
        self._tree: ast.Module | SourceError | None = None

    @classmethod
    def from_bytes(cls, path: str, data: bytes) -> SourceFile:
        """Decodes a file's content; raises SourceError where that is no Python text."""
        if path.endswith(".ipynb"):
            notebook = read_notebook(path, data)
            return cls(path, notebook.text, notebook=notebook)
        text, encoding = decode(path, data)
        return cls(path, text, encoding=encoding)

    @classmethod
    def load(cls, path: str) -> SourceFile:
        return cls.from_bytes(path, read_bytes(path))

    def with_text(self, text: str) -> SourceFile:
        """The same file with another (joined) text, stored in the same way."""
        return SourceFile(self.path, text, encoding=self.encoding, notebook=self.notebook)

    def encode(self, text: str | None = None) -> bytes:
        """The file's bytes with ``text`` in place of its own; untouched text gives untouched bytes."""
        new = self.text if text is None else text
        if self.notebook is not None:
            return self.notebook.encode(new)
        return self.encoding.encode(self.path, new)

    # Parsing ---------------------------------------------------------------------------------------

    @property
    def tree(self) -> ast.Module:
        """The syntax tree, parsed once; a SourceError is raised each time if there is none."""
        if self._tree is None:
            try:
                self._tree = parse(self.path, self.text)
            except SourceError as error:
                self._tree = error
        if isinstance(self._tree, SourceError):
            raise self._tree
        return self._tree

    @property
    def errors(self) -> tuple[SourceError, ...]:
        """Notebook cells that do not parse: they are left out, and the other cells are still read."""
        return self.notebook.errors if self.notebook is not None else ()

    @cached_property
    def lines(self) -> list[str]:
        """The lines without what ends them; ``lines[0]`` is line 1."""
        return split_lines(self.text)

    @cached_property
    def newline(self) -> str:
        """What most lines end with, for new lines."""
        crlf = self.text.count("\r\n")
        counts = {
            "\n": self.text.count("\n") - crlf,
            "\r\n": crlf,
            "\r": self.text.count("\r") - crlf,
        }
        return max(counts, key=lambda end: counts[end])

    @cached_property
    def suppressions(self) -> Suppressions:
        """The file's ``# loopgrad: ignore`` comments."""
        return read_suppressions(self)

    # Positions -------------------------------------------------------------------------------------

    @cached_property
    def _ascii(self) -> bool:
        return self.text.isascii()

    def column(self, line: int, byte_column: int) -> int:
        """The character column (from 1) of an ``ast`` position (line from 1, UTF-8 byte from 0)."""
        if self._ascii:
            return byte_column + 1
        text = self.line(line)
        if text.isascii():
            return byte_column + 1
        return len(text.encode("utf-8", "surrogatepass")[:byte_column].decode("utf-8", "ignore")) + 1

    def range(self, node: _Located | ast.AST) -> Range:
        """Where a node stands. A node without an end is a single position."""
        line: int = node.lineno  # type: ignore[union-attr]
        start: int = node.col_offset  # type: ignore[union-attr]
        end_line = getattr(node, "end_lineno", None) or line
        end = getattr(node, "end_col_offset", None)
        end = start if end is None else end
        return Range(line, self.column(line, start), end_line, self.column(end_line, end))

    def line(self, number: int) -> str:
        """A line's text; empty beyond the file."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in split_keeping_ends(self.text):
            starts.append(starts[-1] + len(line))
        return starts

    def offset(self, line: int, column: int) -> int:
        """The index into ``text`` of a position; positions beyond a line's end are its end."""
        if line > len(self.lines):
            return len(self.text)
        line = max(line, 1)
        return self._starts[line - 1] + min(max(column, 1) - 1, len(self.lines[line - 1]))

    def segment(self, where: Range) -> str:
        """The text of a range."""
        return self.text[
            self.offset(where.line, where.column) : self.offset(where.end_line, where.end_column)
        ]

    def apply(self, edits: Iterable[Edit]) -> str:
        """The text with this file's edits made, which must not overlap; their newlines become the file's."""
        spans = sorted(
            (
                self.offset(edit.range.line, edit.range.column),
                self.offset(edit.range.end_line, edit.range.end_column),
                number,
                edit.new_text,
            )
            for number, edit in enumerate(edits)
            if edit.path == self.path
        )
        parts: list[str] = []
        done = 0
        for start, end, _, new_text in spans:
            if start < done:
                raise ValueError("overlapping edits")
            parts.append(self.text[done:start])
            parts.append(new_text if self.newline == "\n" else new_text.replace("\n", self.newline))
            done = end
        parts.append(self.text[done:])
        return "".join(parts)

    def place(self, line: int) -> tuple[int | None, int]:
        """A line as the reader counts it: ``(cell from 1, line in the cell)``, or ``(None, line)``."""
        return self.notebook.place(line) if self.notebook is not None else (None, line)
