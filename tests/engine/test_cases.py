"""The cases: scripts after public reports. Each fault is found, each right script stays silent.

What a case says is measured by ``tests/cases/verify.py`` under torch; here the analysis is held to it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loopgrad.model import Finding
from loopgrad.rules import check
from loopgrad.source import FileProvider, SourceFile

CASES = Path(__file__).parents[1] / "cases"
FOLDERS = sorted(path.parent for path in CASES.glob("*/case.json"))
FAULTY = [
    folder for folder in FOLDERS if json.loads((folder / "case.json").read_text())["outcome"] != "clean"
]
RIGHT = [folder / "bug.py" for folder in FOLDERS if folder not in FAULTY] + [f / "fixed.py" for f in FAULTY]


def severe(path: Path) -> list[Finding]:
    result = check(SourceFile.load(str(path)), FileProvider([str(path)]))
    assert not result.partial, "a case is small enough to be analysed whole"
    return [finding for finding in result.findings if finding.severity != "information"]


def lines_of(case: dict) -> set[int]:
    lines = {case.get(key) for key in ("raises_line", "origin_line", "freed_line", "fix_line")}
    return {line for line in [*lines, *(carrier["line"] for carrier in case["carried"])] if line is not None}


def outcome_of(case: dict) -> str:
    return "silent" if case.get("silent") else case["outcome"]


@pytest.mark.parametrize("folder", FAULTY, ids=lambda folder: folder.name)
def test_the_fault_is_found(folder: Path) -> None:
    case = json.loads((folder / "case.json").read_text())
    found = [finding for finding in severe(folder / "bug.py") if finding.outcome == outcome_of(case)]
    assert found, "the outcome is not found"
    told = {line for f in found for line in (f.range.line, *(step.range.line for step in f.trace))}
    assert told & lines_of(case), "no line of the story is one of the case's"


@pytest.mark.parametrize("folder", FAULTY, ids=lambda folder: folder.name)
def test_nothing_is_certain_that_does_not_happen(folder: Path) -> None:
    case = json.loads((folder / "case.json").read_text())
    raising = [f for f in severe(folder / "bug.py") if f.severity == "error" and f.outcome != "silent"]
    assert {finding.outcome for finding in raising} <= {case["outcome"]}


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_right_script_is_silent(path: Path) -> None:
    assert severe(path) == []
