"""Results of earlier runs: what is analysed again, and that the reports are the same."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from loopgrad.index import opening, version
from loopgrad.index.places import FOLDER

CARRY = "import torch\nx = carry(1)\n"
CLEAN = "import torch\nx = 1\n"


def age(folder: Path) -> None:
    """Makes the files look as if they had lain there for an hour."""
    for path in folder.rglob("*.py"):
        os.utime(path, (time.time() - 3600, time.time() - 3600))


# Hit and miss --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_the_second_run_analyses_nothing_and_says_the_same(loopgrad: Any, analysed: Any, form: str) -> None:
    loopgrad.write("a.py", CARRY)
    loopgrad.write("b.py", CLEAN + "limit()\n")
    loopgrad.write("c.py", "x = carry(1)\n")  # the prefilter skips it
    loopgrad.write("broken.py", "import torch\ndef f(:\n")
    loopgrad.write("bytes.py", b"import torch\ns = '\xe9'\n")
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": CARRY}
    loopgrad.write(
        "n.ipynb", json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    first = loopgrad("check", ".", "--output-format", form)
    assert analysed() == ["a.py", "b.py", "n.ipynb"]
    second = loopgrad("check", ".", "--output-format", form)
    assert analysed() == []
    assert second == first == loopgrad("check", ".", "--output-format", form, "--no-cache")
    assert first.status == 2


@pytest.mark.parametrize(
    ("content", "options", "status"),
    [(CLEAN, [], 0), (CARRY, [], 1), (CARRY, ["--exit-zero"], 0), ("import torch\ndef f(:\n", [], 2)],
)
def test_the_exit_status_does_not_depend_on_earlier_runs(
    loopgrad: Any, content: str, options: list[str], status: int
) -> None:
    loopgrad.write("a.py", content)
    for _ in range(2):
        assert loopgrad("check", "a.py", *options).status == status


def test_an_edit_costs_the_file_and_those_that_look_at_it(loopgrad: Any, analysed: Any) -> None:
    loopgrad.write("base.py", CLEAN)
    loopgrad.write("helper.py", CLEAN + "from base import x\n")
    loopgrad.write("train.py", CARRY + "from helper import x\n")
    loopgrad.write("other.py", CARRY)
    loopgrad("check", ".")
    analysed()
    loopgrad.write("other.py", CARRY + "y = 2\n")
    loopgrad("check", ".")
    assert analysed() == ["other.py"]
    loopgrad.write("base.py", CLEAN + "y = 2\n")
    loopgrad("check", ".")
    assert analysed() == ["base.py", "helper.py", "train.py"]
    loopgrad.write("base.py", CLEAN + "y = 3\n")  # of the same length, within one tick of some clocks
    loopgrad("check", ".")
    assert analysed() == ["base.py", "helper.py", "train.py"]


def test_files_that_were_written_again_with_the_same_content_cost_nothing(
    loopgrad: Any, analysed: Any
) -> None:
    loopgrad.write("a.py", CARRY)
    age(loopgrad.folder)
    loopgrad("check", ".")
    analysed()
    loopgrad.write("a.py", CARRY)
    loopgrad("check", ".")
    assert analysed() == []


def test_a_change_that_keeps_size_and_time_is_seen(loopgrad: Any, analysed: Any) -> None:
    loopgrad.write("a.py", CARRY)
    age(loopgrad.folder)
    loopgrad("check", ".")
    analysed()
    loopgrad.write("a.py", CARRY.replace("x", "y"))
    age(loopgrad.folder)
    loopgrad("check", ".")
    assert analysed() == ["a.py"]


def test_a_file_at_rest_is_not_read_again(
    loopgrad: Any, analysed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from loopgrad.source import asked, provider

    monkeypatch.setattr(asked, "REST", -1_000_000_000)  # the status of a file cannot be made older than it is
    loopgrad.write("a.py", CLEAN)
    loopgrad("check", ".")
    analysed()
    monkeypatch.setattr(provider, "read_bytes", lambda path: pytest.fail(f"{path} is read"))
    assert loopgrad("check", ".").status == 0
    assert analysed() == []


def test_a_module_that_comes_or_goes_costs_those_that_import_it(loopgrad: Any, analysed: Any) -> None:
    loopgrad.write("train.py", CLEAN + "from helper import x\n")
    loopgrad.write("other.py", CLEAN)
    loopgrad("check", ".")
    analysed()
    helper = loopgrad.write("helper.py", CLEAN)
    loopgrad("check", ".")
    assert analysed() == ["helper.py", "train.py"]
    loopgrad("check", ".")
    assert analysed() == []
    loopgrad.write("unrelated.py", CLEAN)
    loopgrad("check", ".")
    assert analysed() == ["unrelated.py"]
    helper.unlink()
    loopgrad("check", ".")
    assert analysed() == ["train.py"]


def test_a_module_that_comes_before_another_in_the_search_costs_those_that_import_it(
    loopgrad: Any, analysed: Any
) -> None:
    loopgrad.write("pyproject.toml", "")
    loopgrad.write("src/helper.py", CLEAN)
    loopgrad.write("scripts/train.py", CLEAN + "from helper import x\n")
    loopgrad("check", ".")
    analysed()
    loopgrad.write("scripts/helper.py", CLEAN)
    loopgrad("check", ".")
    assert analysed() == ["scripts/helper.py", "scripts/train.py"]


# What else a result depends on ---------------------------------------------------------------------------


def test_other_rules_are_another_result(loopgrad: Any, analysed: Any) -> None:
    loopgrad.write("a.py", CARRY)
    loopgrad("check", ".")
    analysed()
    assert loopgrad("check", ".", "--ignore", "LG101").status == 0
    assert analysed() == ["a.py"]
    assert loopgrad("check", ".").status == 1
    loopgrad.write("pyproject.toml", '[tool.loopgrad]\nignore = ["LG101"]\n')
    assert loopgrad("check", ".").status == 0
    assert analysed() == []  # both are known by now


def test_severities_and_comments_are_looked_up_anew(loopgrad: Any, analysed: Any) -> None:
    loopgrad.write("a.py", CARRY)
    assert loopgrad("check", ".").status == 1
    analysed()
    loopgrad.write("pyproject.toml", '[tool.loopgrad]\nseverity = { LG101 = "information" }\n')
    assert loopgrad("check", ".").status == 0
    assert analysed() == []
    loopgrad.write("a.py", CARRY.replace("(1)", "(1)  # loopgrad: ignore"))
    assert "No findings" in loopgrad("check", ".").out


def test_another_version_of_loopgrad_begins_anew(
    loopgrad: Any, analysed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    loopgrad.write("a.py", CARRY)
    loopgrad("check", ".")
    analysed()
    for number in range(6):
        monkeypatch.setattr(opening, "version", lambda number=number: f"0.0.{number}-0123456789ab")
        loopgrad("check", ".")
        assert analysed() == ["a.py"]
    kept = {path.name for path in (loopgrad.folder / FOLDER).iterdir() if path.is_dir()}
    assert len(kept) == 4
    assert "0.0.5-0123456789ab" in kept


def test_the_version_is_that_of_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "engine.py").write_text("x = 1\n")
    monkeypatch.setattr(version, "__file__", str(tmp_path / "index" / "version.py"))
    one = version.version.__wrapped__()
    (tmp_path / "engine.py").write_text("x = 2\n")
    assert version.version.__wrapped__() != one


def test_fixes_are_made_when_a_report_shows_them(loopgrad: Any, analysed: Any) -> None:
    loopgrad.write("a.py", CARRY)
    loopgrad.write("b.py", CLEAN)
    loopgrad("check", ".", "--output-format", "github")
    analysed()
    result = loopgrad("check", ".", "--output-format", "json")
    assert analysed() == ["a.py"]  # the one with a finding
    assert json.loads(result.out)["findings"][0]["fixes"]
    loopgrad("check", ".", "--output-format", "github")
    loopgrad("check", ".", "--output-format", "json")
    assert analysed() == []


def test_named_files_and_found_ones(loopgrad: Any, analysed: Any) -> None:
    loopgrad.write("a.py", CARRY)
    loopgrad.write("plain.py", "def f(:\n")  # the prefilter skips it unless it is named
    assert loopgrad("check", ".").status == 1
    assert loopgrad("check", "a.py", "plain.py").status == 2
    assert loopgrad("check", ".").status == 1
    assert analysed() == ["a.py"]


def test_paths_are_written_as_they_are_given(loopgrad: Any, analysed: Any, monkeypatch: Any) -> None:
    loopgrad.write("pyproject.toml", "")
    loopgrad.write("src/a.py", CARRY)
    loopgrad("check", ".")
    analysed()
    for folder, path in ((".", "src"), ("src", "."), ("src", "../src"), (".", str(loopgrad.folder))):
        monkeypatch.chdir(loopgrad.folder / folder)
        result = loopgrad("check", path)
        assert result == loopgrad("check", path, "--no-cache")
        assert len(analysed()) == 1  # by the run without them


def test_a_workspace_may_move(loopgrad: Any, analysed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    loopgrad.write("one/pyproject.toml", "")
    loopgrad.write("one/a.py", CARRY)
    monkeypatch.chdir(loopgrad.folder / "one")
    loopgrad("check", ".")
    analysed()
    (loopgrad.folder / "one").rename(loopgrad.folder / "two")
    monkeypatch.chdir(loopgrad.folder / "two")
    assert loopgrad("check", ".").status == 1
    assert analysed() == []


def test_standard_input_is_never_kept(loopgrad: Any, analysed: Any) -> None:
    for _ in range(2):
        assert loopgrad("check", "-", stdin=CARRY.encode()).status == 1
        assert analysed() == ["-"]
    assert not (loopgrad.folder / FOLDER).exists()


def test_what_loopgrad_failed_at_is_tried_again(loopgrad: Any, analysed: Any) -> None:
    loopgrad.write("a.py", CLEAN + "stumble()\n")
    loopgrad.write("b.py", CLEAN + "recurse()\n")
    for _ in range(2):
        loopgrad("check", ".")
        assert analysed() == ["a.py", "b.py"]


@pytest.mark.skipif(sys.platform != "linux", reason="names of bytes")
def test_names_that_are_no_text(loopgrad: Any, analysed: Any) -> None:
    with open(os.fsencode(loopgrad.folder) + b"/\xff.py", "w") as file:
        file.write(CARRY)
    first = loopgrad("check", ".")
    assert len(analysed()) == 1
    assert loopgrad("check", ".") == first
    assert analysed() == []


# Changes -------------------------------------------------------------------------------------------------


def test_fix_with_results_of_earlier_runs(loopgrad: Any, analysed: Any) -> None:
    loopgrad.write("a.py", CARRY)
    loopgrad.write("b.py", CLEAN)
    loopgrad("check", ".")
    analysed()
    result = loopgrad("check", ".", "--fix")
    assert "b.py" not in analysed()
    assert result.status == 0
    assert loopgrad.read("a.py") == "import torch\nx = (1)\n"
    assert "No findings" in loopgrad("check", ".").out
    assert analysed() == []


def test_fix_and_diff_without_earlier_runs(loopgrad: Any) -> None:
    loopgrad.write("a.py", CARRY)
    loopgrad.write("b.py", CLEAN)
    loopgrad.write("broken.py", "import torch\ndef f(:\n")
    shown = loopgrad("check", ".", "--diff")
    assert shown == loopgrad("check", ".", "--diff", "--no-cache") == loopgrad("check", ".", "--diff")
    assert "-x = carry(1)" in shown.out
    assert loopgrad("check", ".", "--fix").status == 2
    assert loopgrad.read("a.py") == "import torch\nx = (1)\n"


def test_comments_that_are_added(loopgrad: Any) -> None:
    loopgrad.write("a.py", CARRY)
    loopgrad("check", ".")
    assert loopgrad("check", ".", "--add-ignore").status == 0
    assert loopgrad("check", ".").status == 0
    assert "# loopgrad: ignore[LG101]" in loopgrad.read("a.py")
    loopgrad.write("a.py", loopgrad.read("a.py").replace("carry", "plain"))
    assert "does not silence" in loopgrad("check", ".", "--show-unused-ignores").out
    assert "does not silence" in loopgrad("check", ".", "--show-unused-ignores").out
    assert "does not silence" not in loopgrad("check", ".").out
