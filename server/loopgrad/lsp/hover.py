"""Hovers: a rule's code in a comment, and a variable: whether it carries a graph, since when, and its finding.

What the variables of a document hold is computed by the worker when it is asked for, once for each text, and kept.
The story of a finding comes along where it plays: from the loop's head to the last line that the story names.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lsprotocol import types

from loopgrad.lsp import wire
from loopgrad.lsp.analysis import Analysis
from loopgrad.lsp.analysis_queue import Priority, WorkerError
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
    kind: types.MarkupKind = types.MarkupKind.Markdown
    #: What was asked of the worker for each document, and the text and the result that it was asked for.
    _asked: dict[str, tuple[tuple[int, int], asyncio.Task[wire.Held | None]]] = field(default_factory=dict)

    async def at(self, uri: str, position: types.Position) -> types.Hover | None:
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
        spot = await self._held(unit, part, position.line, column)
        # ``self.last_h.shape``: the longest beginning that holds the cursor and is known.
        text, start = name[0], name.start()
        ends = [match.start() for match in re.finditer(r"\.", text)] + [len(text)]
        for end in sorted((end for end in ends if start + end >= column), reverse=True):
            told = self._variable(unit, part, text[:end], position.line, spot)
            if told:
                return self._hover(told, line, position.line, (start, start + end))
        if spot is not None:
            return self._hover(self._told(spot), line, position.line, (spot.column - 1, spot.end_column - 1))
        return None

    async def _held(self, unit: Unit, part: Part, line: int, column: int) -> wire.Spot | None:
        """What the variable at a position holds; None if that is no tensor, or cannot be known."""
        if not self.analysis.settings.of(unit.path).active:
            return None
        result = await self.analysis.settled(unit)
        state = unit.revision, result.serial if result is not None else 0
        known = self._asked.get(unit.uri)
        if known is None or known[0] != state:
            task = asyncio.get_running_loop().create_task(self._ask(unit))
            known = self._asked[unit.uri] = state, task
        await asyncio.wait({known[1]})
        if known[1].cancelled() or unit.revision != state[0] or unit.part(part.uri) is not part:
            return None
        held = known[1].result()
        return held.at(part.first_line + line, column + 1) if held is not None else None

    async def _ask(self, unit: Unit) -> wire.Held | None:
        try:
            # It gives way to checks: whoever edits the text is no longer interested in this answer.
            held: wire.Held = await self.analysis.queue.submit(
                wire.Hold(unit.path), Priority.DEPENDENT, ("held", unit.uri)
            )
        except WorkerError:
            return None
        return held

    def _told(self, spot: wire.Spot) -> str:
        return "  \n".join(words(message, self.writer.language) for message in spot.told)

    def closed(self, unit: Unit) -> None:
        known = self._asked.pop(unit.uri, None)
        if known is not None:
            known[1].cancel()

    def _hover(self, text: str, line: str, number: int, span: tuple[int, int]) -> types.Hover:
        units = self.documents.columns.units
        return types.Hover(
            contents=types.MarkupContent(self.kind, text),
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

    def _variable(self, unit: Unit, part: Part, name: str, line: int, spot: wire.Spot | None) -> str:
        """The stories of the findings that name a variable, after what it holds."""
        found = [
            self._story(result, finding, name, spot is None)
            for result, finding in self.analysis.results.about(unit.path)
            if name in finding.carriers and self._plays_at(result, finding, part, line)
        ]
        if found and spot is not None:
            found.insert(0, self._told(spot))
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

    def _story(self, result: Result, finding: Finding, name: str, since: bool) -> str:
        """The whole story with links to its lines, after since when the variable carries what it does."""
        places = result.places(self.documents)
        built = next((step for step in finding.trace if step.role == "built"), None)
        parts = []
        if built is not None and since:
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
