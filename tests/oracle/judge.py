"""Judging one program: run it, ask the analyser, compare, and try every preferred fix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from . import adapter, cause, compare, witness
from .compare import Disagreement
from .limits import TooLong, time_limit
from .observe import RAISING, Run, behind, observe

T = TypeVar("T")
ANALYSIS_LIMIT = 20.0
#: Where one of these is left after a fix, the program is not called clean.
SPEAKING = {*RAISING, "grows", "silent"}


def _ask(source: str, analyse: Callable[[str], T]) -> T:
    try:
        with time_limit(ANALYSIS_LIMIT):
            return analyse(source)
    except TooLong:
        raise adapter.Broken("took too long") from None
    except (adapter.Broken, adapter.Unavailable):
        raise
    except Exception as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        where = f"{trace.tb_frame.f_code.co_name}:{trace.tb_lineno}" if trace else ""
        raise adapter.Broken(f"{type(error).__name__} in {where}: {str(error)[:100]}") from error


def _fixes(source: str, report: dict[str, Any], runs: list[Run]) -> list[Disagreement]:
    found = []
    for finding in report["findings"]:
        for fix in finding.get("fixes", ()):
            if not fix.get("preferred"):
                continue
            about = f"{finding['code']} {fix['kind']}"
            try:
                fixed = adapter.apply_edits(source, fix["edits"])
                again = _ask(fixed, adapter.outcomes)
            except (adapter.Broken, KeyError, TypeError) as error:
                found.append(Disagreement("fix", about, f"cannot be judged: {error}"))
                continue
            if again & SPEAKING:
                continue
            stops = fix.get("stops_training") or []
            problem = compare.fix_problem(runs, observe(fixed), stops, lambda old: behind(source, old))
            if problem:
                found.append(Disagreement("fix", about, problem))
    return found


def judge(source: str, ask: bool = True) -> dict[str, Any]:
    """All that is to be known about a program, as plain data.

    Keys: `runs`, `report` (None without an analyser), `disagreements`, `weak` (see `could_be_certain`),
    `witnesses` and `forced` (see `witness.Replay`).
    """
    runs = observe(source)
    verdict: dict[str, Any] = {
        "runs": [run.data() for run in runs],
        "report": None,
        "disagreements": [],
        "weak": False,
        "witnesses": 0,
        "forced": 0,
    }
    if not ask or any(run.outcome == "error" for run in runs):
        return verdict
    try:
        report = _ask(source, adapter.analyse)
        verdict["report"] = report
        found = list(compare.compare(source, report, runs, cause.told(source, report))) + _fixes(
            source, report, runs
        )
        claims = ((f["certainty"], f["outcome"]) for f in report["findings"])
        replayed = witness.replay(source) if witness.SHOWABLE.intersection(claims) else witness.Replay()
        found += replayed.wrong
        verdict["witnesses"], verdict["forced"] = replayed.witnesses, replayed.forced
        verdict["weak"] = compare.could_be_certain(report["findings"], runs)
    except adapter.Unavailable:
        return verdict
    except (adapter.Broken, KeyError, TypeError) as error:
        about = str(error).split(":")[0][:60]
        found = [Disagreement("broken", about, f"{type(error).__name__}: {str(error)[:200]}")]
    verdict["disagreements"] = [(d.kind, d.about, d.detail) for d in found]
    return verdict
