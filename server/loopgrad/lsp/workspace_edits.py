"""From a fix's edits to a ``WorkspaceEdit`` for the documents as they are, or a refusal if they changed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from lsprotocol import types

from loopgrad.lsp.documents import Documents
from loopgrad.lsp.places import Places
from loopgrad.lsp.wire import Lines
from loopgrad.model import Edit

#: What a text was when a fix was computed: an open unit's revision, or the stamp of a file on disk.
State = tuple[str, int, int]


@dataclass(frozen=True)
class EditSet:
    """Edits, and the state of each file that they were made for."""

    edits: tuple[Edit, ...]
    cells: tuple[int | None, ...]
    lines: Lines
    states: tuple[State, ...]

    @classmethod
    def of(
        cls, documents: Documents, edits: Sequence[Edit], cells: Sequence[int | None], lines: Lines
    ) -> EditSet:
        paths = dict.fromkeys(edit.path for edit in edits)
        return cls(tuple(edits), tuple(cells), lines, tuple(state(documents, path) for path in paths))

    def outdated(self, documents: Documents) -> bool:
        return any(state(documents, path) != (path, *rest) for path, *rest in self.states)


def state(documents: Documents, path: str) -> State:
    unit = documents.by_path(path)
    if unit is not None:
        return path, -1, unit.revision
    try:
        status = os.stat(path)
    except OSError:
        return path, 0, 0
    return path, status.st_size, status.st_mtime_ns


def workspace_edit(documents: Documents, made: EditSet, versioned: bool) -> types.WorkspaceEdit | None:
    """The edits for the client, or None if one has no place any more."""
    places = Places(documents, made.lines)
    by_uri: dict[str, list[types.TextEdit]] = {}
    versions: dict[str, int | None] = {}
    for edit, cell in zip(made.edits, made.cells):
        if cell is None:
            place = places.place(edit.path, edit.range)
            if place is None:
                return None
            uri, where, version = place.uri, place.range, place.version
        else:
            unit = documents.by_path(edit.path)
            part = unit.cell(cell) if unit is not None else None
            if part is None:
                return None
            uri, version = part.uri, part.version
            where = _in_cell(documents, part.text.lines, edit)
        by_uri.setdefault(uri, []).append(types.TextEdit(where, edit.new_text))
        versions[uri] = version
    if not versioned:
        return types.WorkspaceEdit(changes=by_uri)
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(uri, versions[uri]), list(edits)
            )
            for uri, edits in by_uri.items()
        ]
    )


def _in_cell(documents: Documents, lines: Sequence[str], edit: Edit) -> types.Range:
    """The range of an edit that counts lines in its cell."""

    def position(line: int, column: int) -> types.Position:
        text = lines[line - 1] if line <= len(lines) else ""
        return types.Position(line - 1, documents.columns.units(text[: column - 1]))

    where = edit.range
    return types.Range(position(where.line, where.column), position(where.end_line, where.end_column))
