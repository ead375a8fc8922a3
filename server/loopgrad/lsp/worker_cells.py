"""Notebooks in the worker: an open notebook's cells joined to one text, and edits taken apart again.

The joined text has one line for each line of a code cell, so a line alone leads back to its cell. It is made by
the same steps as that of a notebook on disk (``loopgrad.source.notebook``), from the cells as the editor has
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from loopgrad.lsp.text import split_keeping_ends
from loopgrad.lsp.wire import CellText
from loopgrad.model import Edit, Range
from loopgrad.source import SourceError, SourceFile
from loopgrad.source.ipython import to_python
from loopgrad.source.notebook import Cell, Notebook
from loopgrad.source.parse import parse, split_lines


def join_cells(path: str, texts: Iterable[CellText]) -> SourceFile:
    """The notebook as one source. A cell that is no Python is left out, and named in its errors."""
    cells: list[Cell] = []
    parts: list[str] = []
    errors: list[SourceError] = []
    line = 1
    for cell in texts:
        lines = split_lines(cell.text)
        python = to_python(lines)
        try:
            parse(path, "\n".join(python))
        except SourceError as error:
            errors.append(SourceError(path, line + error.line - 1, error.message))
            python = [""] * len(lines)
        cells.append(Cell(cell.number, line, tuple(lines)))
        parts.extend(python)
        line += len(lines)
    text = "\n".join(parts)
    return SourceFile(path, text, notebook=Notebook(text, tuple(cells), tuple(errors)))


def cell_edits(source: SourceFile, new_text: str) -> list[tuple[int, Edit]] | None:
    """The edits of each cell (by its number) that make ``new_text`` of the joined text.

    None if a line changes that is not Python in its cell: the edit would put ``pass`` in a magic's place.
    """
    notebook = source.notebook
    assert notebook is not None
    for line in changed_lines(source.lines, split_lines(new_text)):
        if source.line(line) != _original(notebook, line):
            return None
    found: list[tuple[int, Edit]] = []
    old = {cell.number: "\n".join(cell.lines) for cell in notebook.cells}
    # The notebook decides which cell a new line belongs to, for the command line as for the editor.
    for number, new in notebook._changed_cells(new_text).items():
        found.extend((number, edit) for edit in line_edits(source.path, old[number], new))
    return found


def _original(notebook: Notebook, line: int) -> str:
    cell = next(cell for cell in reversed(notebook.cells) if cell.first_line <= line)
    return cell.lines[line - cell.first_line]


def changed_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[int]:
    """The old lines (from 1) that are replaced or go."""
    for op, i1, i2, _, _ in _opcodes(old, new):
        if op != "insert":
            yield from range(i1 + 1, i2 + 1)


def line_edits(path: str, old: str, new: str) -> list[Edit]:
    """Whole lines to replace so that ``old`` becomes ``new``, small pieces far apart."""
    before, after = split_keeping_ends(old), split_keeping_ends(new)
    edits: list[Edit] = []
    for _, i1, i2, j1, j2 in _opcodes(before, after):
        end_line, end_column = i2 + 1, 1
        if i2 == len(before) and before and not before[-1].endswith(("\n", "\r")):
            end_line, end_column = len(before), len(before[-1]) + 1
        start = (i1 + 1, 1) if i1 < len(before) else (end_line, end_column)
        edits.append(Edit(path, Range(*start, end_line, end_column), "".join(after[j1:j2])))
    return edits


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """The differences, with what both begin and end with set aside: a large file changes in few places."""
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    matcher = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    for op, i1, i2, j1, j2 in matcher.get_opcodes():
        if op != "equal":
            yield op, head + i1, head + i2, head + j1, head + j2
