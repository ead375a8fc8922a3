"""Hovers: a rule's code in a comment, and a variable that a finding is about.

What a variable carries is known where the story of its finding plays: from the loop's head to the last line that
the story names. There the hover tells since which line and of which iteration; anywhere else it says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lsprotocol import types

from loopgrad.lsp.analysis import Analysis
from loopgrad.lsp.diagnostics import Result, Writer
from loopgrad.lsp.documents import Documents, Part, Unit
from loopgrad.lsp.places import Places
from loopgrad.lsp.wording import words
from loopgrad.model import Finding, Range

_CODE = re.compile(r"\bLG\d{3}\b")
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


@dataclass
class Hovers:
    documents: Documents
    analysis: Analysis
    writer: Writer

    def at(self, uri: str, position: types.Position) -> types.Hover | None:
        unit = self.documents.unit(uri)
        part = unit.part(uri) if unit is not None else None
        if unit is None or part is None:
            return None
        line = part.text.line(position.line)
        column = self.documents.columns.index(line, position.character)
        code = _around(_CODE, line, column)
        if code is not None and "loopgrad" in line[: code.start()]:
            return self._hover(self._rule(code[0]), line, position.line, code.span())
        name = _around(_NAME, line, column)
        if name is None:
            return None
        # ``self.last_h.shape``: the longest beginning that holds the cursor and is known.
        text, start = name[0], name.start()
        ends = [match.start() for match in re.finditer(r"\.", text)] + [len(text)]
        for end in sorted((end for end in ends if start + end >= column), reverse=True):
            told = self._variable(unit, part, text[:end], position.line)
            if told:
                return self._hover(told, line, position.line, (start, start + end))
        return None

    def _hover(self, text: str, line: str, number: int, span: tuple[int, int]) -> types.Hover:
        units = self.documents.columns.units
        return types.Hover(
            contents=types.MarkupContent(types.MarkupKind.Markdown, text),
            range=types.Range(
                types.Position(number, units(line[: span[0]])), types.Position(number, units(line[: span[1]]))
            ),
        )

    def _rule(self, code: str) -> str:
        from loopgrad.rules.catalogue import RULES

        rule = RULES.get(code)
        if rule is None:
            return self.writer.say("lsp.hover-no-rule", code=code)
        link = self.writer.pages.href(code)
        title = f"[{code}: {rule.name}]({link})" if link else f"{code}: {rule.name}"
        return f"**{title}**\n\n{self.writer.pages.summary(code)}"

    def _variable(self, unit: Unit, part: Part, name: str, line: int) -> str:
        found = [
            self._story(result, finding, name)
            for result, finding in self.analysis.results.about(unit.path)
            if name in finding.carriers and self._plays_at(result, finding, part, line)
        ]
        return "\n\n---\n\n".join(found)

    def _plays_at(self, result: Result, finding: Finding, part: Part, line: int) -> bool:
        places = result.places(self.documents)
        lines = [
            span
            for path, where in _spots(finding)
            if (place := places.place(path, where)) is not None and place.uri == part.uri
            for span in (place.range.start.line, place.range.end.line)
        ]
        return bool(lines) and min(lines) <= line <= max(lines)

    def _story(self, result: Result, finding: Finding, name: str) -> str:
        """What the variable carries and since when, then the whole story with links to its lines."""
        places = result.places(self.documents)
        built = next((step for step in finding.trace if step.role == "built"), None)
        parts = []
        if built is not None:
            place = places.place(built.path, built.range)
            if place is not None:
                key = "lsp.hover-carries" if built.iteration is None else "lsp.hover-carries-iteration"
                shown = self.writer.say(
                    key, name=name, line=place.range.start.line + 1, iteration=built.iteration
                )
                parts.append(shown)
        link = self.writer.pages.href(finding.code)
        code = f"[{finding.code}]({link})" if link else finding.code
        parts.append(f"{code}: {_escaped(words(finding.message, self.writer.language))}")
        steps = [self._step(places, finding, number) for number in range(len(finding.trace))]
        parts.append("\n".join(step for step in steps if step))
        return "\n\n".join(part for part in parts if part)

    def _step(self, places: Places, finding: Finding, number: int) -> str:
        step = finding.trace[number]
        place = places.place(step.path, step.range)
        if place is None:
            return ""
        line = place.range.start.line + 1
        where = self.writer.say("lsp.line", line=line)
        return f"{number + 1}. [{where}]({place.uri}#L{line}) {_escaped(self.writer.step(step))}"


def _spots(finding: Finding) -> Iterator[tuple[str, Range]]:
    yield finding.path, finding.range
    for step in finding.trace:
        yield step.path, step.range
    if finding.raised_at is not None:
        yield finding.raised_at
    if finding.loop_line is not None:
        yield finding.path, Range(finding.loop_line, 1, finding.loop_line, 1)


def _around(pattern: re.Pattern[str], line: str, column: int) -> re.Match[str] | None:
    return next((found for found in pattern.finditer(line) if found.start() <= column <= found.end()), None)


def _escaped(text: str) -> str:
    """Words of the user's code that Markdown would take for its own."""
    return re.sub(r"([\\*_\[\]<>])", r"\\\1", text)
