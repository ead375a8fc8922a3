"""Whatever the bytes: a source or a SourceError, never anything else; and what is read is written back."""

from __future__ import annotations

import json
import os

import pytest

from loopgrad.messages import render
from loopgrad.source import SourceError, SourceFile
from loopgrad.source.ipython import to_python

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

EXAMPLES = int(os.environ.get("LOOPGRAD_EXAMPLES", "40"))
given = hypothesis.given
settings = hypothesis.settings(max_examples=EXAMPLES, deadline=None)

#: Pieces that meet in odd ways.
PIECES = [
    "x = 1", "\n", "\r\n", "\r", "\t", "    ", "if x:", "(", ")", '"""', "'", "\\", "# coding: ", "latin-1", "utf-8",
    "\ufeff", "é", "状态", "😀", "\x0c", "\x00", "\u2028", "%time", "!ls", "?", "%%bash", "print 'x'", "f'{", "}",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
lines = st.lists(st.sampled_from(PIECES), max_size=4).map(
    lambda parts: "".join(parts).translate({10: 32, 13: 32})
)


@settings
@given(st.one_of(st.binary(max_size=40), texts.map(str.encode), texts.map(lambda t: t.encode("utf-16"))))
def test_any_bytes(data: bytes) -> None:
    for name in ("a.py", "a.ipynb"):
        try:
            source = SourceFile.from_bytes(name, data)
            assert source.encode() == data
            source.tree  # noqa: B018
            source.suppressions  # noqa: B018
        except SourceError as error:
            assert render(error.message)
            assert error.line >= 1


@settings
@given(st.lists(lines, min_size=1, max_size=8))
def test_any_cell_keeps_its_number_of_lines(cell: list[str]) -> None:
    assert len(to_python(cell)) == len(cell)


@settings
@given(st.lists(texts, min_size=1, max_size=4), st.data())
def test_any_notebook_takes_any_change(sources: list[str], data: hypothesis.strategies.DataObject) -> None:
    cells = [{"cell_type": "code", "source": source, "outputs": ["é"]} for source in sources]
    raw = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}, ensure_ascii=False).encode()
    source = SourceFile.from_bytes("a.ipynb", raw)
    assert source.encode() == raw
    rows = source.text.split("\n")
    position = data.draw(st.integers(0, len(rows)))
    kind = data.draw(st.sampled_from(["insert", "delete", "replace"]))
    changed = [
        *rows[:position],
        *([] if kind == "delete" else ["new = 1"]),
        *rows[position + (kind != "insert") :],
    ]
    written = json.loads(source.encode("\n".join(changed)))
    assert len(written["cells"]) == len(cells)
    assert [cell["outputs"] for cell in written["cells"]] == [["é"]] * len(cells)
