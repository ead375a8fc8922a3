"""The engine executes plain Python as CPython does, on generated programs.

`LOOPGRAD_ORACLE_PROGRAMS` sets how many (default 80).
"""

from __future__ import annotations

import os

import pytest

from tests.oracle.observe_python import cpython_prints
from tests.oracle.python_grammar import generate
from tests.oracle.python_semantics import NoEngine, abstract_prints, compare, judge_programs

#: A generator whose yields stand inside of larger expressions, and one that hands on what is sent.
YIELDS = """
def log(x):
    print(x)
    return x
def g(n):
    kept = []
    while True:
        kept.append((yield len(kept)))
        if (yield 'a') and (yield 'b'):
            print('both')
        t = [log(1), (yield 'c'), *([log(2)]), (yield 'd')]
        print(t)
        y = (yield 'e') if n else (yield 'f')
        print(y)
        z = n or (yield 'g') or (yield 'h')
        print(z)
        n += (yield 'i')
        print(n)
        print(f"{log(5)} {(yield 'j')}")
        for q in range((yield 'k')):
            print(q)
        while (yield 'l'):
            print('turn')
        match (yield 'm'):
            case 0:
                print('zero', (yield 'mm'))
            case _:
                print('else', log(3), (yield 'n'))
        x = {log('k'): (yield 'o'), 'b': 2}
        print(x)
        if n > 4:
            return (yield 'p')
def h():
    r = yield from g(0)
    print('r', r)
it = h()
print(next(it))
i = 0
try:
    while True:
        i += 1
        print('->', it.send(i % 3))
except StopIteration:
    print('end')
"""

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


def test_yields_inside_of_expressions() -> None:
    real, abstract = cpython_prints(YIELDS), abstract_prints(YIELDS)
    assert real is not None
    verdict = compare(real, abstract)
    assert (verdict.kind, verdict.known) == ("agrees", len(real))
