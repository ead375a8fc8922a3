"""GitLab's code quality report: a JSON list that merge requests show beside the changed lines."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from typing import Any

from loopgrad.model import Finding
from loopgrad.report.base import Report

_SEVERITIES = {"error": "major", "warning": "minor", "information": "info"}


def as_gitlab(report: Report, ascii_only: bool = False) -> str:
    seen: Counter[str] = Counter()
    issues = [_issue(report, finding, seen) for finding in report.outcome.findings]
    for problem in report.outcome.problems:
        place = f"{problem.path}\0{problem.message.key}"
        issues.append(
            {
                "description": report.say(problem.message),
                "check_name": "loopgrad",
                "fingerprint": _unique(place, seen),
                "severity": "blocker",
                "location": _location(report, problem.path, problem.line),
            }
        )
    return json.dumps(issues, ensure_ascii=ascii_only, indent=1) + "\n"


def _issue(report: Report, finding: Finding, seen: Counter[str]) -> dict[str, Any]:
    return {
        "description": f"{finding.code}: {report.say(finding.message)}",
        "check_name": finding.name,
        "fingerprint": _unique(report.fingerprint(finding), seen),
        "severity": _SEVERITIES[finding.severity],
        "location": _location(report, finding.path, finding.range.line),
    }


def _location(report: Report, path: str, line: int) -> dict[str, Any]:
    return {"path": path.removeprefix("./"), "lines": {"begin": report.file_line(path, line) or 1}}


def _unique(identity: str, seen: Counter[str]) -> str:
    """A fingerprint; of several findings that are alike, GitLab would show the first alone."""
    seen[identity] += 1
    text = f"{identity}\0{seen[identity]}"
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
