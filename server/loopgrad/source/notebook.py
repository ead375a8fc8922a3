"""Notebooks: the code cells joined to one text of Python, and a changed text written back to the cells.

The cells are joined in the order of the document, one line of the text for each line of a cell, so that a
line number alone leads back. IPython's own syntax (``%magic``, ``!shell``, ``name?``) and cells that are no
Python at all (``%%bash``) become ``pass`` or blank lines. Writing back replaces nothing but the ``source`` of
cells that changed: outputs, metadata and the layout of the JSON stay byte for byte.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from loopgrad.model import Message
from loopgrad.source.errors import SourceError
from loopgrad.source.ipython import to_python
from loopgrad.source.parse import parse, split_lines


@dataclass(frozen=True)
class Cell:
    """A code cell: its number among all cells (from 1), its place in the joined text, its own lines."""

    number: int
    first_line: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Notebook:
    text: str
    cells: tuple[Cell, ...]
    errors: tuple[SourceError, ...] = ()
    raw: str = field(default="", repr=False)
    bom: bool = False

    def place(self, line: int) -> tuple[int | None, int]:
        """The cell (from 1, markdown cells counted) and the line in it of a line of the joined text."""
        if not self.cells:
            return (None, line)
        cell = self.cells[self.index(line)]
        return cell.number, line - cell.first_line + 1

    def file_line(self, line: int) -> int | None:
        """The line of the notebook's JSON in which a line of the joined text stands; None if there is no JSON."""
        if not self.raw or not self.cells:
            return None
        cell = self.cells[self.index(line)]
        start, end = _source_spans(self.raw)[cell.number]
        return self.raw.count("\n", 0, _place_of_line(self.raw, start, end, line - cell.first_line)) + 1

    def index(self, line: int) -> int:
        """The place among ``cells`` of the cell that holds a line of the joined text."""
        return max(bisect_right([cell.first_line for cell in self.cells], line) - 1, 0)

    def encode(self, new_text: str) -> bytes:
        """The notebook's bytes with ``new_text`` as its joined text."""
        raw = self.raw
        if new_text != self.text:
            changed = self._changed_cells(new_text)
            for number, (start, end) in sorted(_source_spans(raw).items(), reverse=True):
                if number in changed:
                    raw = raw[:start] + _dump_source(raw[start:end], changed[number]) + raw[end:]
        return raw.encode("utf-8-sig" if self.bom else "utf-8")

    def _changed_cells(self, new_text: str) -> dict[int, str]:
        """The new source of each cell that a new joined text changes, by the cell's number."""
        old, new = self.text.split("\n"), split_lines(new_text)
        rows: list[list[str]] = [[] for _ in self.cells]
        for op, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if op == "equal":
                for line in range(i1 + 1, i2 + 1):
                    index = self.index(line)
                    cell = self.cells[index]
                    rows[index].append(cell.lines[line - cell.first_line])
                continue
            for number, text in enumerate(new[j1:j2]):
                if i2 > i1:
                    line = min(i1 + number, i2 - 1) + 1
                    index = self.index(line)
                    text = self._as_written(text, old[line - 1], index, line)
                else:  # between two cells, an indented line goes on with what stands before it
                    index = self.index(i1 if text[:1] in (" ", "\t") else i1 + 1)
                rows[index].append(text)
        return {
            cell.number: "\n".join(lines)
            for cell, lines in zip(self.cells, rows, strict=True)
            if tuple(lines) != cell.lines
        }

    def _as_written(self, text: str, python: str, index: int, line: int) -> str:
        """A changed line with the magic in front that its cell has there (``%time`` for ``if 1:``)."""
        written = self.cells[index].lines[line - self.cells[index].first_line]
        length = next((n for n, (a, b) in enumerate(zip(written[::-1], python[::-1])) if a != b), len(python))
        head = len(python) - length
        if len(written) == len(python) and head and text.startswith(python[:head]):
            return written[:head] + text[head:]
        return text


def read_notebook(path: str, data: bytes) -> Notebook:
    """Reads a notebook of format 4. One of another language has no text."""
    raw, bom = _decode(path, data)
    document = _load(path, raw)
    found = document.get("cells") if isinstance(document, dict) else None
    if not isinstance(found, list):
        key = "source.notebook-old" if "worksheets" in document else "source.notebook-shape"
        raise SourceError(path, 1, Message.of(key))
    if not _is_python(document):
        return Notebook("", (), raw=raw, bom=bom)
    cells: list[Cell] = []
    parts: list[str] = []
    errors: list[SourceError] = []
    line = 1
    for number, cell in enumerate(found, 1):
        source = _code(cell)
        if source is None:
            continue
        lines = split_lines(source)
        python = to_python(lines)
        try:
            parse(path, "\n".join(python))
        except SourceError as error:
            errors.append(SourceError(path, line + error.line - 1, error.message))
            python = [""] * len(lines)
        cells.append(Cell(number, line, tuple(lines)))
        parts.extend(python)
        line += len(lines)
    return Notebook("\n".join(parts), tuple(cells), tuple(errors), raw, bom)


