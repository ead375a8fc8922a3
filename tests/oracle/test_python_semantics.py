"""The engine executes plain Python as CPython does, on generated programs.

`LOOPGRAD_ORACLE_PROGRAMS` sets how many (default 80).
"""

from __future__ import annotations

import os

import pytest

from tests.oracle.observe_python import cpython_prints
from tests.oracle.python_grammar import generate
from tests.oracle.python_semantics import NoEngine, abstract_prints, compare, judge_programs

PROGRAMS = int(os.environ.get("LOOPGRAD_ORACLE_PROGRAMS", "80"))


def test_programs_run_and_print() -> None:
    printed = [cpython_prints(generate(1, index).source) for index in range(100)]
    assert sum(lines is None for lines in printed) <= 3
    assert sum(len(lines or ()) for lines in printed) > 600


def test_every_way_of_comparing() -> None:
    real = [(1, "a"), (2, "b")]
    assert compare(real, [(1, "a"), (2, None)]).kind == "agrees"
    assert compare(real, [(1, "x"), (2, "b")]).kind == "differs"
    assert compare(real, [(1, "a"), (3, "b")]).kind == "diverged"
    assert compare(real, [(1, None), (3, "b")]).kind == "lost"
    assert compare(real, [(1, "a")]).kind == "short"
    assert compare(real, [(1, "a"), (2, "b"), (3, "c")]).kind == "diverged"


def test_the_engine_executes_python() -> None:
    try:
        abstract_prints("print(1)\n")
    except NoEngine:
        pytest.skip("no engine to ask")
    tally = judge_programs(30, PROGRAMS)
    assert not tally.failures, str(tally)
