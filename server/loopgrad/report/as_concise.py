"""One line for each finding: ``path:line:column: CODE message``, for editors' error lists, ``grep`` and people.

In notebooks the cell stands between path and line (``a.ipynb:cell 3:2:5: …``), as in the full text.
"""

from __future__ import annotations

from loopgrad.model import Finding
from loopgrad.report.as_text import TextWriter
from loopgrad.report.base import Report
from loopgrad.report.snippet import printable
from loopgrad.report.style import Style


def as_concise(report: Report, style: Style) -> str:
    """The whole report; it ends with the line that sums it up, as the full text does."""
    writer = TextWriter(report, style)
    lines = [_line(report, style, writer, finding) for finding in report.outcome.findings]
    lines += writer.notes()
    if report.statistics and report.outcome.findings:
        lines += writer.statistics()
    return "".join(line + "\n" for line in (*lines, *writer.summary()))


def _line(report: Report, style: Style, writer: TextWriter, finding: Finding) -> str:
    place = writer.location(finding.path, finding.range)
    return f"{place}: {style(finding.severity, finding.code)} {printable(report.say(finding.message))}"