def _decode(path: str, data: bytes) -> tuple[str, bool]:
    bom = data.startswith(b"\xef\xbb\xbf")
    try:
        return data.decode("utf-8-sig" if bom else "utf-8"), bom
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = Message.of("source.undecodable", byte=f"{data[error.start]:02x}", encoding="utf-8")
        raise SourceError(path, line, message) from None


def _load(path: str, raw: str) -> Any:
    try:
        document = json.loads(raw)
    except json.JSONDecodeError as error:
        raise SourceError(path, error.lineno, Message.of("source.notebook-json", reason=error.msg)) from None
    except RecursionError:
        raise SourceError(path, 1, Message.of("source.too-deep")) from None
    if not isinstance(document, dict):
        raise SourceError(path, 1, Message.of("source.notebook-shape"))
    return document


def _is_python(document: dict[str, Any]) -> bool:
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        return True
    for part, key in (("kernelspec", "language"), ("language_info", "name")):
        section = metadata.get(part)
        language = section.get(key) if isinstance(section, dict) else None
        if isinstance(language, str) and language:
            return language.lower() in ("python", "ipython", "python3")
    return True


def _code(cell: Any) -> str | None:
    if not isinstance(cell, dict) or cell.get("cell_type") != "code":
        return None
    source = cell.get("source", "")
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else None


# Writing back ------------------------------------------------------------------------------------------

_DECODER = json.JSONDecoder()


def _skip(raw: str, index: int) -> int:
    """The next index that is no white space and no comma or colon (the JSON is known to be valid)."""
    while raw[index] in " \t\r\n,:":
        index += 1
    return index


def _members(raw: str, index: int) -> dict[str, tuple[int, int]]:
    """Where the values of the object at ``index`` stand, by their keys."""
    spans: dict[str, tuple[int, int]] = {}
    index = _skip(raw, index + 1)
    while raw[index] != "}":
        key, index = scanstring(raw, index + 1)
        start = _skip(raw, index)
        _, end = _DECODER.raw_decode(raw, start)
        spans[key] = (start, end)
        index = _skip(raw, end)
    return spans


def _source_spans(raw: str) -> dict[int, tuple[int, int]]:
    """Where each cell's ``source`` stands in the JSON, by the cell's number."""
    spans: dict[int, tuple[int, int]] = {}
    index = _skip(raw, _members(raw, _skip(raw, 0))["cells"][0] + 1)
    number = 0
    while raw[index] != "]":
        number += 1
        cell, end = _DECODER.raw_decode(raw, index)
        if isinstance(cell, dict) and "source" in cell:
            spans[number] = _members(raw, index)["source"]
        index = _skip(raw, end)
    return spans


def _place_of_line(raw: str, start: int, end: int, number: int) -> int:
    """The index in the JSON at which line ``number`` (from 0) of a cell begins: of its string, in a list of them."""
    if raw[start] != "[":
        return start
    place = index = _skip(raw, start + 1)
    while index < end and raw[index] == '"':
        if number < 1:
            return index
        place = index
        part, index = scanstring(raw, index + 1)
        number -= len(split_lines(part)) - 1
        if number < 0 or (number == 0 and not part.endswith(("\n", "\r"))):
            return place
        index = _skip(raw, index)
    return place


def _dump_source(old: str, source: str) -> str:
    """``source`` as JSON in the layout of ``old``: one string, or a list of lines."""
    ascii_only = old.isascii() and "\\u" in old
    if not old.startswith("["):
        return json.dumps(source, ensure_ascii=ascii_only)
    lines = [line + "\n" for line in source.split("\n")]
    lines[-1] = lines[-1][:-1]
    if not lines[-1]:
        lines.pop()
    opening = old[1 : _skip(old, 1)]
    closing = old[len(old[:-1].rstrip()) : -1]
    return (
        "["
        + opening
        + ("," + (opening or " ")).join(json.dumps(line, ensure_ascii=ascii_only) for line in lines)
        + closing
        + "]"
    )
