"""The report for people: each finding with its story, line by line, and what would mend it.

```
error[LG101]: what is wrong
  --> train.py:19:5
   |
19 |     hidden = model(x, hidden)
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^
  built in iteration 1: how it came about
  --> train.py:15:5
   |
15 |     ...
fix: what would mend it (preferred: --fix applies it)
```
"""

from __future__ import annotations

from loopgrad.model import SEVERITIES, Finding, Fix, Range, TraceStep
from loopgrad.report.base import Report
from loopgrad.report.snippet import printable, snippet
from loopgrad.report.style import Style


def as_text(report: Report, style: Style) -> str:
    """The whole report; it ends with a line that sums it up."""
    writer = TextWriter(report, style)
    blocks = [writer.finding(finding) for finding in report.outcome.findings]
    notes = writer.notes()
    if notes:
        blocks.append(notes)
    if report.statistics and report.outcome.findings:
        blocks.append(writer.statistics())
    blocks.append(writer.summary())
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


class TextWriter:
    """The parts of a report as lines of text."""

    def __init__(self, report: Report, style: Style) -> None:
        self._report = report
        self._style = style

    # A finding -------------------------------------------------------------------------------------

    def finding(self, finding: Finding) -> list[str]:
        say = self._report.text
        kind = f"{say('report.severity.' + finding.severity)}[{finding.code}]"
        if finding.certainty == "possible":
            kind += f" ({say('report.possible')})"
        message = printable(self._report.say(finding.message))
        lines = [self._style(finding.severity, kind) + self._style("strong", f": {message}")]
        shown: set[tuple[str, Range]] = set()
        lines += self._snippet(finding.path, finding.range, finding.severity, shown)
        said: set[str] = set()
        for step in finding.trace:
            sentence = self._sentence(step)
            location = self.location(step.path, step.range)
            if sentence + location not in said:
                said.add(sentence + location)
                lines.append("  " + sentence)
                lines += self._snippet(step.path, step.range, "note", shown)
        lines += [self._fix(fix) for fix in finding.fixes if fix.kind != "suppress"]
        return lines

    def _sentence(self, step: TraceStep) -> str:
        role = self._style("note", self._report.text("report.role." + step.role))
        message = printable(self._report.say(step.message))
        if step.iteration is None:
            return self._report.text("report.step", role=role, message=message)
        return self._report.text(
            "report.step-iteration", role=role, message=message, iteration=step.iteration
        )

    def _snippet(self, path: str, where: Range, colour: str, shown: set[tuple[str, Range]]) -> list[str]:
        """Where it is, and the source lines unless this finding has shown them already."""
        lines = ["  " + self._style("frame", "-->") + " " + self.location(path, where)]
        source = self._report.source(path)
        if source is not None and (path, where) not in shown:
            shown.add((path, where))

            def left_out(count: int) -> str:
                return self._report.text("report.lines-left-out", count=count)

            lines += snippet(source, where, self._style, colour, left_out)
        return lines

    def location(self, path: str, where: Range) -> str:
        cell, line = self._report.place(path, where.line)
        name = printable(path)
        if cell is not None:
            name += f":{self._report.text('report.cell', cell=cell)}"
        return f"{name}:{line}:{where.column}"

    def _fix(self, fix: Fix) -> str:
        key = "report.fix-preferred" if fix.preferred else "report.fix"
        line = self._report.text(key, title=printable(self._report.say(fix.title)))
        return self._style("fix" if fix.preferred else "strong", line)

    # The rest --------------------------------------------------------------------------------------

    def notes(self) -> list[str]:
        """What else there is to say, a line each."""
        return [*self.fixed(), *self.ignored(), *self.unused(), *self.partial(), *self.problems()]

    def fixed(self) -> list[str]:
        return [
            f"{printable(path)}: {self._report.text('report.fixed', title=printable(title))}"
            for path, title in self._report.fixed
        ]

    def ignored(self) -> list[str]:
        return [
            f"{self._line(path, line)}: {self._report.text('report.ignored', comment=comment)}"
            for path, line, comment in self._report.ignored
        ]

    def unused(self) -> list[str]:
        return [
            f"{self._line(unused.path, unused.line)}:{unused.column}: "
            + self._report.text("report.unused", message=unused.message)
            for unused in self._report.outcome.unused
        ]

    def partial(self) -> list[str]:
        return [
            f"{self._line(part.path, part.line)}: {self._report.text('report.partial', reason=part.reason)}"
            for part in self._report.outcome.partial
        ]

    def problems(self) -> list[str]:
        return [
            f"{self._line(problem.path, problem.line)}: "
            + self._style("error", printable(self._report.text("report.problem", message=problem.message)))
            for problem in self._report.outcome.problems
        ]

    def _line(self, path: str, line: int) -> str:
        cell, number = self._report.place(path, line)
        name = printable(path)
        return (
            f"{name}:{number}"
            if cell is None
            else (f"{name}:{self._report.text('report.cell', cell=cell)}:{number}")
        )

    def statistics(self) -> list[str]:
        counts = self._report.counts()
        width = max(len(str(count)) for _, _, count in counts)
        return [f"{count:>{width}}  {code}  {name}" for code, name, count in counts]

    def summary(self) -> list[str]:
        report, outcome = self._report, self._report.outcome
        parts: list[str] = []
        if report.fixed:
            parts.append(report.count("report.fixes", len(report.fixed)))
        if report.ignored:
            parts.append(report.count("report.ignores", len(report.ignored)))
        failed = len({problem.path for problem in outcome.problems})
        if outcome.findings or not failed or outcome.files > failed:
            parts.append(self._found(max(outcome.files - failed, 1 if outcome.findings else 0)))
        if failed:
            parts.append(report.count("report.problems", failed))
        if outcome.partial:
            paths = {part.path for part in outcome.partial}
            parts.append(report.count("report.partials", len(paths)))
        separator = "" if report.language == "zh-cn" else " "
        return [separator.join(parts)]

    def _found(self, checked: int) -> str:
        """What was found in the files that could be checked."""
        report, outcome = self._report, self._report.outcome
        if not checked:
            return report.text("report.no-files")
        counts = [
            report.count(f"report.count.{severity}", count)
            for severity in SEVERITIES
            if (count := sum(finding.severity == severity for finding in outcome.findings))
        ]
        files = report.count("report.count.file", checked)
        if not counts:
            return report.text("report.clean", files=files)
        return report.text("report.found", counts=counts, files=files)
