"""``--fix``, ``--diff`` and ``--add-ignore``: what is written, and that all else stays byte for byte."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

BAD = "import torch\r\n# 状态\r\nx = carry(1)\r\ny = note(2)"
GOOD = "import torch\r\n# 状态\r\nx = (1)\r\ny = note(2)"


def test_fix_writes_and_reports_what_is_left(loopgrad: Any) -> None:
    loopgrad.write("a.py", BAD)
    result = loopgrad("check", "a.py", "--fix")
    assert loopgrad.read("a.py") == GOOD
    assert "a.py: fixed: took it away" in result.out
    assert "found note" in result.out
    assert result.out.endswith("Applied 1 fix. Found 1 note in 1 file.\n")
    assert result.status == 0  # information alone is left


def test_fix_leaves_silenced_and_clean_files_alone(loopgrad: Any) -> None:
    path = loopgrad.write("a.py", "import torch\ncarry(1)  # loopgrad: ignore\n")
    before = path.stat().st_mtime_ns
    assert loopgrad("check", "a.py", "--fix").status == 0
    assert path.stat().st_mtime_ns == before


def test_fix_keeps_encoding_and_links(loopgrad: Any) -> None:
    loopgrad.write("real.py", b"\xef\xbb\xbfimport torch\ncarry(1)\n")
    os.symlink("real.py", loopgrad.folder / "link.py")
    loopgrad("check", "link.py", "--fix")
    assert (loopgrad.folder / "link.py").is_symlink()
    assert (loopgrad.folder / "real.py").read_bytes() == b"\xef\xbb\xbfimport torch\n(1)\n"


def test_fix_of_standard_input_goes_to_standard_output(loopgrad: Any) -> None:
    result = loopgrad("check", "-", "--fix", stdin=BAD.encode())
    assert result.out == GOOD
    assert "Applied 1 fix." in result.err
    assert result.status == 0
    untouched = loopgrad("check", "-", "--fix", stdin=b"import torch\ndef f(:\n")
    assert (untouched.out, untouched.status) == ("import torch\ndef f(:\n", 2)


def test_a_fix_that_would_break_the_file_is_not_written(loopgrad: Any) -> None:
    loopgrad.write("a.py", "import torch\ncarry(1)\nspoil()\n")
    result = loopgrad("check", "a.py", "--fix")
    assert loopgrad.read("a.py") == "import torch\ncarry(1)\nspoil()\n"
    assert "would not be valid Python" in result.out
    assert result.status == 2


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root writes everything")
def test_a_file_that_cannot_be_written_is_named(loopgrad: Any) -> None:
    loopgrad.write("a.py", BAD).chmod(0o444)
    result = loopgrad("check", "a.py", "--fix")
    assert "the file cannot be written: permission denied" in result.out
    assert result.status == 2


def test_fix_in_a_notebook(loopgrad: Any) -> None:
    cells = [
        {"cell_type": "code", "source": ["%time\n", "import torch"]},
        {"cell_type": "code", "source": ["carry(1)"]},
    ]
    content = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}, indent=1)
    loopgrad.write("a.ipynb", content)
    assert loopgrad("check", "a.ipynb", "--fix").status == 0
    assert loopgrad.read("a.ipynb") == content.replace("carry(1)", "(1)")


def test_a_fix_in_another_checked_file(loopgrad: Any) -> None:
    loopgrad.write("helper.py", "import torch\n")
    loopgrad.write("train.py", "import torch\ncarry(helper)\n")
    alone = loopgrad("check", "train.py", "--fix")
    assert "fixed" not in alone.out
    assert loopgrad("check", ".", "--diff").out.startswith("--- helper.py")
    together = loopgrad("check", ".", "--fix")
    assert "helper.py: fixed: changed for what was found in train.py\n" in together.out
    assert loopgrad.read("helper.py") == "import torch\nmended = True\n"


def test_diff_changes_nothing(loopgrad: Any) -> None:
    loopgrad.write("a.py", BAD)
    result = loopgrad("check", "a.py", "--diff")
    assert loopgrad.read("a.py") == BAD
    assert result.status == 1
    assert result.out == (
        "--- a.py\n+++ a.py\n@@ -1,4 +1,4 @@\n"
        " import torch\r\n # 状态\r\n-x = carry(1)\r\n+x = (1)\r\n"
        " y = note(2)\n\\ No newline at end of file\n"
    )
    assert loopgrad("check", "a.py", "--diff", "--exit-zero").status == 0


def test_diff_without_changes(loopgrad: Any) -> None:
    loopgrad.write("a.py", "import torch\nnote(1)\n")
    result = loopgrad("check", "a.py", "--diff")
    assert (result.out, result.err, result.status) == ("", "", 0)


def test_diff_of_files_that_cannot_be_read(loopgrad: Any) -> None:
    loopgrad.write("a.py", "import torch\ndef f(:\n")
    loopgrad.write("b.py", BAD)
    result = loopgrad("check", ".", "--diff")
    assert result.out.startswith("--- b.py")
    assert "a.py:2: cannot check" in result.err
    assert result.status == 2


def test_add_ignore_silences_every_finding(loopgrad: Any) -> None:
    loopgrad.write("a.py", BAD)
    loopgrad.write("b.py", "import torch\ngrow(carry(1))\n")
    result = loopgrad("check", ".", "--add-ignore")
    assert loopgrad.read("a.py") == (
        "import torch\r\n# 状态\r\nx = carry(1)  # loopgrad: ignore[LG101]\r\n"
        "y = note(2)  # loopgrad: ignore[LG202]"
    )
    assert loopgrad.read("b.py") == "import torch\ngrow(carry(1))  # loopgrad: ignore[LG101,LG201]\n"
    assert "a.py:3: added: # loopgrad: ignore[LG101]" in result.out
    assert result.out.endswith("Added 3 comments. No findings in 2 files.\n")
    assert result.status == 0
    assert loopgrad("check", ".", "--show-unused-ignores").out == "No findings in 2 files.\n"


def test_add_ignore_needs_files(loopgrad: Any) -> None:
    result = loopgrad("check", "-", "--add-ignore", stdin=BAD.encode())
    assert result.status == 2
    assert "'-' cannot be used together with --add-ignore" in result.err
