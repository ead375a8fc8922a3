"""Replaying the witness of each certain finding in PyTorch: the branches and iterations that it names.

A witness says how the unknown conditions came out and in which iteration each loop around the event was.
Among the runs of the program there must be one that takes these branches; it must show the outcome, with
every loop in the iteration named. Where no command line leads there (a condition on a loss, say), the
conditions are made to come out as the witness says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from loopgrad.checker import Checker
from loopgrad.config import Config
from loopgrad.model import Finding, Range, WitnessStep
from loopgrad.source import FileProvider, SourceFile

from .adapter import NAME
from .compare import Disagreement
from .instrument import Place, assignments, instrument, more_steps, with_steps
from .observe import RAISING, Run, run_once

#: The findings that have a witness with something to show.
SHOWABLE = {("certain", outcome) for outcome in (*RAISING, "grows")}


@dataclass
class Replay:
    """What replaying found: how many witnesses, how many of them with forced conditions, what is wrong."""

    witnesses: int = 0
    forced: int = 0
    wrong: list[Disagreement] = field(default_factory=list)


class _Conditions:
    """Records how conditions come out when they are first met, or makes them come out as wished."""

    def __init__(self, wished: dict[Place, bool], force: bool) -> None:
        self.wished, self.force = wished, force
        self.seen: dict[Place, bool] = {}

    def __call__(self, place: Place, value: Any) -> Any:
        if self.force:
            self.seen[place] = self.wished[place]
            return self.wished[place]
        self.seen.setdefault(place, bool(value))
        return value

    @property
    def agree(self) -> bool:
        """Did all of them come out as wished? One that is not met cannot have led there."""
        return self.seen == self.wished


def _place(at: Range) -> Place:
    return at.line, at.column - 1, at.end_line, at.end_column - 1


def _subjects(source: str) -> set[Place]:
    """What match statements look at: that a case fits is no truth value of it, and is not replayed."""
    found = [node.subject for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Match)]
    return {(n.lineno, n.col_offset, n.end_lineno or 0, n.end_col_offset or 0) for n in found}


def _findings(source: str) -> list[Finding]:
    checker = Checker(Config(None, None), FileProvider())
    return checker.check_source(SourceFile(NAME, source)).findings


def _shown(finding: Finding, run: Run, loops: list[WitnessStep]) -> str:
    """Why a run does not show what the witness says; empty where it does."""
    if finding.outcome in RAISING:
        if run.outcome != finding.outcome:
            return f"outcome is {run.outcome} {run.error}"
        for step in loops:
            counted = run.counters.get(step.range.line)
            if counted != step.value:
                return f"iteration {counted} of the loop at {step.range.line}, not {step.value}"
        return ""
    if run.outcome == "error":
        return ""  # longer, it is no program that can be judged
    for step in loops:
        trips = run.trips.get(step.range.line, 0)
        if trips < step.value:
            return f"the loop at {step.range.line} has {trips} iterations, not {step.value}"
    return ""


def _long_enough(run: Run, loops: list[WitnessStep]) -> bool:
    """Do the loops turn as often as the witness says? A run of which one ends before is not the one it names."""
    return run.outcome in RAISING or all(run.trips.get(step.range.line, 0) >= step.value for step in loops)


def _runs(source: str, wished: dict[Place, bool], force: bool, steps: int | None = None) -> Iterator[Run]:
    """The runs that take the wished branches, with steps enough for growth to be told."""
    longer = with_steps(source, steps) if steps else None
    program = instrument(longer or source, tuple(wished))
    for argv in assignments(source):
        conditions = _Conditions(wished, force)
        run, _ = run_once(program, argv, {"__condition__": conditions})
        if conditions.agree:
            yield run


def replay(source: str) -> Replay:
    """Replay the witness of every certain finding with an outcome that a run can show."""
    result = Replay()
    subjects = _subjects(source)
    for finding in _findings(source):
        if (finding.certainty, finding.outcome) not in SHOWABLE:
            continue
        result.witnesses += 1
        wished = {_place(s.range): bool(s.value) for s in finding.witness if s.kind == "condition"}
        wished = {place: value for place, value in wished.items() if place not in subjects}
        loops = [step for step in finding.witness if step.kind == "loop"]
        about = f"{finding.code} {finding.outcome}"
        steps = more_steps(source)[0] if finding.outcome == "grows" else None
        runs = list(_runs(source, wished, False, steps))
        if not runs:
            result.forced += 1
            runs = list(_runs(source, wished, True, steps))
        if not runs:
            result.wrong.append(Disagreement("witness", about, f"no run takes the branches {wished}"))
        for run in [run for run in runs if _long_enough(run, loops)] or runs:
            problem = _shown(finding, run, loops)
            if problem:
                result.wrong.append(Disagreement("witness", about, f"{' '.join(run.argv)}: {problem}"))
                break
    return result
