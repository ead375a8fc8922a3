"""Every case: the verdict, the outcome and the iteration agree with PyTorch, and a carrier is named.

A quarter of them by default, all with LOOPGRAD_NIGHTLY=1. Where there are warm servers, one that ends with the
tests forks the runs.
"""

from __future__ import annotations

import json
import os
import re
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from loopgrad.confirm.observe import Request, observe
from loopgrad.confirm.proof import compare
from loopgrad.confirm.verdict import Verdict, judge
from loopgrad.confirm.warm import Warm

CASES = Path(__file__).parents[1] / "cases"
ALL = sorted(path.parent.name for path in CASES.glob("*/case.json"))
CHOSEN = ALL if os.environ.get("LOOPGRAD_NIGHTLY") else ALL[::4]

_POOL = ThreadPoolExecutor(2)


@cache
def run(name: str, file: str, replaced: str | None = None, shape_only: bool = False) -> Future[Verdict]:
    script = CASES / name / file
    texts = ((str(script), (CASES / name / replaced).read_text(encoding="utf-8")),) if replaced else ()
    warm = Warm(parent=os.getpid())
    request = Request(script=str(script), replaced=texts, shape_only=shape_only, warm=warm)
    return _POOL.submit(lambda: judge(observe(request), request))


def case_of(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((CASES / name / "case.json").read_text(encoding="utf-8"))
    return data


def parts(name: str) -> list[str]:
    return re.sub(r"\[[^\]]*\]", "", name).split(".")


@pytest.mark.parametrize("name", CHOSEN)
def test_case(name: str) -> None:
    if not os.environ.get("PYTEST_XDIST_WORKER"):  # the next one runs beside it
        following = CHOSEN[CHOSEN.index(name) + 1 :][:1]
        for other in following:
            run(other, "bug.py")
    case = case_of(name)
    verdict = run(name, "bug.py").result()
    outcome = "silent" if case.get("silent") else case["outcome"]
    assert (verdict.outcome or verdict.verdict) == outcome, verdict.reason
    if outcome == "clean":
        return
    assert verdict.verdict == "confirmed"
    if outcome not in ("grows", "silent"):
        outer = case.get("iteration_of") == "steps"
        iterations = [count for _, _, count in verdict.loops] if outer else [verdict.iteration]
        assert case["iteration"] in iterations
        assert verdict.raised_at is not None and verdict.raised_at[1] == case["raises_line"]
        if case["freed_line"]:
            assert verdict.freed_at is not None and verdict.freed_at[1] == case["freed_line"]
    wanted = {parts(item["name"])[-1] for item in case["carried"] or ()}
    if wanted and case["outcome"] != "leaf-inplace":
        assert any(wanted & set(parts(carrier)) for carrier, _ in verdict.carriers), verdict.carriers


@pytest.mark.parametrize("name", [name for name in CHOSEN if (CASES / name / "fixed.py").exists()])
def test_fixed(name: str) -> None:
    case = case_of(name)
    verdict = run(name, "fixed.py").result()
    expected = case.get("fixed_outcome") or "clean"
    assert (verdict.outcome or verdict.verdict) == expected, verdict.reason


@pytest.mark.parametrize("name", [name for name in CHOSEN if (CASES / name / "fixed.py").exists()][::3])
def test_fix_in_memory(name: str) -> None:
    """The fixed text runs in the place of the file, which stays as it is, and is compared with the bug."""
    before = (CASES / name / "bug.py").read_bytes()
    proof = compare(run(name, "bug.py").result(), run(name, "bug.py", "fixed.py").result(), set())
    assert proof.verdict.verdict == "clean", proof.verdict.reason
    assert proof.no_longer_trained == case_of(name).get("stops_training", [])
    assert (CASES / name / "bug.py").read_bytes() == before


@pytest.mark.parametrize(
    "name", [name for name in CHOSEN if case_of(name)["outcome"] == "second-backward"][::3]
)
def test_shape_only_is_never_wrong(name: str) -> None:
    verdict = run(name, "bug.py", shape_only=True).result()
    assert verdict.shape_only
    assert verdict.outcome == "second-backward" or verdict.verdict == "inconclusive"
