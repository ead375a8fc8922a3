"""``loopgrad check``: what it checks, what it says, how it exits."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pytest

CARRY = "import torch\nx = carry(1)\n"
GROW = "import torch\nx = grow(1)\n"
NOTE = "import torch\nx = note(1)\n"
CLEAN = "import torch\nx = 1\n"


def codes(loopgrad: Any, *argv: str) -> list[str]:
    result = loopgrad("check", *argv, "--output-format", "json")
    return [finding["code"] for finding in json.loads(result.out)["findings"]]


@pytest.mark.parametrize(
    ("content", "options", "status"),
    [
        (CLEAN, [], 0),
        (CARRY, [], 1),
        (GROW, [], 1),
        (NOTE, [], 0),  # information alone does not fail
        (CARRY, ["--exit-zero"], 0),
        ("import torch\ndef f(:\n", [], 2),
        ("import torch\ndef f(:\n", ["--exit-zero"], 2),
        ("import torch\nlimit()\n", [], 0),  # analysed in part
    ],
)
def test_exit_status(loopgrad: Any, content: str, options: list[str], status: int) -> None:
    loopgrad.write("a.py", content)
    assert loopgrad("check", "a.py", *options).status == status


def test_the_report_of_a_finding(loopgrad: Any) -> None:
    loopgrad.write("a.py", CARRY)
    result = loopgrad("check", "a.py")
    assert result.out == (
        "error[LG101]: found carry\n"
        "  --> a.py:2:5\n"
        "  |\n"
        "2 | x = carry(1)\n"
        "  |     ^^^^^\n"
        "fix: take it away (preferred: --fix applies it)\n"
        "\n"
        "Found 1 error in 1 file.\n"
    )
    assert result.err == ""


def test_bad_files_do_not_keep_the_others_from_being_checked(loopgrad: Any) -> None:
    bad: dict[str, bytes] = {
        "syntax.py": b"import torch\ndef f(:\n",
        "python2.py": b"import torch\nprint 'x'\n",
        "binary.py": b"torch\0\x01",
        "cookie.py": b"# coding: klingon\nimport torch\n",
        "bytes.py": b"import torch\ns = '\xe9'\n",
        "deep.py": b"import torch\nx = " + b"(" * 3000 + b")" * 3000 + b"\n",
        "broken.ipynb": b'{"cells": [torch',
    }
    for name, content in bad.items():
        loopgrad.write(name, content)
    loopgrad.write("z_good.py", CARRY)
    loopgrad.write("empty.py", "")
    result = loopgrad("check", ".", "missing.py", "--output-format", "json")
    document = json.loads(result.out)
    assert result.status == 2
    assert result.err == ""
    assert {error["path"] for error in document["errors"]} == {*bad, "missing.py"}
    assert all(error["line"] >= 1 and len(error["message"]) > 10 for error in document["errors"])
    assert [finding["path"] for finding in document["findings"]] == ["z_good.py"]
    assert document["files"] == 10
    text = loopgrad("check", ".", "missing.py")
    assert "Traceback" not in text.out + text.err
    assert text.out.endswith("Found 1 error in 2 files. 8 files could not be checked.\n")


def test_a_named_file_is_parsed_though_it_has_no_torch(loopgrad: Any) -> None:
    loopgrad.write("broken.py", "def f(:\n")
    assert loopgrad("check", "broken.py").status == 2
    # In a search of a folder the prefilter passes over it.
    assert loopgrad("check", ".").status == 0


def test_the_prefilter_knows_torch_and_what_rules_need(loopgrad: Any) -> None:
    loopgrad.write("a.py", "x = carry(1)\n")
    loopgrad.write("b.py", "x = carry(1)\nx.backward()\n")
    loopgrad.write("c.py", CARRY)
    result = loopgrad("check", ".", "--output-format", "json")
    assert [finding["path"] for finding in json.loads(result.out)["findings"]] == ["b.py", "c.py"]


def test_an_error_in_the_engine_is_reported_and_ends_nothing(loopgrad: Any) -> None:
    loopgrad.write("a.py", "import torch\nstumble()\n")
    loopgrad.write("b.py", "import torch\nrecurse()\n")
    loopgrad.write("c.py", CARRY)
    result = loopgrad("check", ".")
    assert "a.py:1: cannot check: an error in Loopgrad itself" in result.out
    assert "AssertionError: stumbled" in result.out
    assert "b.py:1: analysed in part only: the code is nested too deeply" in result.out
    assert "found carry" in result.out
    assert result.status == 2


def test_fifty_thousand_lines(loopgrad: Any) -> None:
    loopgrad.write("a.py", "import torch\n" + "x = 1\n" * 50_000 + "carry(1)\n")
    assert "a.py:50002:1" in loopgrad("check", "a.py").out


# Rules ----------------------------------------------------------------------------------------------


@pytest.fixture
def all_kinds(loopgrad: Any) -> Any:
    loopgrad.write("a.py", "import torch\ncarry(1)\ngrow(1)\nnote(1)\n")
    return loopgrad


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ([], ["LG101", "LG201", "LG202"]),
        (["--select", "LG1"], ["LG101"]),
        (["--select", "lg101,LG201"], ["LG101", "LG201"]),
        (["--select", "LG101", "--select", "LG202"], ["LG101", "LG202"]),
        (["--select", "ALL", "--ignore", "LG2"], ["LG101"]),
        (["--ignore", "LG101"], ["LG201", "LG202"]),
        (["--ignore", "ALL"], []),
    ],
)
def test_select_and_ignore(all_kinds: Any, options: list[str], found: list[str]) -> None:
    assert codes(all_kinds, "a.py", *options) == found


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("LG110", "did you mean LG101?"),
        ("loop-carried", "did you mean LG101?"),
        ("E501", "'E501' is no rule's code"),
    ],
)
def test_an_unknown_code_is_bad_usage(all_kinds: Any, code: str, said: str) -> None:
    result = all_kinds("check", "a.py", "--select", code)
    assert result.status == 2
    assert said in result.err
    assert result.out == ""


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["check"],
        ["check", "a.py", "--fix", "--diff"],
        ["check", "a.py", "--output-format", "xml"],
        ["check", "a.py", "-j", "0"],
        ["check", "a.py", "--language", "de"],
        ["nonsense"],
    ],
)
def test_bad_usage(all_kinds: Any, argv: list[str]) -> None:
    result = all_kinds(*argv)
    assert result.status == 2
    assert "usage: loopgrad" in result.err


# Comments -------------------------------------------------------------------------------------------


def test_comments_silence(loopgrad: Any) -> None:
    loopgrad.write(
        "a.py",
        "import torch\ncarry(1)  # loopgrad: ignore\ngrow(1)  # loopgrad: ignore[LG201]\n"
        "grow(2)  # loopgrad: ignore[LG101]\n",
    )
    assert codes(loopgrad, "a.py") == ["LG201"]
    loopgrad.write("b.py", "# loopgrad: ignore-file\nimport torch\ncarry(1)\n")
    assert codes(loopgrad, "b.py") == []


def test_unused_comments_are_reported_when_asked_for(loopgrad: Any) -> None:
    loopgrad.write(
        "a.py",
        "import torch\n"
        "carry(1)  # loopgrad: ignore[LG101,LG201]\n"
        "x = 1  # loopgrad: ignore\n"
        "y = 1  # loopgrad: ignore[LG999]\n"
        "z = 1  # loopgrad: ignore[LG204]\n",  # that rule does not run
    )
    loopgrad.write("plain.py", "x = 1  # loopgrad: ignore\n")
    result = loopgrad("check", "a.py", "plain.py", "--show-unused-ignores")
    assert result.status == 0
    assert result.out.splitlines()[:4] == [
        "a.py:2:11: unused: this comment names LG201, which it does not silence here",
        "a.py:3:8: unused: this comment silences nothing",
        "a.py:4:8: unused: this comment names LG999, which is no rule",
        "plain.py:1:8: unused: this comment silences nothing",
    ]
    assert "unused" not in loopgrad("check", "a.py").out


def test_comments_of_a_file_that_was_analysed_in_part_are_not_called_unused(loopgrad: Any) -> None:
    loopgrad.write("a.py", "import torch\nlimit()\nx = 1  # loopgrad: ignore\n")
    assert "unused" not in loopgrad("check", "a.py", "--show-unused-ignores").out


# Output ---------------------------------------------------------------------------------------------


def test_formats_languages_and_statistics(all_kinds: Any) -> None:
    assert "::warning file=a.py,line=3" in all_kinds("check", "a.py", "--output-format", "github").out
    assert json.loads(all_kinds("check", "a.py", "--output-format", "sarif").out)["version"] == "2.1.0"
    assert "发现 1 个错误" in all_kinds("check", "a.py", "--language", "zh-cn").out
    assert "\n1  LG202  retain-graph-unneeded\n" in all_kinds("check", "a.py", "--statistics").out


def test_colour_on_request_alone(all_kinds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" not in all_kinds("check", "a.py").out
    assert "\x1b[" in all_kinds("check", "a.py", "--color", "always").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in all_kinds("check", "a.py").out
    assert "\x1b[" not in all_kinds("check", "a.py", "--no-color").out


def test_standard_input(loopgrad: Any) -> None:
    result = loopgrad("check", "-", "--output-format", "json", stdin=CARRY.encode())
    (finding,) = json.loads(result.out)["findings"]
    assert (finding["path"], result.status) == ("-", 1)
    result = loopgrad("check", "-", stdin=b"\0")
    assert (result.status, "a binary file" in result.out) == (2, True)
    assert loopgrad("check", "-", stdin=b"").status == 0


def test_no_files(loopgrad: Any) -> None:
    assert loopgrad("check", ".").out == "No Python files were found.\n"


def test_a_notebook(loopgrad: Any) -> None:
    cells = [
        {"cell_type": "code", "source": ["%time\n", "import torch"]},
        {"cell_type": "code", "source": ["x = 1\n", "carry(x)"]},
    ]
    loopgrad.write("a.ipynb", json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    assert "--> a.ipynb:cell 2:2:1" in loopgrad("check", ".").out


# Several processes ----------------------------------------------------------------------------------


def test_results_come_in_the_order_of_the_inputs(loopgrad: Any) -> None:
    for number in range(30):
        loopgrad.write(f"f{number:02}.py", CARRY if number % 3 else GROW)
    alone = loopgrad("check", ".", "-j", "1")
    several = loopgrad("check", ".", "-j", "3")
    assert several.out == alone.out
    assert several.status == 1


@pytest.mark.skipif(sys.platform != "linux", reason="the tiny engine is inherited by fork")
def test_a_file_that_ends_its_process_is_named(loopgrad: Any) -> None:
    for number in range(4):
        loopgrad.write(f"f{number}.py", CARRY)
    loopgrad.write("f2.py", "import torch\ndie()\n")
    result = loopgrad("check", ".", "-j", "2", "--output-format", "json")
    document = json.loads(result.out)
    assert [error["path"] for error in document["errors"]] == ["f2.py"]
    assert [finding["path"] for finding in document["findings"]] == ["f0.py", "f1.py", "f3.py"]


def test_loops_of_links(loopgrad: Any) -> None:
    loopgrad.write("pkg/a.py", CARRY)
    os.symlink(loopgrad.folder, loopgrad.folder / "pkg" / "loop")
    assert codes(loopgrad, ".") == ["LG101"]
