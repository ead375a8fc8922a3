"""Replaying witnesses: a right one is borne out, a wrong one is found, whatever is wrong about it."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

pytest.importorskip("torch")

from loopgrad.model import Finding, Message, Range, WitnessStep
from tests.oracle import samples, witness

BODY = """\
h = torch.zeros(3)
for i in range(N):
    h = h * w
    if flags.a:
        h = h.detach()
    if i == 3 and (h.sum() > 1e9 or not flags.a):
        h.sum().backward()
"""
SOURCE = samples.FLAGS + samples.HEAD + BODY + "for i in range(N):\n    h = h * w\n    h.sum().backward()\n"


def _expression(text: str, kind: str, value: int, nth: int = 0) -> WitnessStep:
    """A step about the place where an expression (or a loop's header) stands in the source."""
    found = [
        node
        for node in ast.walk(ast.parse(SOURCE))
        if isinstance(node, ast.For)
        and ast.unparse(node).startswith(text)
        or isinstance(node, ast.expr)
        and ast.unparse(node) == text
    ]
    node = sorted(found, key=lambda n: n.lineno)[nth]
    at = Range(node.lineno, node.col_offset + 1, node.end_lineno or 0, (node.end_col_offset or 0) + 1)
    return WitnessStep(kind, witness.NAME, at, value)


def _finding(*steps: WitnessStep) -> Finding:
    where = Range(1, 1, 1, 2)
    return Finding(
        "LG101", "loop-carried-graph", "error", "certain", "second-backward", Message("x"), witness.NAME, where,
        witness=steps,
    )  # fmt: skip


def _replay(monkeypatch: pytest.MonkeyPatch, finding: Finding) -> witness.Replay:
    monkeypatch.setattr(witness, "_findings", lambda source: [finding])
    return witness.replay(SOURCE)


def test_a_right_witness_is_borne_out(monkeypatch: pytest.MonkeyPatch) -> None:
    flag, loop = _expression("flags.a", "condition", 0), _expression("for i", "loop", 1, 1)
    result = _replay(monkeypatch, _finding(flag, loop))
    assert (result.witnesses, result.forced, result.wrong) == (1, 0, [])


@pytest.mark.parametrize("value", [2, 3])
def test_a_wrong_iteration_is_found(monkeypatch: pytest.MonkeyPatch, value: int) -> None:
    flag, loop = _expression("flags.a", "condition", 0), _expression("for i", "loop", value, 1)
    (wrong,) = _replay(monkeypatch, _finding(flag, loop)).wrong
    assert f"not {value}" in wrong.detail


def test_a_wrong_branch_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the flag, the first pass is that of the second loop: it raises in iteration 2."""
    flag, loop = _expression("flags.a", "condition", 1), _expression("for i", "loop", 1, 1)
    (wrong,) = _replay(monkeypatch, _finding(flag, loop)).wrong
    assert "--a" in wrong.detail and "iteration 2" in wrong.detail


def test_a_condition_that_no_flag_decides_is_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    large, flag = (
        _expression("h.sum() > 1000000000.0", "condition", 1),
        _expression("flags.a", "condition", 0),
    )
    result = _replay(monkeypatch, _finding(large, flag, _expression("for i", "loop", 1, 1)))
    assert (result.forced, result.wrong) == (1, [])


def test_a_condition_that_is_never_met_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = replace(_expression("flags.a", "condition", 1), range=Range(1, 1, 1, 5))
    (wrong,) = _replay(monkeypatch, _finding(nowhere)).wrong
    assert "no run takes the branches" in wrong.detail


def test_possible_findings_have_no_witness_to_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    result = _replay(monkeypatch, replace(_finding(), certainty="possible"))
    assert result.witnesses == 0


def test_a_condition_on_the_number_of_steps_stays_what_it_is() -> None:
    """Growth is replayed over more steps."""
    body = """\
kept = []
for i in range(N):
    loss = (w * w).sum()
    kept.append(loss)
    if len(str(N)) == 1:
        if flags.a:
            opt.zero_grad()
    loss.backward()
    opt.step()
"""
    result = witness.replay(samples.FLAGS + samples.HEAD + body)
    assert (result.witnesses, result.forced, result.wrong) == (1, 0, [])
