"""SARIF 2.1.0, for code scanning services and editors.

A finding is a result; its story is a code flow (in order) and its related locations (which most viewers
show); its fixes are replacements. Columns count code points. In a notebook a region is the line of its JSON in
which the code line stands; the cell and the line in it are properties, and fixes are left out.
"""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.parse import quote

from loopgrad import __version__
from loopgrad.model import Finding, Fix, Message, Problem, Range
from loopgrad.report.base import Report
from loopgrad.report.pages import read_page
from loopgrad.rules.catalogue import RULES, RuleInfo

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_LEVELS = {"error": "error", "warning": "warning", "information": "note"}


def as_sarif(report: Report, ascii_only: bool = False) -> str:
    return json.dumps(as_object(report), ensure_ascii=ascii_only, indent=1) + "\n"


def as_object(report: Report) -> dict[str, Any]:
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [_Run(report).run()]}


class _Run:
    def __init__(self, report: Report) -> None:
        self._report = report
        self._index = {code: number for number, code in enumerate(RULES)}

    def run(self) -> dict[str, Any]:
        outcome = self._report.outcome
        notes = [
            Problem(part.path, part.line, Message.of("report.partial", reason=part.reason))
            for part in outcome.partial
        ]
        notes += [Problem(unused.path, unused.line, unused.message) for unused in outcome.unused]
        return {
            "tool": {
                "driver": {
                    "name": "Loopgrad",
                    "semanticVersion": __version__,
                    "rules": [self._rule(rule) for rule in RULES.values()],
                }
            },
            "invocations": [
                {
                    "executionSuccessful": not outcome.problems,
                    "toolExecutionNotifications": [
                        *(self._notification("error", problem) for problem in outcome.problems),
                        *(self._notification("note", note) for note in notes),
                    ],
                }
            ],
            "columnKind": "unicodeCodePoints",
            "results": [self._result(finding) for finding in outcome.findings],
        }

    def _rule(self, rule: RuleInfo) -> dict[str, Any]:
        summary = self._report.text(f"rule.{rule.code}")
        described: dict[str, Any] = {
            "id": rule.code,
            "name": rule.name,
            "shortDescription": {"text": summary},
            "defaultConfiguration": {"enabled": rule.default_on, "level": _LEVELS[rule.certain]},
            "properties": {"outcomes": list(rule.outcomes)},
        }
        page = read_page(rule.code, self._report.language)
        if page is not None:
            described["help"] = {"text": page, "markdown": page}
        return described

    def _notification(self, level: str, problem: Problem) -> dict[str, Any]:
        where = Range(problem.line, 1, problem.line, 1)
        return {
            "level": level,
            "message": {"text": self._report.say(problem.message)},
            "locations": [self._location(problem.path, where, whole_line=True)],
        }

    def _result(self, finding: Finding) -> dict[str, Any]:
        result: dict[str, Any] = {
            "ruleId": finding.code,
            "level": _LEVELS[finding.severity],
            "message": {"text": self._report.say(finding.message)},
            "locations": [self._location(finding.path, finding.range)],
            "partialFingerprints": {"loopgrad/v1": self._report.fingerprint(finding)},
            "properties": {
                "certainty": finding.certainty,
                "outcome": finding.outcome,
                "iteration": finding.iteration,
                "carriers": list(finding.carriers),
            },
        }
        if finding.code in self._index:
            result["ruleIndex"] = self._index[finding.code]
        steps = [
            self._location(step.path, step.range, self._report.say(step.message)) for step in finding.trace
        ]
        if steps:
            flow = [
                {"location": location, "kinds": [step.role], "executionOrder": number}
                for number, (location, step) in enumerate(zip(steps, finding.trace, strict=True), 1)
            ]
            result["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
            result["relatedLocations"] = [{"id": number, **step} for number, step in enumerate(steps, 1)]
        fixes = [
            self._fix(fix)
            for fix in finding.fixes
            if fix.edits and not any(edit.path.endswith(".ipynb") for edit in fix.edits)
        ]
        if fixes:
            result["fixes"] = fixes
        return result

    def _fix(self, fix: Fix) -> dict[str, Any]:
        changes: dict[str, list[dict[str, Any]]] = {}
        for edit in fix.edits:
            changes.setdefault(edit.path, []).append(
                {"deletedRegion": _region(edit.range), "insertedContent": {"text": edit.new_text}}
            )
        return {
            "description": {"text": self._report.say(fix.title)},
            "artifactChanges": [
                {"artifactLocation": {"uri": uri_of(path)}, "replacements": replacements}
                for path, replacements in changes.items()
            ],
        }

    def _location(
        self, path: str, where: Range, message: str | None = None, whole_line: bool = False
    ) -> dict[str, Any]:
        physical: dict[str, Any] = {"artifactLocation": {"uri": uri_of(path)}}
        location: dict[str, Any] = {"physicalLocation": physical}
        cell, line = self._report.place(path, where.line)
        if cell is not None:
            location["properties"] = {"cell": cell, "line": line, "column": where.column}
            in_file = self._report.file_line(path, where.line)
            if in_file is not None:
                physical["region"] = {"startLine": in_file}
        elif whole_line:
            physical["region"] = {"startLine": where.line}
        else:
            physical["region"] = _region(where)
        if message is not None:
            location["message"] = {"text": message}
        return location


def _region(where: Range) -> dict[str, int]:
    return {
        "startLine": where.line,
        "startColumn": where.column,
        "endLine": where.end_line,
        "endColumn": where.end_column,
    }


def uri_of(path: str) -> str:
    """A relative path as a relative reference, an absolute one as a ``file:`` address."""
    plain = path.replace(os.sep, "/")
    if os.path.isabs(path):
        rooted = plain if plain.startswith("/") else "/" + plain
        return "file://" + quote(rooted, safe="/:", errors="surrogateescape")
    return quote(plain.removeprefix("./"), safe="/", errors="surrogateescape")
