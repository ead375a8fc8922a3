"""The reports for programs: JSON as documented, GitHub's commands, and notebooks in each."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from loopgrad.model import Message, Partial, Problem, Range
from loopgrad.report import as_github, as_json, as_sarif
from loopgrad.report.as_json import as_object

NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "markdown", "source": "# T"},
            {"cell_type": "code", "source": "import torch\nw = 1\nhidden = 2"},
            {
                "cell_type": "code",
                "source": "for step in x:\n    hidden = torch.tanh(w * hidden)\n    l = 1\n    l()",
            },
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)


def test_json_is_what_the_readme_describes(bench: Any, make_finding: Any) -> None:
    (found,) = json.loads(as_json(bench.report(make_finding())))["findings"]
    trace, fixes = found.pop("trace"), found.pop("fixes")
    assert found == {
        "code": "LG101",
        "name": "loop-carried-graph",
        "severity": "error",
        "certainty": "certain",
        "outcome": "second-backward",
        "iteration": 2,
        "loop_line": 4,
        "message": "`hidden` carries the graph of iteration 1 into iteration 2",
        "path": "train.py",
        "range": {"start": {"line": 5, "column": 5}, "end": {"line": 5, "column": 36}},
        "carriers": ["hidden"],
    }
    assert trace[0] == {
        "role": "built",
        "path": "train.py",
        "line": 5,
        "column": 14,
        "end_line": 5,
        "end_column": 36,
        "iteration": 1,
        "message": "`torch.tanh` builds the graph",
    }
    assert fixes[0] == {
        "title": "detach `hidden` where it is stored",
        "kind": "detach",
        "preferred": True,
        "stops_training": [],
        "edits": [
            {
                "path": "train.py",
                "range": {"start": {"line": 6, "column": 5}, "end": {"line": 6, "column": 5}},
                "new_text": "hidden = hidden.detach()\n    ",
            }
        ],
    }
    assert fixes[1]["stops_training"] == ["w"]


def test_json_lists_files_problems_and_partial_files(bench: Any, make_message: Any) -> None:
    report = bench.report()
    report.outcome.partial.append(Partial("x.py", 3, make_message("budget")))
    report.outcome.problems.append(Problem("y.py", 4, Message.of("source.missing")))
    assert as_object(report) == {
        "version": 1,
        "findings": [],
        "files": 1,
        "partial": [{"path": "x.py", "line": 3, "reason": "budget"}],
        "errors": [{"path": "y.py", "line": 4, "message": "there is no such file"}],
    }


def test_further_keys_come_only_when_asked_for(bench: Any, make_finding: Any) -> None:
    document = as_object(bench.report(make_finding(), statistics=True, show_unused=True))
    assert document["statistics"] == [{"code": "LG101", "name": "loop-carried-graph", "count": 1}]
    assert document["unused_ignores"] == []


def test_notebook_positions_name_the_cell(bench: Any, make_finding: Any) -> None:
    bench.add("a.ipynb", NOTEBOOK)
    (found,) = as_object(bench.report(make_finding("a.ipynb")))["findings"]
    assert found["range"] == {
        "start": {"line": 2, "cell": 3, "column": 5},
        "end": {"line": 2, "cell": 3, "column": 36},
    }
    assert found["loop_line"] == 1
    assert {key: found["trace"][1][key] for key in ("line", "end_line", "cell")} == {
        "line": 4,
        "end_line": 4,
        "cell": 3,
    }


def test_notebooks_in_sarif_have_no_region_but_the_cell(bench: Any, make_finding: Any) -> None:
    bench.add("a.ipynb", NOTEBOOK)
    (result,) = json.loads(as_sarif(bench.report(make_finding("a.ipynb"))))["runs"][0]["results"]
    (location,) = result["locations"]
    assert "region" not in location["physicalLocation"]
    assert location["properties"] == {"cell": 3, "line": 2, "column": 5}
    assert "fixes" not in result


def test_github_annotations(bench: Any, make_finding: Any) -> None:
    (line,) = as_github(bench.report(make_finding())).splitlines()
    assert line.startswith(
        "::error file=train.py,line=5,col=5,endLine=5,title=LG101 loop-carried-graph::"
        "`hidden` carries the graph of iteration 1 into iteration 2%0Atrain.py:5: `torch.tanh`"
    )


def test_github_escapes_what_would_end_a_field(bench: Any, make_finding: Any, make_message: Any) -> None:
    found = replace(make_finding("a,b:c%.py"), trace=(), message=make_message("100%\r\nnext: a,b"))
    assert as_github(bench.report(found)) == (
        "::error file=a%2Cb%3Ac%25.py,line=5,col=5,endLine=5,title=LG101 loop-carried-graph"
        "::100%25%0D%0Anext: a,b\n"
    )


@pytest.mark.parametrize(
    ("severity", "level"), [("error", "error"), ("warning", "warning"), ("information", "notice")]
)
def test_github_levels(bench: Any, make_finding: Any, severity: str, level: str) -> None:
    found = replace(make_finding(), severity=severity)
    assert as_github(bench.report(found)).startswith(f"::{level} ")


def test_github_names_the_cell_of_a_notebook_in_the_title(bench: Any, make_finding: Any) -> None:
    bench.add("a.ipynb", NOTEBOOK)
    found = replace(make_finding("a.ipynb"), trace=(), range=Range(5, 5, 5, 6))
    assert as_github(bench.report(found)).startswith(
        "::error file=a.ipynb,title=LG101 loop-carried-graph (cell 3%3A2)::"
    )


def test_github_reports_files_that_cannot_be_checked(bench: Any) -> None:
    report = bench.report()
    report.outcome.problems.append(Problem("y.py", 4, Message.of("source.missing")))
    assert as_github(report) == "::error file=y.py,line=4,title=Loopgrad::there is no such file\n"


def test_output_for_streams_that_are_not_unicode(bench: Any, make_finding: Any, make_message: Any) -> None:
    found = replace(make_finding(), message=make_message("隐藏状态 😀"))
    for form in (as_json, as_sarif):
        assert form(bench.report(found), True).isascii()
        assert json.loads(form(bench.report(found), True)) == json.loads(form(bench.report(found)))
