"""The reports for programs: JSON as documented, GitHub's commands, and notebooks in each."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from loopgrad.model import Message, Partial, Problem, Range
from loopgrad.report import Style, as_concise, as_github, as_gitlab, as_json, as_sarif
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

#: The same as Jupyter writes it: a string for each line.
WRITTEN = json.dumps(
    {
        **json.loads(NOTEBOOK),
        "cells": [
            {**cell, "source": cell["source"].splitlines(keepends=True)}
            for cell in json.loads(NOTEBOOK)["cells"]
        ],
    },
    indent=1,
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


def test_notebooks_in_sarif_have_the_line_of_their_json_and_the_cell(bench: Any, make_finding: Any) -> None:
    bench.add("a.ipynb", WRITTEN)
    (result,) = json.loads(as_sarif(bench.report(make_finding("a.ipynb"))))["runs"][0]["results"]
    (location,) = result["locations"]
    line = location["physicalLocation"]["region"]["startLine"]
    assert WRITTEN.splitlines()[line - 1].strip() == json.dumps("    hidden = torch.tanh(w * hidden)\n") + ","
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
    bench.add("a.ipynb", WRITTEN)
    found = replace(make_finding("a.ipynb"), trace=(), range=Range(5, 5, 5, 6))
    line = 1 + next(n for n, text in enumerate(WRITTEN.splitlines()) if "torch.tanh" in text)
    assert as_github(bench.report(found)).startswith(
        f"::error file=a.ipynb,line={line},title=LG101 loop-carried-graph (cell 3%3A2)::"
    )


def test_github_reports_files_that_cannot_be_checked(bench: Any) -> None:
    report = bench.report()
    report.outcome.problems.append(Problem("y.py", 4, Message.of("source.missing")))
    assert as_github(report) == "::error file=y.py,line=4,title=Loopgrad::there is no such file\n"


def test_concise_is_a_line_for_each_finding(bench: Any, make_finding: Any, make_message: Any) -> None:
    bench.add("a.ipynb", NOTEBOOK)
    report = bench.report(make_finding(), replace(make_finding("a.ipynb"), code="LG201"), statistics=True)
    report.outcome.problems.append(Problem("b.py", 3, Message.of("source.missing")))
    report.outcome.partial.append(Partial("c.py", 9, make_message("too many steps")))
    assert as_concise(report, Style(False)).splitlines() == [
        "train.py:5:5: LG101 `hidden` carries the graph of iteration 1 into iteration 2",
        "a.ipynb:cell 3:2:5: LG201 `hidden` carries the graph of iteration 1 into iteration 2",
        "c.py:9: analysed in part only: too many steps",
        "b.py:3: cannot check: there is no such file",
        "1  LG101  loop-carried-graph",
        "1  LG201  graph-accumulates",
        "Found 2 errors in 1 file. 1 file could not be checked. 1 file was analysed in part only.",
    ]


def test_concise_keeps_a_message_on_its_line(bench: Any, make_finding: Any, make_message: Any) -> None:
    found = replace(make_finding("a\nb.py"), message=make_message("one\ntwo"))
    assert len(as_concise(bench.report(found), Style(False)).splitlines()) == 2


def test_gitlab_has_an_issue_for_each_finding(bench: Any, make_finding: Any) -> None:
    report = bench.report(make_finding(), replace(make_finding(), severity="warning", iteration=3))
    report.outcome.problems.append(Problem("./b.py", 3, Message.of("source.missing")))
    first, second, problem = json.loads(as_gitlab(report))
    assert {key: first[key] for key in ("description", "check_name", "severity", "location")} == {
        "description": "LG101: `hidden` carries the graph of iteration 1 into iteration 2",
        "check_name": "loop-carried-graph",
        "severity": "major",
        "location": {"path": "train.py", "lines": {"begin": 5}},
    }
    assert (second["severity"], problem["severity"]) == ("minor", "blocker")
    assert problem["location"] == {"path": "b.py", "lines": {"begin": 3}}
    # GitLab shows one issue for a fingerprint: two findings that are alike need two.
    assert len({issue["fingerprint"] for issue in (first, second, problem)}) == 3
    assert json.loads(as_gitlab(report))[0]["fingerprint"] == first["fingerprint"]


def test_gitlab_lines_of_notebooks_are_those_of_their_json(bench: Any, make_finding: Any) -> None:
    bench.add("a.ipynb", WRITTEN)
    (issue,) = json.loads(as_gitlab(bench.report(make_finding("a.ipynb"))))
    assert "torch.tanh" in WRITTEN.splitlines()[issue["location"]["lines"]["begin"] - 1]


def test_output_for_streams_that_are_not_unicode(bench: Any, make_finding: Any, make_message: Any) -> None:
    found = replace(make_finding(), message=make_message("隐藏状态 😀"))
    for form in (as_json, as_sarif, as_gitlab):
        assert form(bench.report(found), True).isascii()
        assert json.loads(form(bench.report(found), True)) == json.loads(form(bench.report(found)))
