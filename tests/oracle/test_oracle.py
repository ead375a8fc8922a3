"""The oracle judged by programs with a known outcome, and the analyser judged by the oracle.

`LOOPGRAD_ORACLE_PROGRAMS` sets how many random programs are judged (default 80).
"""

from __future__ import annotations

import os

import pytest

pytest.importorskip("torch")

from tests.oracle import adapter, report, samples
from tests.oracle.__main__ import judge_programs
from tests.oracle.adapter import apply_edits
from tests.oracle.compare import compare
from tests.oracle.grammar import generate
from tests.oracle.judge import judge
from tests.oracle.observe import RAISING, observe
from tests.oracle.pool import Pool
from tests.oracle.shrink import shrink

PROGRAMS = int(os.environ.get("LOOPGRAD_ORACLE_PROGRAMS", "80"))
SEED = 20


@pytest.mark.parametrize("sample", samples.SAMPLES, ids=lambda s: s.name)
def test_known_outcome(sample: samples.Sample) -> None:
    (run,) = observe(sample.source)
    assert (run.outcome, run.line) == (sample.outcome, sample.raising_line), run
    assert run.iteration == sample.iteration
    assert run.silent == sample.silent


def test_every_assignment_is_run() -> None:
    body = "h = torch.zeros(3)\nfor i in range(N):\n    h = h * w\n    h.sum().backward()\n"
    body += "    if flags.a:\n        h = h.detach()\n"
    runs = observe(samples.FLAGS + samples.HEAD + body)
    assert [(run.argv, run.outcome) for run in runs] == [((), "second-backward"), (("--a",), "clean")]


def test_training_is_named() -> None:
    body = "net = nn.Linear(3, 1)\nopt = torch.optim.SGD([w, u, *net.parameters()], lr=0.1)\n"
    body += "for i in range(N):\n    net(w * 2).sum().backward()\n    opt.step()\n"
    (run,) = observe(samples.HEAD + body)
    assert run.trained == ["net.bias", "net.weight", "w"]
    assert run.held == ["net.bias", "net.weight", "u", "w"]


def test_iteration_counts_in_every_loop_around() -> None:
    body = "h = torch.zeros(3)\nfor e in range(2):\n    for i in range(N):\n"
    body += "        if e == 1:\n            h = h * w\n            h.sum().backward()\n"
    (run,) = observe(samples.HEAD + body)
    outer = samples.HEAD.count("\n") + 2
    assert run.counters == {outer: 2, outer + 1: 2}


def test_programs_are_repeatable_and_mixed() -> None:
    assert generate(5, 7).source == generate(5, 7).source
    tally = report.Tally()
    with Pool(1, ask=False) as pool:
        tally, _ = judge_programs(pool, SEED, 250)
    assert tally.lost == 0
    assert tally.share("error") < 0.04
    assert tally.share(*RAISING) > 0.2
    assert tally.share("grows") > 0.13
    assert tally.share("clean") > 0.3


def _finding(**changes: object) -> dict[str, object]:
    place = {"line": 3, "column": 1}
    base: dict[str, object] = {
        "code": "LG101",
        "certainty": "certain",
        "outcome": "second-backward",
        "trace": [],
    }
    base |= {
        "iteration": 2,
        "loop_line": samples.HEAD.count("\n") + 2,
        "range": {"start": place, "end": place},
        "fixes": [],
    }
    return base | changes


def test_claims_are_compared_exactly() -> None:
    sample = next(s for s in samples.SAMPLES if s.name == "carried")
    runs = observe(sample.source)
    right = {"role": "reached", "line": sample.raising_line}

    def kinds(*findings: dict[str, object]) -> list[str]:
        return [d.kind for d in compare(sample.source, {"findings": list(findings)}, runs)]

    assert kinds(_finding(trace=[right])) == []
    assert kinds(_finding(trace=[right], iteration=3)) == ["wrong certain"]
    assert kinds(_finding()) == ["wrong certain", "miss"]
    assert kinds(_finding(outcome="grows", certainty="possible"), _finding(trace=[right])) == []
    assert kinds(_finding(outcome="no-grad-fn", certainty="possible")) == ["false alarm", "miss"]
    assert kinds() == ["miss"]


def _fixing(monkeypatch: pytest.MonkeyPatch, edit: tuple[str, str]) -> list[tuple[str, str, str]]:
    """Judge the carried sample with a fake analyser whose fix replaces one text by another."""
    source = next(s for s in samples.SAMPLES if s.name == "carried").source
    row, line = next((n, text) for n, text in enumerate(source.splitlines(), 1) if edit[0] in text)
    column = line.index(edit[0]) + 1
    span = {
        "start": {"line": row, "column": column},
        "end": {"line": row, "column": column + len(edit[0])},
    }
    fix = {"kind": "detach", "preferred": True, "edits": [{"path": "p", "range": span, "new_text": edit[1]}]}
    reached = [{"role": "reached", "line": source[: source.index(".backward")].count("\n") + 1}]

    def fake(text: str) -> dict[str, object]:
        return {"findings": [_finding(trace=reached, fixes=[fix])] if text == source else [], "errors": []}

    monkeypatch.setattr(adapter, "analyse", fake)
    monkeypatch.setattr(adapter, "outcomes", lambda text: {f["outcome"] for f in fake(text)["findings"]})
    return list(judge(source)["disagreements"])


def test_a_right_fix_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _fixing(monkeypatch, ("h * w", "h.detach() * w")) == []


def test_a_fix_that_changes_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    ((kind, about, detail),) = _fixing(monkeypatch, ("h * w", "h.clone() * w"))
    assert (kind, about) == ("fix", "LG101 detach")
    assert "second-backward" in detail


def test_edits_are_applied_by_position() -> None:
    edits = [
        {
            "range": {"start": {"line": 2, "column": 5}, "end": {"line": 2, "column": 6}},
            "new_text": "y.detach()",
        },
        {
            "range": {"start": {"line": 1, "column": 1}, "end": {"line": 1, "column": 1}},
            "new_text": "z = 1\n",
        },
    ]
    assert apply_edits("a = 1\nx = y\n", edits) == "z = 1\na = 1\nx = y.detach()\n"


def test_shrinking_keeps_what_matters() -> None:
    source = "a = 1\nfor i in range(3):\n    if a:\n"
    source += "        b = f(a + 2) * 3\n        c = 4\n    else:\n        c = 5\n"

    def labels(sources: list[str]) -> list[set[str]]:
        return [{"has f"} if "f(" in text else set() for text in sources]

    assert shrink(source, "has f", labels, budget=1000).strip() == "b = f(a)"


def test_the_analyser_agrees() -> None:
    with Pool(1) as pool:
        if not pool.ask:
            pytest.skip("no analyser to ask")
        tally, seconds = judge_programs(pool, SEED, PROGRAMS)
    text = report.describe(tally, SEED, seconds, True)
    assert not tally.kinds["broken"], text
    assert not tally.kinds["wrong certain"], text
    assert not tally.kinds["false alarm"], text
    assert not tally.kinds["fix"], text
