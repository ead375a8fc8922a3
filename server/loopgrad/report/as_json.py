"""The report for programs: one JSON object, described in the README."""

from __future__ import annotations

import json
from typing import Any

from loopgrad.model import Edit, Finding, Fix, Range, TraceStep
from loopgrad.report.base import Report

#: Grows only when a reader of the old form would be misled.
VERSION = 1


def as_json(report: Report, ascii_only: bool = False) -> str:
    return json.dumps(as_object(report), ensure_ascii=ascii_only, indent=1) + "\n"


def as_object(report: Report) -> dict[str, Any]:
    outcome = report.outcome
    document: dict[str, Any] = {
        "version": VERSION,
        "findings": [_finding(report, finding) for finding in outcome.findings],
        "files": outcome.files,
        "partial": [
            {"path": part.path, **_line(report, part.path, part.line), "reason": report.say(part.reason)}
            for part in outcome.partial
        ],
        "errors": [
            {
                "path": problem.path,
                **_line(report, problem.path, problem.line),
                "message": report.say(problem.message),
            }
            for problem in outcome.problems
        ],
    }
    if report.show_unused:
        document["unused_ignores"] = [
            {
                "path": unused.path,
                **_line(report, unused.path, unused.line),
                "column": unused.column,
                "message": report.say(unused.message),
            }
            for unused in outcome.unused
        ]
    if report.statistics:
        document["statistics"] = [
            {"code": code, "name": name, "count": count} for code, name, count in report.counts()
        ]
    return document


def _finding(report: Report, finding: Finding) -> dict[str, Any]:
    loop_line = finding.loop_line
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "certainty": finding.certainty,
        "outcome": finding.outcome,
        "iteration": finding.iteration,
        "loop_line": None if loop_line is None else report.place(finding.path, loop_line)[1],
        "message": report.say(finding.message),
        "path": finding.path,
        "range": _range(report, finding.path, finding.range),
        "carriers": list(finding.carriers),
        "trace": [_step(report, step) for step in finding.trace],
        "fixes": [_fix(report, fix) for fix in finding.fixes],
    }


def _step(report: Report, step: TraceStep) -> dict[str, Any]:
    where = step.range
    return {
        "role": step.role,
        "path": step.path,
        **_line(report, step.path, where.line),
        "column": where.column,
        "end_line": report.place(step.path, where.end_line)[1],
        "end_column": where.end_column,
        "iteration": step.iteration,
        "message": report.say(step.message),
    }


def _fix(report: Report, fix: Fix) -> dict[str, Any]:
    return {
        "title": report.say(fix.title),
        "kind": fix.kind,
        "preferred": fix.preferred,
        "stops_training": list(fix.stops_training),
        "edits": [_edit(report, edit) for edit in fix.edits],
    }


def _edit(report: Report, edit: Edit) -> dict[str, Any]:
    return {
        "path": edit.path,
        "range": _range(report, edit.path, edit.range),
        "new_text": edit.new_text,
    }


def _range(report: Report, path: str, where: Range) -> dict[str, Any]:
    return {
        "start": {**_line(report, path, where.line), "column": where.column},
        "end": {**_line(report, path, where.end_line), "column": where.end_column},
    }


def _line(report: Report, path: str, line: int) -> dict[str, int]:
    cell, number = report.place(path, line)
    return {"line": number} if cell is None else {"line": number, "cell": cell}
