"""The second generator: repeatable, mixed, rich, and held to the same figures as the first.

`LOOPGRAD_ORACLE_PROGRAMS` sets how many random programs are judged (default 80).
"""

from __future__ import annotations

import os

import pytest

pytest.importorskip("torch")

from tests.oracle import report
from tests.oracle.__main__ import judge_programs
from tests.oracle.observe import RAISING
from tests.oracle.pool import Pool
from tests.oracle.second import SHAPES, carriers, generate, loops, mutations

PROGRAMS = int(os.environ.get("LOOPGRAD_ORACLE_PROGRAMS", "80"))
SEED = 20


def test_programs_are_repeatable() -> None:
    assert [generate(5, n).source for n in range(30)] == [generate(5, n).source for n in range(30)]


def test_every_construct_is_drawn() -> None:
    drawn = {construct for n in range(2500) for construct in generate(SEED, n).constructs}
    wanted = [f"shape: {shape.__name__}" for shape in SHAPES]
    wanted += [f"carrier: {kind}" for kind in carriers.KINDS] + [f"loop: {kind}" for kind in loops.KINDS]
    wanted += [f"changed: {change.__name__}" for change in mutations.MUTATIONS]
    wanted += [f"layout: {kind}" for kind in ("script", "main", "trainer", "step in a function")]
    assert [construct for construct in wanted if construct not in drawn] == []


def test_outcomes_are_mixed() -> None:
    with Pool(1, ask=False) as pool:
        tally, _ = judge_programs(pool, SEED, 300, generate=generate)
    text = report.describe(tally, SEED, 1.0, False)
    assert tally.lost == 0, text
    assert tally.share("error") < 0.07, text
    assert tally.share(*RAISING) > 0.2, text
    assert tally.share("grows") > 0.14, text
    assert tally.share("clean") > 0.3, text


def test_the_analyser_agrees() -> None:
    with Pool(1) as pool:
        if not pool.ask:
            pytest.skip("no analyser to ask")
        tally, seconds = judge_programs(pool, SEED, PROGRAMS, generate=generate)
    text = report.describe(tally, SEED, seconds, True)
    assert not tally.kinds["broken"], text
    assert not tally.kinds["wrong certain"], text
    assert not tally.kinds["false alarm"], text
    assert not tally.kinds["fix"], text
