"""A file is read exactly: its bytes come back, its lines are Python's, its columns count characters."""

from __future__ import annotations

import ast
import codecs

import pytest

from loopgrad.model import Edit, Range
from loopgrad.source import SourceError, SourceFile

ROUND_TRIPS = {
    "plain": b"x = 1\n",
    "empty": b"",
    "no newline at the end": b"x = 1",
    "Windows newlines": b"x = 1\r\ny = 2\r\n",
    "old Mac newlines": b"x = 1\ry = 2\r",
    "mixed newlines": b"x = 1\r\ny = 2\nz = 3\rw = 4",
    "byte order mark": codecs.BOM_UTF8 + b"x = 1\n",
    "byte order mark and cookie": codecs.BOM_UTF8 + b"# coding: utf-8\nx = 1\n",
    "latin-1 cookie": b"# -*- coding: latin-1 -*-\ns = '\xe9'\n",
    "cookie in line 2": b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\ns = '\x80'\n",
    "Japanese cookie": "# coding: shift_jis\ns = '計算'\n".encode("shift_jis"),
    "UTF-8": "s = '隐藏状态 😀'\n".encode(),
    "form feed": b"x = 1\n\x0c\ny = 2\n",
}


@pytest.mark.parametrize("data", ROUND_TRIPS.values(), ids=ROUND_TRIPS.keys())
def test_bytes_come_back(data: bytes) -> None:
    source = SourceFile.from_bytes("a.py", data)
    assert source.encode() == data
    assert not source.text.startswith("\ufeff")


@pytest.mark.parametrize("data", ROUND_TRIPS.values(), ids=ROUND_TRIPS.keys())
def test_a_changed_text_is_stored_in_the_same_way(data: bytes) -> None:
    source = SourceFile.from_bytes("a.py", data)
    assert source.encode(source.text + "pass") == data + b"pass"


def test_lines_are_those_of_the_syntax_tree() -> None:
    # str.splitlines would also break at the form feed and at the separators in the string.
    source = SourceFile("a.py", "a = '\x0b \x1c \u2028'\r\n\x0cb = 2\rc = 3\n")
    by_name = {node.targets[0].id: node for node in source.tree.body}  # type: ignore[attr-defined]
    assert [by_name[name].lineno for name in "abc"] == [1, 2, 3]
    assert source.lines == ["a = '\x0b \x1c \u2028'", "\x0cb = 2", "c = 3", ""]


def test_columns_count_characters_and_ends_are_exclusive() -> None:
    source = SourceFile("a.py", "s = '状态'; y = 2\nz = 3\n")
    y = source.tree.body[1]
    assert source.range(y) == Range(1, 11, 1, 16)
    assert source.segment(source.range(y)) == "y = 2"
    assert source.range(source.tree.body[2]) == Range(2, 1, 2, 6)


def test_the_tree_is_parsed_once() -> None:
    source = SourceFile("a.py", "x = 1\n")
    assert source.tree is source.tree


def test_edits_take_the_newline_of_the_file() -> None:
    source = SourceFile("a.py", "x = 1\r\ny = 2\r\n")
    insert = Edit("a.py", Range(2, 1, 2, 1), "if x:\n    ")
    append = Edit("a.py", Range(2, 6, 2, 6), "0")
    other_file = Edit("b.py", Range(1, 1, 1, 1), "!")
    assert source.apply([append, insert, other_file]) == "x = 1\r\nif x:\r\n    y = 20\r\n"


def test_overlapping_edits_are_refused() -> None:
    source = SourceFile("a.py", "abc = 1\n")
    with pytest.raises(ValueError, match="overlapping"):
        source.apply([Edit("a.py", Range(1, 1, 1, 4), "x"), Edit("a.py", Range(1, 2, 1, 5), "y")])


def test_a_character_that_the_encoding_lacks_is_not_written() -> None:
    source = SourceFile.from_bytes("a.py", b"# coding: latin-1\nx = 1\n")
    with pytest.raises(SourceError) as caught:
        source.encode("# coding: latin-1\nx = '\u4e2d'\n")
    assert caught.value.line == 2
    assert caught.value.message.key == "source.unencodable"


def test_fifty_thousand_lines_are_read_and_located() -> None:
    text = "\n".join(f"variable_{number} = 'é' + str({number})" for number in range(50_000))
    source = SourceFile("a.py", text)
    last = source.tree.body[-1]
    assert isinstance(last, ast.Assign)
    assert source.segment(source.range(last.targets[0])) == "variable_49999"
    assert source.line(50_000) == "variable_49999 = 'é' + str(49999)"
