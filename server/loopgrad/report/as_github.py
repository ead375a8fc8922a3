"""Workflow commands of GitHub Actions: one annotation for each finding."""

from __future__ import annotations

from loopgrad.model import Finding
from loopgrad.report.base import Report

_LEVELS = {"error": "error", "warning": "warning", "information": "notice"}


def as_github(report: Report) -> str:
    lines = [_finding(report, finding) for finding in report.outcome.findings]
    for unused in report.outcome.unused:
        lines.append(_command("notice", report, unused.path, unused.line, report.say(unused.message)))
    for part in report.outcome.partial:
        message = report.text("report.partial", reason=part.reason)
        lines.append(_command("notice", report, part.path, part.line, message))
    for problem in report.outcome.problems:
        lines.append(_command("error", report, problem.path, problem.line, report.say(problem.message)))
    return "".join(line + "\n" for line in lines)


def _finding(report: Report, finding: Finding) -> str:
    story = [report.say(finding.message)]
    for step in finding.trace:
        cell, line = report.place(step.path, step.range.line)
        place = f"{step.path}:{line}" if cell is None else f"{step.path}:{_cell(report, cell)}:{line}"
        story.append(f"{place}: {report.say(step.message)}")
    return _command(
        _LEVELS[finding.severity],
        report,
        finding.path,
        finding.range.line,
        "\n".join(story),
        title=f"{finding.code} {finding.name}",
        col=finding.range.column,
        end_line=finding.range.end_line,
    )


def _command(
    level: str,
    report: Report,
    path: str,
    line: int,
    message: str,
    title: str = "Loopgrad",
    col: int | None = None,
    end_line: int | None = None,
) -> str:
    """One command. In a notebook the line is that of its JSON, and the title names the cell and the line in it."""
    properties: list[tuple[str, object]] = [("file", path)]
    cell, number = report.place(path, line)
    if cell is not None:
        title += f" ({_cell(report, cell)}:{number})"
        in_file = report.file_line(path, line)
        properties += [("line", in_file)] if in_file is not None else []
    else:
        properties += [("line", line)]
        if col is not None:
            properties += [("col", col)]
        if end_line is not None:
            properties += [("endLine", end_line)]
    properties += [("title", title)]
    listed = ",".join(f"{name}={_escape_property(str(value))}" for name, value in properties)
    return f"::{level} {listed}::{_escape(message)}"


def _cell(report: Report, cell: int) -> str:
    return report.text("report.cell", cell=cell)


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
