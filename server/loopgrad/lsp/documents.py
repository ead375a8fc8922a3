"""What is open in the editor: documents and notebooks, and the file each of them stands for.

A *unit* is what is analysed at once: a document, or all code cells of a notebook, joined line by line. Its
*parts* are what the client knows by a URI: the document itself, or each cell. A ``Snapshot`` remembers the lines
that an analysis saw, so that its result can be placed in a text that has moved on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from loopgrad.lsp.text import Columns, LineShift, Text
from loopgrad.lsp.wire import CellText


@dataclass
class Part:
    """A text that the client edits. ``first_line`` counts in the unit's joined text, from 1."""

    uri: str
    version: int
    text: Text
    language: str = "python"
    first_line: int = 1
    #: Its number among all cells of a notebook, from 1; 0 for a document.
    number: int = 0


@dataclass(frozen=True)
class SeenPart:
    uri: str
    first_line: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Snapshot:
    """A unit's lines as an analysis saw them."""

    revision: int
    parts: tuple[SeenPart, ...]

    def part(self, line: int) -> SeenPart | None:
        return next((part for part in reversed(self.parts) if part.first_line <= line), None)


@dataclass
class Unit:
    uri: str
    path: str
    parts: list[Part]
    version: int = 0
    #: Grows with each change of any part.
    revision: int = 0
    is_notebook: bool = False
    #: What the worker was told last.
    told: int = -1
    _shifts: dict[tuple[str, int], tuple[int, LineShift]] = field(default_factory=dict)

    @property
    def on_disk(self) -> bool:
        return self.uri.startswith("file:")

    def wire_text(self) -> str | tuple[CellText, ...]:
        if self.is_notebook:
            return tuple(CellText(part.number, part.text.text) for part in self.parts)
        return self.parts[0].text.text

    def snapshot(self) -> Snapshot:
        parts = (SeenPart(part.uri, part.first_line, tuple(part.text.lines)) for part in self.parts)
        return Snapshot(self.revision, tuple(parts))

    def part(self, uri: str) -> Part | None:
        return next((part for part in self.parts if part.uri == uri), None)

    def cell(self, number: int) -> Part | None:
        return next((part for part in self.parts if part.number == number), None)

    def shift(self, seen: SeenPart, revision: int) -> tuple[Part, LineShift] | None:
        """The part as it is now, and where lines that an analysis saw have gone; None if it was deleted."""
        part = self.part(seen.uri)
        if part is None:
            return None
        if revision == self.revision:
            return part, LineShift(len(seen.lines), 0, 0)
        known = self._shifts.get((seen.uri, revision))
        if known is None or known[0] != self.revision:
            if len(self._shifts) > 20:
                self._shifts.clear()
            known = self.revision, LineShift.between(seen.lines, part.text.lines)
            self._shifts[seen.uri, revision] = known
        return part, known[1]

    def renumber(self) -> None:
        """After cells came, went or changed: where each begins in the joined text."""
        line = 1
        for part in self.parts:
            part.first_line = line
            line += part.text.count


