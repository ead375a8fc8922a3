"""Setting the analyser's claims against what PyTorch showed.

Every difference is a `Disagreement` whose kind says what it is:

* `wrong certain`: a certain finding that some assignment of the unknown conditions does not bear out
  exactly (outcome, raising line, iteration);
* `false alarm`: a possible finding that no assignment bears out;
* `miss`: an assignment raises or grows and no finding says so (`silent` is a class of its own);
* `fix`: after a preferred fix the program, now reported clean, still fails, or trains less;
* `information`: a finding about the text that the text does not bear out;
* `witness`: the run that a certain finding names does not show it (see `witness`);
* `broken`: the analyser failed.

What the definition of growth leaves open (`Run.growth == "unclear"`) never counts against a claim.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .observe import RAISING, Run

Finding = dict[str, Any]


@dataclass(frozen=True)
class Disagreement:
    """One difference: its kind, the outcome or code it is about, and the details."""

    kind: str
    about: str
    detail: str

    @property
    def label(self) -> str:
        """The kind and what it is about, which shrinking keeps."""
        return f"{self.kind}: {self.about}"


def reaching_line(finding: Finding) -> int:
    """The line that raises, as the finding says."""
    reached = [step["line"] for step in finding.get("trace", ()) if step.get("role") == "reached"]
    return int(reached[-1] if reached else finding["range"]["start"]["line"])


def _lines(finding: Finding) -> set[int]:
    reached = {step["line"] for step in finding.get("trace", ()) if step.get("role") == "reached"}
    span = finding["range"]
    own = set(range(span["start"]["line"], span["end"]["line"] + 1))
    return reached or own


def _too_short(finding: Finding, run: Run) -> bool:
    """Did the loops of a run that raised nothing not turn often enough for the claim to apply?"""
    if run.outcome in RAISING:
        return False
    if finding["outcome"] == "grows":
        return max(run.trips.values(), default=0) < 4
    said, loop = finding.get("iteration"), finding.get("loop_line")
    return said is not None and loop is not None and run.trips.get(loop, 0) < said


def _refuted(finding: Finding, run: Run) -> str | None:
    """Why a run does not bear out a finding; None where it does or cannot say."""
    outcome = finding["outcome"]
    if _too_short(finding, run):
        return None
    if outcome in RAISING:
        if run.outcome != outcome:
            return f"outcome is {run.outcome}" + (f" at line {run.line}" if run.line else "")
        if run.line not in _lines(finding) and not set(run.lines) & _lines(finding):
            return f"raises at line {run.line}, not at {sorted(_lines(finding))}"
        said, loop = finding.get("iteration"), finding.get("loop_line")
        if said is not None and loop is not None and loop in run.counters and run.counters[loop] != said:
            return f"iteration {run.counters[loop]} of the loop at {loop}, not {said}"
        if said is not None and loop is not None and run.counters and loop not in run.counters:
            return f"the loop at {loop} is not around line {run.line}"
        return None
    if outcome == "grows":
        if run.outcome in RAISING or run.growth == "unclear":
            return None
        return None if run.growth == "yes" else "nothing grows"
    if outcome == "silent":
        return None if run.outcome in RAISING or run.silent else "no freed graph is traversed again"
    if outcome == "not-trained":
        if run.outcome in RAISING or not run.held:
            return None
        return None if set(run.held) - set(run.reached) else "every parameter of the optimizers is reached"
    return None


def _loosely(finding: Finding, run: Run) -> bool:
    """Does a run bear out a possible finding: the outcome at the line, whatever the iteration?"""
    if finding["outcome"] in RAISING:
        return run.outcome == finding["outcome"] and bool({run.line, *run.lines} & _lines(finding))
    return _refuted(finding, run) is None


def _information(finding: Finding, source: str) -> str | None:
    """Why the text does not bear out a finding about it."""
    line = finding["range"]["start"]["line"]
    text = source.splitlines()[line - 1] if line <= source.count("\n") + 1 else ""
    code = finding["code"]
    if code == "LG401" and "requires_grad" not in text:
        return f"no requires_grad in line {line}"
    if code == "LG202" and "retain_graph" not in text and "create_graph" not in text:
        return f"no retain_graph in line {line}"
    if code == "LG402":
        found = any(
            isinstance(node, ast.Expr) and node.lineno == line and ast.unparse(node).endswith(".detach()")
            for node in ast.walk(ast.parse(source))
        )
        return None if found else f"line {line} is no discarded detach"
    return None


def compare(
    source: str, report: dict[str, Any], runs: list[Run], told: Callable[[Run], bool] = lambda _: False
) -> Iterator[Disagreement]:
    """Every difference between a report and the runs (of a program that has no error of another kind).

    ``told`` says whether the growth of a run is the other side of an exception that a finding tells.
    """
    findings = report["findings"]
    for finding in findings:
        name = f"{finding['code']} {finding['outcome']}"
        where = f"line {finding['range']['start']['line']}: "
        problem = _information(finding, source)
        if problem:
            yield Disagreement("information", finding["code"], where + problem)
        if finding["certainty"] == "certain":
            for run in runs:
                why = _refuted(finding, run)
                if why:
                    yield Disagreement("wrong certain", name, f"{where}{run.given}: {why}")
                    break
        elif not any(_loosely(finding, run) for run in runs):
            why = "; ".join(sorted({_refuted(finding, run) or "iteration" for run in runs}))
            yield Disagreement("false alarm", name, where + why)
    seen = set()
    for run in runs:
        for miss in _missed(findings, run, told):
            if miss.about not in seen:
                seen.add(miss.about)
                yield miss


def _missed(findings: list[Finding], run: Run, told: Callable[[Run], bool]) -> Iterator[Disagreement]:
    argv = run.given
    if run.outcome in RAISING:
        same = [f for f in findings if f["outcome"] == run.outcome]
        if not same:
            yield Disagreement("miss", run.outcome, f"{argv}: line {run.line}, iteration {run.iteration}")
        elif not any(_loosely(f, run) for f in same):
            lines = sorted({reaching_line(f) for f in same})
            yield Disagreement("miss", f"{run.outcome} elsewhere", f"{argv}: line {run.line}, not {lines}")
        return
    outcomes = {f["outcome"] for f in findings}
    # A carried chain of additions is one cause with two effects: naming either is enough.
    both = {"grows", "silent"} if run.silent == "carried" else {"grows"}
    if run.outcome == "grows" and not outcomes & both and not told(run):
        yield Disagreement("miss", "grows", f"{argv}: over the loops at {run.grow_loops}")
    enough = {"silent", "grows", *RAISING} if run.outcome == "grows" else {"silent", *RAISING}
    if run.silent == "carried" and not outcomes & enough:
        yield Disagreement("miss", "silent", f"{argv}: line {run.silent_line}")


def could_be_certain(findings: list[Finding], runs: list[Run]) -> bool:
    """Do all runs raise alike while the analyser only says `possible`?"""
    first = (runs[0].outcome, runs[0].line, runs[0].iteration)
    same = first[0] in RAISING and all((r.outcome, r.line, r.iteration) == first for r in runs)
    claims = [f for f in findings if f["outcome"] == first[0]]
    return same and bool(claims) and all(f["certainty"] != "certain" for f in claims)


#: A fixed program that has gone on for so many iterations has no end of its own, only the exception ended it.
ENDLESS = 60


def fix_problem(
    before: list[Run], after: list[Run], stops: list[str], behind: Callable[[Run], str] = lambda _: ""
) -> str | None:
    """What is wrong with a fixed program that the analyser calls clean; None if nothing.

    ``behind`` gives the error that the unfixed program would come to if the exception did not end it before.
    """
    earlier = {(run.argv, run.seed): run for run in before}
    for run in after:
        old = earlier.get((run.argv, run.seed))
        if run.outcome == "error" and old is not None and old.outcome in RAISING:
            endless = "too long" in run.error and max(run.trips.values(), default=0) >= ENDLESS
            if endless or run.error == behind(old):
                continue
        if run.outcome != "clean":
            return f"{run.given}: still {run.outcome} {run.error}"
    if stops:
        return None
    for new in after:
        old = earlier.get((new.argv, new.seed))
        if old is not None and old.held:
            lost = (set(old.reached) & set(old.held)) - set(new.reached)
            if lost:
                return f"{new.given}: no longer trained: {', '.join(sorted(lost))}"
    return None
