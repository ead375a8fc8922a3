"""Notebooks are read as one text, reported by cell, and written back with all else untouched."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from loopgrad.messages import render
from loopgrad.source import SourceError, SourceFile


def cell(source: str, kind: str = "code", as_list: bool = True) -> dict[str, Any]:
    made: dict[str, Any] = {"cell_type": kind, "metadata": {}}
    if kind == "code":
        made |= {"execution_count": 1, "outputs": [{"data": {"text/plain": ["é 结果\n"]}}]}
    made["source"] = source.splitlines(keepends=True) if as_list else source
    return made


def notebook(*cells: dict[str, Any], indent: int | None = 1, language: str = "python") -> bytes:
    document = {
        "cells": list(cells),
        "metadata": {"kernelspec": {"language": language, "name": "k"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return (json.dumps(document, indent=indent, ensure_ascii=False) + "\n").encode()


def joined(*sources: str) -> SourceFile:
    return SourceFile.from_bytes("a.ipynb", notebook(*[cell(source) for source in sources]))


def test_cells_are_joined_and_lines_lead_back() -> None:
    data = notebook(cell("# Title", "markdown"), cell("import torch\nx = 1"), cell("y = 2\n\nz = 3"))
    source = SourceFile.from_bytes("a.ipynb", data)
    assert source.text == "import torch\nx = 1\ny = 2\n\nz = 3"
    # Cells count from 1 with the markdown cells, as the reader sees them; lines count in the cell.
    assert [source.place(line) for line in range(1, 6)] == [(2, 1), (2, 2), (3, 1), (3, 2), (3, 3)]


MAGICS = {
    "line magic": ("%matplotlib inline\nx = 1", "pass\nx = 1"),
    "shell": ("!pip install torch\nx = 1", "pass\nx = 1"),
    "shell over two lines": ("!pip install \\\n   torch\nx = 1", "pass\n\nx = 1"),
    "help": ("torch.nn.Linear?\nx??\n?x\nx = 1", "pass\npass\npass\nx = 1"),
    "without the percent sign": (
        "pip install -q torch\ncd ../data\nls *.pt\nls -la\nenv = 1\nx = 1",
        "pass\npass\npass\nls -la\nenv = 1\nx = 1",  # a difference, as far as Python goes
    ),
    "inside a block": ("if x:\n    !ls\ny = 1", "if x:\n    pass\ny = 1"),
    "assigned": (
        "files = !ls\na, b = %magic\nx = 1",
        "files = get_ipython().run()\na, b = get_ipython().run()\nx = 1",
    ),
    "cell magic over Python": ("%%time\nx = 1", "\nx = 1"),
    "cell magic over Python with more magics": ("%%capture out\n!ls\nx = 1", "\npass\nx = 1"),
    "cell magic over something else": ("%%bash\nfor f in *; do echo $f; done", "\n"),
    "remainder at a line's start": (
        "!ls\nx = (a\n  % b)\ns = '''\n!no\n'''",
        "pass\nx = (a\n  % b)\ns = '''\n!no\n'''",
    ),
    "brackets in strings and comments": ("!ls\nx = '(' # (\n%time", "pass\nx = '(' # (\npass"),
    "plain Python": ("x = a \\\n  % b", "x = a \\\n  % b"),
}


@pytest.mark.parametrize(("written", "python"), MAGICS.values(), ids=MAGICS.keys())
def test_magics_become_python_line_for_line(written: str, python: str) -> None:
    source = joined(written)
    assert source.text == python
    assert not source.errors
    ast.parse(source.text)


def test_a_broken_cell_is_named_and_the_others_are_read() -> None:
    source = joined("import torch", "x = 1\ny = (", "z = 3")
    assert [type(node).__name__ for node in source.tree.body] == ["Import", "Assign"]
    (error,) = source.errors
    assert source.place(error.line) == (2, 2)
    assert "was never closed" in render(error.message)


LAYOUTS = {
    "as Jupyter writes": notebook(cell("x = 1\ny = 2"), cell("z = 3")),
    "one line": notebook(cell("x = 1\ny = 2"), cell("z = 3"), indent=None),
    "four spaces": notebook(cell("x = 1\ny = 2"), cell("z = 3"), indent=4),
    "sources as strings": notebook(cell("x = 1\ny = 2", as_list=False), cell("z = 3")),
    "byte order mark": b"\xef\xbb\xbf" + notebook(cell("x = 1\ny = 2"), cell("z = 3")),
    "escapes": notebook(cell("x = 1\ny = 2"), cell("z = 3")).replace("é".encode(), b"\\u00e9"),
}


@pytest.mark.parametrize("data", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_only_the_changed_source_is_written(data: bytes) -> None:
    source = SourceFile.from_bytes("a.ipynb", data)
    assert source.encode() == data
    assert source.encode(source.text.replace("y = 2", "y = 20")) == data.replace(b"y = 2", b"y = 20")


def test_new_lines_go_to_the_cell_that_they_belong_to() -> None:
    source = joined("%time\nfor x in y:\n    a = x", "b = 1")
    changed = "pass\nfor x in y:\n    a = x\n    d = 2\ne = 3\nb = 1"
    written = json.loads(source.encode(changed))
    assert ["".join(part["source"]) for part in written["cells"]] == [
        "%time\nfor x in y:\n    a = x\n    d = 2",
        "e = 3\nb = 1",
    ]
    changed = "pass\nwith c:\n    for x in y:\n        a = x\nb = 1"
    written = json.loads(source.encode(changed))
    assert ["".join(part["source"]) for part in written["cells"]] == [
        "%time\nwith c:\n    for x in y:\n        a = x",
        "b = 1",
    ]


def test_deleted_lines_go() -> None:
    source = joined("a = 1\nb = 2", "c = 3\nd = 4")
    written = json.loads(source.encode("a = 1\nd = 4"))
    assert ["".join(part["source"]) for part in written["cells"]] == ["a = 1", "d = 4"]


def test_empty_notebooks_and_cells_and_other_languages_have_no_code() -> None:
    assert SourceFile.from_bytes("a.ipynb", notebook()).text == ""
    assert joined("", "").text == "\n"
    data = notebook(cell("x <- 1"), language="R")
    assert SourceFile.from_bytes("a.ipynb", data).text == ""
    assert SourceFile.from_bytes("a.ipynb", data).encode() == data


BROKEN = {
    "no JSON": (b"{\n 'cells': []}", 2, "the notebook is not valid JSON"),
    "empty": (b"", 1, "the notebook is not valid JSON"),
    "another JSON": (b'{"a": 1}', 1, "it has no list of cells"),
    "a JSON list": (b"[1]", 1, "it has no list of cells"),
    "old format": (b'{"worksheets": []}', 1, "a format older than 4"),
    "not UTF-8": (b'{\n"cells": "\xe9"}', 2, "0xe9 is not valid"),
    "deep": (b"[" * 200_000, 1, ""),
}


@pytest.mark.parametrize(("data", "line", "sentence"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_notebook_has_its_sentence(data: bytes, line: int, sentence: str) -> None:
    with pytest.raises(SourceError) as caught:
        SourceFile.from_bytes("a.ipynb", data)
    assert caught.value.line == line
    assert sentence in render(caught.value.message)
