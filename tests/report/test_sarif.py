"""SARIF 2.1.0: valid, and saying where, why and how to mend."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from loopgrad.checker import UnusedIgnore
from loopgrad.model import Message, Partial, Problem
from loopgrad.report import as_sarif
from loopgrad.report.as_sarif import uri_of
from loopgrad.rules.catalogue import RULES

_SPEC = importlib.util.spec_from_file_location("sarif_rules", Path(__file__).with_name("sarif_rules.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
sarif_rules = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(sarif_rules)


def log(report: Any) -> dict[str, Any]:
    """The log, checked against the schema's constraints."""
    document: dict[str, Any] = json.loads(as_sarif(report))
    assert sarif_rules.violations(document) == []
    return document["runs"][0]  # type: ignore[no-any-return]


def test_the_checker_finds_mistakes() -> None:
    assert sarif_rules.violations({"version": "2.1", "runs": [{"tol": {}}]}) == [
        "$.version: '2.1' is no version",
        "$.runs[0]: run has no key tol",
        "$.runs[0]: tool is missing",
    ]


def test_an_empty_run(bench: Any) -> None:
    run = log(bench.report())
    assert run["results"] == []
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == list(RULES)
    assert run["invocations"][0]["executionSuccessful"] is True


def test_rules_carry_their_defaults(bench: Any) -> None:
    rules = {rule["id"]: rule for rule in log(bench.report())["tool"]["driver"]["rules"]}
    assert rules["LG101"]["defaultConfiguration"] == {"enabled": True, "level": "error"}
    assert rules["LG204"]["defaultConfiguration"] == {"enabled": False, "level": "note"}
    assert rules["LG101"]["shortDescription"]["text"].startswith("A value built in one iteration")


def test_a_result_with_story_and_fix(bench: Any, make_finding: Any) -> None:
    run = log(bench.report(make_finding()))
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "LG101"
    assert result["level"] == "error"
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "train.py"},
        "region": {"startLine": 5, "startColumn": 5, "endLine": 5, "endColumn": 36},
    }
    flow = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["kinds"] for step in flow] == [["built"], ["freed"], ["carried"], ["reached"]]
    assert len(result["relatedLocations"]) == 4
    assert result["relatedLocations"][3]["message"] == {"text": "this backward reaches it again"}
    (fix,) = result["fixes"]  # those without edits are left out
    assert fix["artifactChanges"][0]["replacements"][0]["insertedContent"] == {
        "text": "hidden = hidden.detach()\n    "
    }


def test_the_fingerprint_stays_when_the_line_moves(bench: Any, make_finding: Any) -> None:
    before = log(bench.report(make_finding()))["results"][0]["partialFingerprints"]
    text = bench.files["train.py"].text
    bench.add("train.py", "# a new first line\n" + text)
    where = make_finding().range
    moved = replace(make_finding(), range=replace(where, line=6, end_line=6))
    assert log(bench.report(moved))["results"][0]["partialFingerprints"] == before


def test_problems_are_notifications(bench: Any, make_message: Any) -> None:
    report = bench.report(show_unused=True)
    report.outcome.problems.append(Problem("y.py", 4, Message.of("source.missing")))
    report.outcome.partial.append(Partial("x.py", 3, make_message("budget")))
    report.outcome.unused.append(UnusedIgnore("x.py", 1, 1, Message.of("ignore.unused")))
    (invocation,) = log(report)["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [note["level"] for note in invocation["toolExecutionNotifications"]] == ["error", "note", "note"]


def test_paths_become_addresses() -> None:
    assert uri_of("./a dir/ü#.py") == "a%20dir/%C3%BC%23.py"
    assert uri_of("/work space/a.py") == "file:///work%20space/a.py"
    assert uri_of("-") == "-"
