"""Proving a fix: the same run with the fixed text in memory, compared with the run before.

A fix is proven if the fixed run is clean, every optimizer's parameter that a backward of the faulty run
reached (the one that raised included) still gets a gradient, and the loss of the first
pass is the same: to the last bit on the CPU where the fix only cuts (detach, no_grad, item), within a
relative difference of 1e-5 otherwise. A fix that joins or moves backwards changes what the first pass is:
there the fixed loss is compared with each loss of the faulty run's first passes and with their sum.

*Still gets a gradient* is asked step by step: at each step of its optimizer before which a backward of the
faulty run had reached the parameter, one of the fixed run has too, and behind the end of the faulty run it
goes on getting one. A parameter that a script trains in every other step is so judged by its own measure, and
one whose optimizer steps in neither run (a wrapper, around the one that does) by whether a backward reaches it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from loopgrad.confirm.verdict import CLEAN, Verdict

TOLERANCE = 1e-5
_CUTS = frozenset({"detach", "no_grad", "item", "remove-retain-graph", "remove-requires-grad"})


@dataclass
class Proof:
    verdict: Verdict
    still_trained: list[str] = field(default_factory=list)
    no_longer_trained: list[str] = field(default_factory=list)
    first_loss_equal: bool | None = None
    #: How far first losses may differ, relatively: 0 is bit for bit.
    tolerance: float = 0.0

    @property
    def proven(self) -> bool:
        return (
            self.verdict.verdict == CLEAN
            and not self.no_longer_trained
            and self.first_loss_equal is not False
        )


def compare(faulty: Verdict, fixed: Verdict, kinds: set[str]) -> Proof:
    """``kinds`` are the kinds of the fixes that were made; empty where they are not known."""
    proof = Proof(fixed)
    after = {held["key"]: held for held in fixed.parameters}
    for held in faulty.parameters:
        if not held["reached"]:
            continue
        now: dict[str, Any] = after.get(held["key"], {})
        name = now.get("name") or held["name"] or held["key"]
        trained = _trains(held, now)
        (proof.still_trained if trained else proof.no_longer_trained).append(name)
    proof.tolerance = 0.0 if _is_exact(fixed, kinds) else TOLERANCE
    proof.first_loss_equal = _same_loss(faulty, fixed, kinds)
    return proof


def _trains(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether a parameter gets its gradients as before. Histories are one "1" or "0" a step."""
    wanted = before["history"] + ("1" if before["pending"] else "")
    now = after.get("history", "")
    if not before["history"] and not now:
        return bool(after.get("reached"))
    if any(old == "1" and new == "0" for old, new in zip(wanted, now)):
        return False
    further = now[len(wanted) :]
    return "1" in (further if len(further) > 2 else now)


def _same_loss(faulty: Verdict, fixed: Verdict, kinds: set[str]) -> bool | None:
    before, after = [_number(loss) for loss in faulty.losses], [_number(loss) for loss in fixed.losses]
    if not before or not after or before[0] is None or after[0] is None:
        return None
    if before[0] == after[0]:
        return True
    if _is_exact(fixed, kinds):
        return False
    first = [loss for loss in before[:4] if loss is not None]
    sums = [sum(first[:count]) for count in range(1, len(first) + 1)]
    return any(_close(after[0], value) for value in [*first, *sums])


def _is_exact(fixed: Verdict, kinds: set[str]) -> bool:
    return bool(kinds) and kinds <= _CUTS and fixed.device == "cpu"


def _number(text: str | None) -> float | None:
    return None if text is None else float.fromhex(text)


def _close(one: float, other: float) -> bool:
    return abs(one - other) <= TOLERANCE * max(abs(one), abs(other), 1e-30)
