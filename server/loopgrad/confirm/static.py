"""What the check says of the files that ran, held against the run.

The check runs in a process of its own, so that it ends with a cancel and at a limit of time: a verdict that a
run has brought must not wait for an analysis.
"""

from __future__ import annotations

import ast
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from typing import Any

from loopgrad.confirm.around import innermost
from loopgrad.confirm.verdict import CLEAN, CONFIRMED, Verdict
from loopgrad.messages import render
from loopgrad.model import RAISING, Finding

#: Files that are checked, at most: those that ran first.
_MOST_FILES = 40

#: The check ends after so many seconds.
LONGEST = 20.0


@dataclass
class Static:
    """A finding of the check, as data, and what the run makes of it."""

    data: dict[str, Any]
    status: str  # confirmed, refuted, not reached
    place: str
    #: Of a refuted finding: a script for a report.
    report: str | None = None


@dataclass
class Checked:
    """The check of the files that ran."""

    findings: list[Finding]
    data: list[dict[str, Any]]
    #: New texts by absolute path, if fixes were asked for, and the kinds of the fixes.
    fixed: dict[str, str]
    kinds: set[str]


class CheckError(Exception):
    """The check brought nothing: it failed, or was ended."""


def check(
    files: list[str], *, with_fix: bool, language: str = "en", cancel: threading.Event | None = None
) -> Checked:
    """``check_here`` in another process. Raises CheckError where that brings nothing."""
    arguments = {"files": files, "with_fix": with_fix, "language": language}
    checked: Checked = _elsewhere("check_here", arguments, cancel)
    return checked


def report(
    item: Static, verdict: Verdict, language: str, version: str, cancel: threading.Event | None = None
) -> str | None:
    """A script for a report of a refuted finding, made in another process; None where there is none."""
    path = os.path.realpath(item.data["path"])
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return None
    facts = {
        "version": version,
        "torch": verdict.torch,
        "python": verdict.python_version,
        "device": verdict.device,
        "steps": verdict.steps,
        "reason": render(verdict.reason, language),
        "files": [other for other in verdict.files if os.path.realpath(other) != path],
    }
    ran = {line for place, line in verdict.ran if os.path.realpath(place) == path}
    arguments = {"path": item.data["path"], "text": text, "ran": ran, "finding": item.data, "facts": facts}
    try:
        script: str = _elsewhere("report_here", arguments, cancel)
    except CheckError:
        return None
    return script


def report_here(**arguments: Any) -> str:
    from loopgrad.confirm.minimal import report

    return report(**arguments)


def _elsewhere(function: str, arguments: dict[str, Any], cancel: threading.Event | None) -> Any:
    """A function of this module in a process of its own, with an end to it."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from loopgrad.confirm import static; static.answer()"
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as result,
        open(os.devnull, "wb") as nowhere,
    ):
        pickle.dump((function, arguments), given)
        given.seek(0)
        debug = bool(os.environ.get("LOOPGRAD_DEBUG"))
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=given, stdout=result, stderr=None if debug else nowhere
        )
        deadline = time.monotonic() + LONGEST
        while process.poll() is None:
            if time.monotonic() > deadline or (cancel is not None and cancel.is_set()):
                process.kill()
                process.wait()
                raise CheckError(f"it was ended after {LONGEST:g} seconds")
            time.sleep(0.01)
        result.seek(0)
        try:
            return pickle.load(result)
        except (EOFError, pickle.UnpicklingError):
            raise CheckError(f"it ended with status {process.returncode}") from None


def answer() -> None:
    """The other process."""
    function, arguments = pickle.load(sys.stdin.buffer)
    pickle.dump(globals()[function](**arguments), sys.stdout.buffer)


def check_here(files: list[str], *, with_fix: bool, language: str = "en") -> Checked:
    """Checks files, and with ``with_fix`` makes the preferred fixes in memory."""
    from loopgrad.checker import Checker, merge
    from loopgrad.config import Config
    from loopgrad.report import Report
    from loopgrad.report.as_json import as_object
    from loopgrad.source import FileProvider, Input, SourceError, SourceFile

    inputs = [Input(path, True) for path in files[:_MOST_FILES] if os.path.isfile(path)]
    provider = FileProvider(item.path for item in inputs)
    checker = Checker(Config(None, None), provider, offer_fixes=with_fix)
    outcome = merge(inputs, [checker.check(item) for item in inputs])
    data: list[dict[str, Any]] = []
    fixed: dict[str, str] = {}
    if outcome.findings:
        data = as_object(Report(outcome, provider.load, language))["findings"]
    if with_fix and outcome.findings:
        fixer = Checker(Config(None, None), provider)
        for item in inputs:
            try:
                done = fixer.fixed(item)
                if done is not None:
                    fixed[os.path.abspath(item.path)] = SourceFile.from_bytes(item.path, done[1]).text
            except SourceError:
                continue
        for item in fixer.reach_across:
            for source, text in fixer.fixed_across(item):
                fixed[os.path.abspath(source.path)] = SourceFile.from_bytes(source.path, text).text
    kinds = {fix.kind for finding in outcome.findings for fix in finding.fixes if fix.preferred}
    return Checked(outcome.findings, data, fixed, kinds)


def held_against(checked: Checked, verdict: Verdict) -> list[Static]:
    return [
        Static(data, status_of(finding, verdict), f"{finding.path}:{finding.range.line}")
        for finding, data in zip(checked.findings, checked.data)
    ]


def status_of(finding: Finding, verdict: Verdict) -> str:
    """Confirmed where the run showed this outcome here; refuted where a complete run did not show it.

    A run refutes only what it came to: the finding's own statement ran, and the loops went on to the
    iteration that it names.
    """
    if verdict.verdict == CONFIRMED and finding.outcome == verdict.outcome and _same(finding, verdict):
        return "confirmed"
    if verdict.verdict == CLEAN and verdict.complete and not verdict.redirected and not verdict.shape_only:
        is_seen = finding.outcome not in ("none", "not-trained")
        if is_seen and (finding.iteration or 1) <= verdict.limit and _has_run(finding, verdict):
            return "refuted"
    return "not reached"


def _has_run(finding: Finding, verdict: Verdict) -> bool:
    path = os.path.realpath(finding.path)
    lines = {line for place, line in verdict.ran if os.path.realpath(place) == path}
    statement = innermost(path, finding.range.line, (ast.stmt,))
    return statement is not None and statement.lineno in lines


def _same(finding: Finding, verdict: Verdict) -> bool:
    if verdict.outcome == "not-trained":
        return True
    if verdict.outcome in RAISING and finding.raised_at is not None and verdict.raised_at is not None:
        path, where = finding.raised_at
        if os.path.realpath(path) == os.path.realpath(verdict.raised_at[0]):
            if where.line <= verdict.raised_at[1] <= where.end_line:
                return True
    told = {(os.path.realpath(step.path), step.range.line) for step in finding.trace}
    told.add((os.path.realpath(finding.path), finding.range.line))
    seen = [verdict.raised_at, verdict.freed_at, verdict.built_at, *(at for _, at in verdict.carriers)]
    seen += verdict.built_through
    return any(at is not None and (os.path.realpath(at[0]), at[1]) in told for at in seen)
