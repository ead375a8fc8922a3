"""The judge: a program gets the same verdict whatever was judged before it; chance and numbers of steps.

`LOOPGRAD_ORACLE_PROGRAMS` sets how many random programs are judged twice (default 80).
"""

from __future__ import annotations

import os
import re
from typing import Any

import pytest

pytest.importorskip("torch")

from tests.oracle import grammar, second
from tests.oracle.cause import told
from tests.oracle.compare import compare, fix_problem
from tests.oracle.observe import SEEDS, Run, behind, observe
from tests.oracle.pool import Pool

PROGRAMS = int(os.environ.get("LOOPGRAD_ORACLE_PROGRAMS", "80"))
SEED = 21
HEAD = "import random\nimport torch\nN = 6\nw = torch.randn(3, requires_grad=True)\n"


def _plain(verdict: dict[str, Any]) -> str:
    """A verdict as text, without the names of temporary folders."""
    return re.sub(r"'[^' ]*program\.py'", "'program.py'", repr(verdict))


@pytest.mark.parametrize("generate", [grammar.generate, second.generate], ids=["first", "second"])
def test_a_verdict_depends_on_no_other_program(generate: Any) -> None:
    sources = [generate(SEED, number).source for number in range(PROGRAMS // 2)]
    with Pool(1) as pool:
        forward = dict(pool.judge(sources))
    with Pool(1) as pool:
        backward = dict(pool.judge(sources[::-1]))
    differ = [
        number
        for number in range(len(sources))
        if _plain(forward[number]) != _plain(backward[len(sources) - 1 - number])
    ]
    assert differ == []


def _finding(certainty: str, line: int) -> dict[str, Any]:
    place = {"line": line, "column": 1}
    return {
        "code": "LG101",
        "certainty": certainty,
        "outcome": "second-backward",
        "iteration": None,
        "loop_line": None,
        "trace": [{"role": "reached", "line": line}],
        "range": {"start": place, "end": place},
        "fixes": [],
    }


def test_chance_is_tried_with_several_seeds() -> None:
    body = (
        "kept = []\nfor i in range(2):\n    kept.append((w * w).sum())\n    random.choice(kept).backward()\n"
    )
    runs = observe(HEAD + body)
    assert len(runs) == SEEDS
    assert {run.outcome for run in runs} == {"clean", "second-backward"}
    line = (HEAD + body).count("\n")

    def kinds(*certainties: str) -> list[str]:
        findings = [_finding(certainty, line) for certainty in certainties]
        return [d.kind for d in compare(HEAD + body, {"findings": findings}, runs)]

    assert kinds("possible") == []
    assert kinds("certain") == ["wrong certain"]
    assert kinds() == ["miss"]


def test_a_condition_on_the_number_of_steps_is_no_end_of_growth() -> None:
    body = "kept = []\nfor i in range(N):\n    if len(str(N)) == 1:\n        kept.append((w * w).sum())\n"
    (run,) = observe(HEAD + body)
    assert run.outcome == "grows"


def test_what_each_of_few_epochs_keeps_is_not_called_clean() -> None:
    body = "kept = []\nfor e in range(3):\n    for i in range(N):\n        if i < 2:\n            kept.append((w * w).sum())\n"
    (run,) = observe(HEAD + body)
    assert (run.outcome, run.growth) == ("clean", "unclear")
    bounded = body.replace("kept.append((w * w).sum())", "kept[:] = [(w * w).sum()]")
    (run,) = observe(HEAD + bounded)
    assert (run.outcome, run.growth) == ("clean", "no")


def test_what_an_iterator_holds_is_looked_at_before_it_goes() -> None:
    sums = "def sums():\n    h = 0.0\n    while True:\n        h = h + w * 2\n        yield h\n"
    zipped = "for step, value in zip(range(N), sums()):\n    value = None\n"
    assert [run.outcome for run in observe(HEAD + sums + zipped)] == ["grows"]
    counted = "for step in range(N):\n    value = next(sums())\n"
    assert [run.outcome for run in observe(HEAD + sums + counted)] == ["clean"]


def test_a_sequence_that_is_walked_once_in_its_last_step_is_not_called_growth() -> None:
    body = "h = w * 1\nfor i in range(N):\n    h = h * w\n    if i == N - 1:\n        h.sum().backward()\n"
    (run,) = observe(HEAD + body)
    assert (run.outcome, run.growth) == ("clean", "unclear")
    (run,) = observe(HEAD + body.replace("h.sum()", "(w * w).sum()"))
    assert run.outcome == "grows"
    (run,) = observe(
        HEAD + body.replace("if i == N - 1", "if True").replace("h.sum()", "(h.detach() * w).sum()")
    )
    assert run.outcome == "grows"
    (run,) = observe(HEAD + body.replace("backward()", "backward(retain_graph=True)"))
    assert run.outcome == "grows"
    inner = "    h = h - 0.1 * torch.autograd.grad((h * h).sum(), h, create_graph=True)[0]\n"
    (run,) = observe(HEAD + body.replace("    h = h * w\n", inner))
    assert run.outcome == "clean"


def test_a_sequence_that_goes_on_in_the_next_epoch_is_not_called_growth() -> None:
    body = """\
h = w * 1
for epoch in range(N):
    for i in range(N):
        h = torch.tanh(h + w)
        if i == 1:
            h.sum().backward()
            h = h.detach()
"""
    (run,) = observe(HEAD + body)
    assert (run.outcome, run.growth) == ("clean", "unclear")
    (run,) = observe(
        HEAD
        + body.replace("        if i == 1", "        kept.append(h)\n        if i == 1").replace(
            "h = w", "kept = []\nh = w", 1
        )
    )
    assert run.outcome == "grows"


def test_a_leaf_that_has_the_name_of_an_optimizer_s_is_another_one() -> None:
    body = """\
opt = torch.optim.SGD([w])
for i in range(N):
    w = (w * 0.9).detach().requires_grad_()
    (w * w).sum().backward()
    opt.step()
"""
    (run,) = observe(HEAD + body)
    assert run.held and not set(run.held) & set(run.reached)
    (run,) = observe(HEAD + body.replace("detach().requires_grad_()", "sum()").replace("    w =", "    v ="))
    assert run.held == run.reached == ["w"]


def test_a_fixed_program_may_have_no_end_of_its_own() -> None:
    before = [Run((), "second-backward", held=["w"], reached=["w"])]
    endless = Run((), "error", error="took too long", trips={3: 4000}, held=["w"], reached=["w"])
    assert fix_problem(before, [endless], []) is None
    assert fix_problem([Run((), "grows")], [endless], []) is not None
    stuck = Run((), "error", error="took too long", trips={3: 1}, held=["w"], reached=["w"])
    assert fix_problem(before, [stuck], []) is not None


def test_an_error_behind_the_exception_is_the_program_s_own() -> None:
    body = "for i in range(N):\n    loss = (w * w).sum()\n    loss.backward()\n    loss.backward()\n    print(missing)\n"
    source = HEAD + body
    (run,) = before = observe(source)
    assert run.outcome == "second-backward"
    after = observe(source.replace("backward()", "backward(retain_graph=True)", 1))
    assert after[0].outcome == "error"
    assert fix_problem(before, after, [], lambda old: behind(source, old)) is None
    after = observe(source.replace("backward()", "backwards()", 1))
    assert fix_problem(before, after, [], lambda old: behind(source, old)) is not None


def test_an_error_behind_a_gradient_is_the_program_s_own() -> None:
    body = """\
with torch.no_grad():
    loss = (w * w).sum()
(g,) = torch.autograd.grad(loss, [w])
w.grad = 1.0 * g
print(missing)
"""
    (run,) = observe(HEAD + body)
    assert run.outcome == "no-grad-fn"
    assert behind(HEAD + body, run) == "NameError: name 'missing' is not defined"


def test_an_error_behind_the_change_of_a_leaf_is_the_program_s_own() -> None:
    body = "with torch.enable_grad():\n    w.mul_(0.9)\nprint(missing)\n"
    (run,) = before = observe(HEAD + body)
    assert run.outcome == "leaf-inplace"
    assert behind(HEAD + body, run) == "NameError: name 'missing' is not defined"
    after = observe(HEAD + body.replace("enable_grad", "no_grad"))
    assert fix_problem(before, after, [], lambda old: behind(HEAD + body, old)) is None


def test_growth_is_told_by_a_finding_whose_statement_keeps_it() -> None:
    """Whether the graph of what a finding's statement stores is what grows: shown by running without it."""
    body = "fast = w\nkept = []\nfor i in range(N):\n    fast = fast - 0.1\n    torch.autograd.grad(fast.sum(), [fast])\n"
    source = HEAD + body
    (run,) = observe(source)
    assert run.outcome == "grows"
    line = source[: source.index("    fast = fast")].count("\n") + 1

    def tells(certainty: str, line: int) -> bool:
        return told(source, {"findings": [_finding(certainty, line)]})(run)

    assert tells("possible", line)
    assert not tells("certain", line)
    assert not tells("possible", line + 1)
    assert not tells("possible", line - 3)