class Documents:
    """The open units, by URI and by path."""

    def __init__(self) -> None:
        self.columns = Columns()
        self.roots: tuple[str, ...] = ()
        self._units: dict[str, Unit] = {}
        self._by_path: dict[str, Unit] = {}
        self._cells: dict[str, Unit] = {}
        self._notebooks: dict[str, list[types.NotebookCell]] = {}
        self._cell_texts: dict[str, Part] = {}
        self._gone: set[str] = set()

    def __iter__(self) -> Iterator[Unit]:
        return iter(list(self._units.values()))

    def unit(self, uri: str) -> Unit | None:
        """The unit of a document, of a notebook or of a cell."""
        return self._units.get(uri) or self._cells.get(uri)

    def by_path(self, path: str) -> Unit | None:
        return self._by_path.get(path) or self._by_path.get(real(path))

    def part(self, uri: str) -> Part | None:
        unit = self.unit(uri)
        return unit.part(uri) if unit is not None else None

    # Documents ---------------------------------------------------------------------------------------

    def open(self, item: types.TextDocumentItem) -> Unit | None:
        """Takes in a document; None for one in another language than Python."""
        if item.language_id.lower() not in ("python", ""):
            return None
        part = Part(item.uri, item.version, Text(item.text))
        unit = Unit(item.uri, self.path_of(item.uri), [part], item.version)
        self._add(unit)
        return unit

    def change(
        self,
        uri: str,
        version: int,
        changes: Iterable[types.TextDocumentContentChangeEvent],
    ) -> Unit | None:
        unit = self._units.get(uri)
        if unit is None or unit.is_notebook:
            return None
        self._edit(unit.parts[0], version, changes)
        unit.version = version
        unit.revision += 1
        return unit

    def _edit(
        self, part: Part, version: int, changes: Iterable[types.TextDocumentContentChangeEvent]
    ) -> None:
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                start, end = change.range.start, change.range.end
                part.text.edit(
                    (start.line, start.character), (end.line, end.character), change.text, self.columns
                )
            else:
                part.text.replace(change.text)
        part.version = version

    def close(self, uri: str) -> Unit | None:
        unit = self._units.pop(uri, None)
        if unit is not None:
            self._by_path = {path: other for path, other in self._by_path.items() if other is not unit}
            self._gone.add(unit.path)
        return unit

    def _add(self, unit: Unit) -> None:
        before = self._units.get(unit.uri)
        if before is not None:
            unit.revision = before.revision + 1
        self._units[unit.uri] = unit
        self._by_path[unit.path] = unit
        self._by_path.setdefault(real(unit.path), unit)
        self._gone.discard(unit.path)

    # Notebooks ---------------------------------------------------------------------------------------

    def open_notebook(
        self, notebook: types.NotebookDocument, texts: Iterable[types.TextDocumentItem]
    ) -> Unit:
        self._notebooks[notebook.uri] = list(notebook.cells)
        for item in texts:
            self._cell_texts[item.uri] = Part(item.uri, item.version, Text(item.text), item.language_id)
        unit = Unit(notebook.uri, self.path_of(notebook.uri, ".ipynb"), [], notebook.version)
        unit.is_notebook = True
        self._add(unit)
        self._arrange(unit)
        return unit

    def change_notebook(self, params: types.DidChangeNotebookDocumentParams) -> Unit | None:
        unit = self._units.get(params.notebook_document.uri)
        cells = self._notebooks.get(params.notebook_document.uri)
        if unit is None or cells is None:
            return None
        unit.version = params.notebook_document.version
        changed = params.change.cells
        if changed is None:
            return unit
        if changed.structure is not None:
            array = changed.structure.array
            cells[array.start : array.start + array.delete_count] = array.cells or []
            for item in changed.structure.did_open or []:
                self._cell_texts[item.uri] = Part(item.uri, item.version, Text(item.text), item.language_id)
            for gone in changed.structure.did_close or []:
                self._cell_texts.pop(gone.uri, None)
                self._cells.pop(gone.uri, None)
        for data in changed.data or []:
            cells[:] = [data if cell.document == data.document else cell for cell in cells]
        for content in changed.text_content or []:
            part = self._cell_texts.get(content.document.uri)
            if part is not None:
                self._edit(part, content.document.version, content.changes)
        unit.revision += 1
        self._arrange(unit)
        return unit

    def close_notebook(self, uri: str) -> Unit | None:
        for cell in self._notebooks.pop(uri, []):
            self._cell_texts.pop(cell.document, None)
            self._cells.pop(cell.document, None)
        return self.close(uri)

    def _arrange(self, unit: Unit) -> None:
        """The unit's parts from the notebook's cells: code cells in Python, in the notebook's order."""
        unit.parts = []
        for number, cell in enumerate(self._notebooks[unit.uri], 1):
            part = self._cell_texts.get(cell.document)
            if part is None or cell.kind != types.NotebookCellKind.Code or part.language != "python":
                continue
            part.number = number
            unit.parts.append(part)
            self._cells[part.uri] = unit
        unit.renumber()

    # Paths -------------------------------------------------------------------------------------------

    def path_of(self, uri: str, ending: str = ".py") -> str:
        """The path that the analysis knows a document by. One that is on no disk gets a name that is free."""
        if uri.startswith("file:"):
            path = to_fs_path(uri)
            if path:
                return os.path.normpath(path)
        name = re.sub(r"\W+", "-", uri).strip("-") or "document"
        folder = self.roots[0] if self.roots else os.path.expanduser("~")
        return os.path.join(folder, f"<{name}>{ending}")

    def uri_of(self, path: str) -> str:
        """The address of a file, as the client spells it if it has it open."""
        unit = self.by_path(path)
        return unit.uri if unit is not None else from_fs_path(path) or ""

    # The worker --------------------------------------------------------------------------------------

    def news(self) -> dict[str, str | tuple[CellText, ...] | None]:
        """What changed since the worker was told last, by path."""
        changed: dict[str, str | tuple[CellText, ...] | None] = dict.fromkeys(self._gone)
        self._gone.clear()
        for unit in self._units.values():
            if unit.told != unit.revision:
                changed[unit.path] = unit.wire_text()
                unit.told = unit.revision
        return changed

    def forget_told(self) -> None:
        """A new worker knows no document."""
        for unit in self._units.values():
            unit.told = -1


def real(path: str) -> str:
    """One spelling of a path, for comparisons."""
    return os.path.normcase(os.path.realpath(path))
