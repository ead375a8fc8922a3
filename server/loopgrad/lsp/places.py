"""From Loopgrad's positions to the client's, in whatever document a line is now.

A finding speaks of the text that was analysed: lines and characters from 1, a notebook's lines counted through
all cells. A client wants a document's URI, lines from 0 and columns in its own units, and its text may have
changed since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lsprotocol import types

from loopgrad.lsp.documents import Documents, Snapshot
from loopgrad.lsp.wire import Lines
from loopgrad.model import Range


@dataclass(frozen=True)
class Place:
    """Where something is: the document, the client's range, the document's version (None if it is closed)."""

    uri: str
    range: types.Range
    version: int | None = None
    #: Whether the lines were edited since the analysis.
    changed: bool = False


@dataclass
class Places:
    """Places of one result. ``snapshots`` has the texts that were analysed, by path."""

    documents: Documents
    lines: Lines
    snapshots: Mapping[str, Snapshot] = field(default_factory=dict)

    def place(self, path: str, where: Range) -> Place | None:
        """None where a cell has been deleted since."""
        unit = self.documents.by_path(path)
        if unit is None:
            return Place(self.documents.uri_of(path), self._range(path, where, self._first_line(path, where)))
        snapshot = self.snapshots.get(path) or self.snapshots.get(unit.path)
        if snapshot is None:
            part = next((part for part in reversed(unit.parts) if part.first_line <= where.line), None)
            if part is None:
                return None
            return Place(part.uri, self._range(path, where, part.first_line - 1), part.version)
        seen = snapshot.part(where.line)
        found = unit.shift(seen, snapshot.revision) if seen is not None else None
        if seen is None or found is None:
            return None
        part, shift = found
        offset = seen.first_line - 1
        span = self._range(path, where, offset)
        first, last = span.start.line + 1, span.end.line + 1
        if shift.nothing:
            return Place(part.uri, span, part.version)
        moved = types.Range(
            types.Position(shift.line(first) - 1, span.start.character),
            types.Position(shift.line(last) - 1, span.end.character),
        )
        return Place(part.uri, moved, part.version, shift.touches(first, last))

    def _first_line(self, path: str, where: Range) -> int:
        """What to take off a line: in a notebook that is not open, the lines of the cells before."""
        cells = self.lines.cells.get(path)
        if not cells or where.line not in cells:
            return 0
        return where.line - cells[where.line][1]

    def cell(self, path: str, line: int) -> int | None:
        """The cell of a line of a notebook that is not open."""
        cells = self.lines.cells.get(path)
        return cells[line][0] if cells and line in cells else None

    def _range(self, path: str, where: Range, offset: int) -> types.Range:
        return types.Range(
            self._position(path, where.line, where.column, offset),
            self._position(path, where.end_line, where.end_column, offset),
        )

    def _position(self, path: str, line: int, column: int, offset: int) -> types.Position:
        text = self.lines.wide.get(path, {}).get(line)
        character = column - 1 if text is None else self.documents.columns.units(text[: column - 1])
        return types.Position(max(line - 1 - offset, 0), max(character, 0))


def overlaps(one: types.Range, other: types.Range) -> bool:
    """Whether two ranges have a line in common: a user may be anywhere on the line."""
    return one.start.line <= other.end.line and other.start.line <= one.end.line
