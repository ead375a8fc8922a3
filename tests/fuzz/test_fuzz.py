"""The checker on sources that nobody would write, and the means of finding out tested themselves.

`LOOPGRAD_FUZZ_SOURCES` sets how many mutated sources are checked (default 250).
"""

from __future__ import annotations

import ast
import os
import random
import sys
import threading

import pytest

pytest.importorskip("resource")  # the limits are those of Unix

from tests.fuzz import worker
from tests.fuzz.campaign import mutated, run
from tests.fuzz.corpus import Corpus
from tests.fuzz.reduce import reduce
from tests.fuzz.tree_mutations import mutate_tree
from tests.fuzz.worker import Pool, Result, check

SOURCES = int(os.environ.get("LOOPGRAD_FUZZ_SOURCES", "250"))
SEED = 7


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus()


def test_no_source_breaks_the_checker(corpus: Corpus) -> None:
    with Pool(1) as pool:
        tally = run(corpus, pool, SEED, SOURCES)
    assert tally.sources == SOURCES
    assert not tally.failures, tally.describe()
    # Were it all refused by the parser, or nothing left to find, the test would show little.
    assert tally.parsed > SOURCES / 2, tally.describe()
    assert tally.with_findings > SOURCES / 20, tally.describe()


def test_sources_are_repeatable(corpus: Corpus) -> None:
    assert [mutated(corpus, 3, n) for n in range(20)] == [mutated(corpus, 3, n) for n in range(20)]


def test_a_mutated_tree_is_python(corpus: Corpus) -> None:
    rng = random.Random(1)
    drawn = [mutate_tree(rng, corpus.draw(rng), corpus.draw(rng)) for _ in range(60)]
    written = [source for source in drawn if source is not None]
    valid = 0
    for source in written:
        try:
            ast.parse(source)
            valid += 1
        except SyntaxError:  # a donor's `yield` or star where none may stand
            continue
    assert valid > 45


#: Sources that the analysis once stumbled over.
STUMBLES = {
    "a generator that asks itself": "def f():\n    yield from g\ng = f()\nfor x in g:\n    print(x)\n",
    "a deep statement beside a carried value": (
        "import torch\n\ndef run(w, h):\n    h = "
        + " ** ".join(["w"] * 240)
        + "\n    for i in range(3):\n        h = h * w\n        h.sum().backward()\n"
    ),
}


@pytest.mark.parametrize("source", STUMBLES.values(), ids=STUMBLES)
def test_sources_that_once_failed(source: str) -> None:
    assert check(source.encode()).failure == ""


def _checking(monkeypatch: pytest.MonkeyPatch, fault: str) -> list[Result]:
    """What is said of three sources when checking the second one has a fault."""

    def check(data: bytes) -> Result:
        if data == b"second":
            exec(fault, {"sys": sys})
        return Result(parsed=True)

    monkeypatch.setattr(worker, "check", check)
    monkeypatch.setattr(worker, "DEADLINE", 3.0)
    with Pool(1) as pool:
        results = dict(pool.check([b"first", b"second", b"third"]))
    assert not results[0].failure and not results[2].failure
    return [results[n] for n in range(3)]


def test_a_crash_loses_no_other_source(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _checking(monkeypatch, "import os; os.abort()")[1].failure == "crash"


def test_a_hang_loses_no_other_source(monkeypatch: pytest.MonkeyPatch) -> None:
    fault = "import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPROF})\ntime.sleep(600)"
    assert _checking(monkeypatch, fault)[1].failure == "hang"


def _spin() -> None:
    while True:
        pass


@pytest.mark.parametrize(
    ("fault", "failure"),
    [
        ("raise KeyError(1)", "KeyError in "),
        ("while True: pass", "out of time"),
        ("t = Thread(target=spin); t.start(); t.join()", "out of time"),
        ("x = b'x' * (3 << 29); return FileResult(source.path)", "out of memory"),
        ("return FileResult(source.path, problems=[_internal(source.path, ValueError())])", "ValueError in "),
    ],
)
def test_faults_of_the_engine_are_told(monkeypatch: pytest.MonkeyPatch, fault: str, failure: str) -> None:
    import loopgrad.checker as checker

    scope = vars(checker).copy() | {"Thread": threading.Thread, "spin": _spin}
    exec(f"def analyse(source, provider, select):\n    {fault}", scope)
    monkeypatch.setattr(checker, "analyse", scope["analyse"])
    monkeypatch.setattr(worker, "CPU_SECONDS", 3)
    monkeypatch.setattr(worker, "KILLED_AFTER", 2)
    with Pool(1) as pool:
        ((_, result),) = pool.check([b"import torch\n"])
    assert result.failure.startswith(failure)


def test_a_failing_source_becomes_small() -> None:
    source = b"import a\nx = 1\nloss = f(x)\nloss.backward()\n" * 20
    assert reduce(source, lambda data: b"backward" in data) == b"backward"
