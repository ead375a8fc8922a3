"""Every way in which a file cannot be read has one clear sentence and the line it is about."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from loopgrad.messages import render
from loopgrad.source import SourceError, SourceFile


def failure(path: Path, data: bytes) -> tuple[int, str]:
    """The line and the sentence for a file with this content."""
    path.write_bytes(data)
    with pytest.raises(SourceError) as caught:
        SourceFile.load(str(path)).tree  # noqa: B018
    assert caught.value.path == str(path)
    return caught.value.line, render(caught.value.message)


VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"

BAD = {
    "syntax error": (b"import torch\n\ndef f(:\n", 3, f"this is not valid Python {VERSION}: "),
    "unclosed bracket": (b"import torch\nx = (1,\n", 2, "'(' was never closed"),
    "bad indentation": (b"if True:\nx = 1\n", 2, "expected an indented block"),
    "tabs and spaces": (b"if True:\n        x = 1\n\ty = 2\n", 3, "inconsistent use of tabs"),
    "print statement": (b"import torch\nprint 'loss', 1\n", 2, "this is Python 2 code (print x)"),
    "print of a name": (b"x = 1\nprint x\n", 2, "this is Python 2 code (print x)"),
    "except with a comma": (b"try:\n    pass\nexcept IOError, e:\n    print(e)\n", 3, "Python 2 code"),
    "raise with a comma": (b"raise ValueError, 'no'\n", 1, "Python 2 code (raise X, text)"),
    "exec statement": (b"exec 'x = 1'\n", 1, "Python 2 code (exec code)"),
    "binary": (b"\x7fELF\x02\x01\x01\x00\x00\x00\n", 1, "a binary file, not Python source"),
    "UTF-16": ("x = 1\n".encode("utf-16"), 1, "stored as UTF-16"),
    "unknown encoding": (b"#!python\n# coding: klingon\n", 2, "the encoding klingon, which Python does not"),
    "not a text encoding": (b"# coding: rot13\nk = 1\n", 1, "the encoding rot13, which Python does not"),
    "wrong cookie": (b"# coding: ascii\nx = 1\ns = '\xc3\xa9'\n", 3, "0xc3 is not valid in ascii"),
    "cookie against the mark": (b"\xef\xbb\xbf# coding: latin-1\n", 1, "declares another encoding"),
    "undecodable": (b"x = 1\ny = 2\ns = '\xe9'\n", 3, "the byte 0xe9 is not valid in utf-8"),
    "deep brackets": (b"x = " + b"(" * 3000 + b")" * 3000 + b"\n", 1, "nested too deeply"),
    "deep blocks": (
        b"".join(b" " * depth + b"if x:\n" for depth in range(150)) + b" " * 150 + b"pass\n",
        101,
        "nested too deeply",
    ),
}


@pytest.mark.parametrize(("data", "line", "sentence"), BAD.values(), ids=BAD.keys())
def test_each_failure_has_its_sentence(tmp_path: Path, data: bytes, line: int, sentence: str) -> None:
    if b"except IOError, e" in data and sys.version_info >= (3, 14):
        pytest.skip("Python 3.14 parses this")
    found = failure(tmp_path / "a.py", data)
    assert sentence in found[1]
    assert found[0] == line


def test_a_chain_of_operators_beyond_the_parser(tmp_path: Path) -> None:
    try:
        line, sentence = failure(tmp_path / "a.py", b"x = " + b"-" * 100_000 + b"1\n")
    except pytest.fail.Exception:
        pytest.skip("this Python parses it")
    assert (line, "nested too deeply" in sentence) == (1, True)


def test_a_missing_file() -> None:
    with pytest.raises(SourceError) as caught:
        SourceFile.load("no/such/file.py")
    assert render(caught.value.message) == "there is no such file"


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        SourceFile.load(str(tmp_path))
    assert render(caught.value.message) == "this is a folder, not a file"


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root reads everything")
def test_an_unreadable_file(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    path.chmod(0)
    with pytest.raises(SourceError) as caught:
        SourceFile.load(str(path))
    assert render(caught.value.message) == "the file cannot be read: permission denied"


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
def test_an_endless_file_ends() -> None:
    with pytest.raises(SourceError) as caught:
        SourceFile.load("/dev/zero")
    assert "larger than" in render(caught.value.message)


def test_the_same_error_comes_each_time() -> None:
    source = SourceFile("a.py", "def f(:\n")
    for _ in range(2):
        with pytest.raises(SourceError):
            source.tree  # noqa: B018


def test_invalid_escapes_are_no_errors_and_print_no_warnings(recwarn: pytest.WarningsRecorder) -> None:
    assert SourceFile("a.py", "pattern = '\\d'\n").tree.body
    assert not recwarn.list
