"""Outcomes to JSON and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopgrad.checker import Checker, FileOutcome, UnusedIgnore
from loopgrad.config import Config
from loopgrad.index.codec import CodecError, dump, load
from loopgrad.index.facts import Paths
from loopgrad.model import Finding, Message, Problem, Range
from loopgrad.source import FileProvider, Input

CASES = Path(__file__).parents[1] / "cases"


def same(path: str) -> str:
    return path


#: A few scripts of each kind that has a finding.
NAMES = sorted(path.parent.name for path in CASES.glob("[!n]*/bug.py"))[::5]


@pytest.mark.parametrize("name", NAMES)
def test_what_the_engine_says_comes_back(name: str) -> None:
    path = str(CASES / name / "bug.py")
    outcome = Checker(Config(), FileProvider([path]), offer_fixes=True).check(Input(path, True))
    assert outcome.findings or outcome.partial
    for finding in outcome.findings:
        finding.requests = ()
    assert load(dump(outcome, same), path, same) == outcome


def test_all_that_an_outcome_can_hold() -> None:
    where = Range(1, 2, 3, 4)
    nested = Message.of(
        "a", inner=Message.of("b"), names=("x", "y"), many=["z"], number=1, share=0.5, none=None
    )
    outcome = FileOutcome(
        "a.py",
        [
            Finding(
                "LG101", "n", "error", "certain", "grows", nested, "b.py", where, raised_at=("c.py", where)
            )
        ],
        problems=[Problem("a.py", 1, nested)],
        used={("b.py", 3, "LG1"), ("a.py", 2, "")},
        comments=[("LG1", UnusedIgnore("a.py", 1, 2, nested))],
    )
    assert load(dump(outcome, same), "a.py", same) == outcome


def test_paths_are_respelled() -> None:
    where = Range(1, 1, 1, 2)
    finding = Finding("LG101", "n", "error", "certain", "grows", Message("m"), "b.py", where)
    finding.raised_at = ("c.py", where)
    text = dump(FileOutcome("a.py", [finding], used={("d.py", 1, "")}), lambda path: f"kept/{path}")
    found = load(text, "a.py", lambda path: path.replace("kept", "found"))
    assert (found.findings[0].path, found.findings[0].raised_at) == ("found/b.py", ("found/c.py", where))
    assert found.used == {("found/d.py", 1, "")}


def test_an_outcome_that_says_nothing_is_nothing() -> None:
    assert dump(FileOutcome("a.py"), same) == ""
    assert load("", "a.py", same) == FileOutcome("a.py")


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        [],
        [["l"], ["l"], ["l"], []],
        [["l", ["Range", 1]], ["l"], ["l"], [], []],
        [["l", ["os.system", "true"]], ["l"], ["l"], [], []],
        [["l", ["FileOutcome"]], ["l"], ["l"], [], []],
        [["l", []], ["l"], ["l"], [], []],
        [["l"], ["l"], ["l"], [1], []],
    ],
)
def test_what_is_no_outcome(value: Any) -> None:
    with pytest.raises(CodecError):
        load(json.dumps(value), "a.py", same)


def test_a_value_without_a_form() -> None:
    problem = Problem("a.py", 1, Message.of("a", odd=object()))
    with pytest.raises(CodecError):
        dump(FileOutcome("a.py", problems=[problem]), same)


def test_paths_within_the_workspace_are_relative(tmp_path: Path) -> None:
    paths = Paths(str(tmp_path))
    for name in ("a.py", "b/c.py", "b/\udcff.py", "ü.py"):
        path = str(tmp_path / name)
        kept = paths.keep(path)
        kept.encode()
        assert str(tmp_path) not in kept
        assert paths.find(kept) == path
    assert paths.keep("/elsewhere/a.py") == "/elsewhere/a.py"
    assert paths.find("/elsewhere/a.py") == "/elsewhere/a.py"
