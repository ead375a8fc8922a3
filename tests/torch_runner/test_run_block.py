"""The runner tells the outcomes apart, and what only looks like one."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.torch_runner.run_block import observe, set_steps

HEAD = """import torch
n = 4
w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
"""

OUTCOMES = {
    "second-backward": "h = w * w\nh.sum().backward()\n(h + 1).sum().backward()\n",
    "inplace-version": "l = (w * w).sum()\nw.data\nwith torch.no_grad():\n    w.add_(1)\nl.backward()\n",
    "leaf-inplace": "w += 1\n",
    "no-grad-fn": "w.detach().sum().backward()\n",
    "error": "raise SystemExit(3)\n",
    "silent": """
h = torch.zeros(3)
for _ in range(n):
    h = h + w
    h.sum().backward()
    optimizer.step()
""",
    "grows": "kept = []\nfor _ in range(n):\n    kept.append(w * 2)\n",
    "not-trained": "for _ in range(n):\n    optimizer.step()\n",
    "clean": """
for _ in range(n):
    optimizer.zero_grad()
    (w * w).sum().backward()
    optimizer.step()
""",
}


@pytest.mark.parametrize(("outcome", "body"), OUTCOMES.items(), ids=str)
def test_outcomes(outcome: str, body: str) -> None:
    report = observe(HEAD + body, steps="n")
    assert report.outcome == outcome, report


CLEAN = {
    "a view of a parameter": """
v = w.view(-1)
for _ in range(n):
    v.sum().backward()
    optimizer.step()
""",
    "two passes over additions before one step": """
for _ in range(n):
    h = w + 1
    optimizer.zero_grad()
    h.sum().backward()
    (h * h).sum().backward()
    optimizer.step()
""",
    "autograd.grad down to a value, then backward from it": """
h = w * 2
torch.autograd.grad((h * h).sum(), h)
h.sum().backward()
optimizer.step()
""",
    "a closure that makes the gradients in the step": """
optimizer = torch.optim.LBFGS([w])
def closure():
    optimizer.zero_grad()
    loss = (w * w).sum()
    loss.backward()
    return loss
for _ in range(n):
    optimizer.step(closure)
""",
    "a frozen group": """
frozen = torch.ones(3)
optimizer = torch.optim.SGD([{"params": [w]}, {"params": [frozen]}], lr=0.1)
w.sum().backward()
optimizer.step()
""",
}


@pytest.mark.parametrize("body", CLEAN.values(), ids=CLEAN)
def test_look_alikes(body: str) -> None:
    report = observe(HEAD + body, steps="n")
    assert report.outcome == "clean", report


def test_where_it_raises_and_was_built_and_freed() -> None:
    source = HEAD + "h = w * w\nfor _ in range(n):\n    l = (h + 1).sum()\n    l.backward()\n"
    report = observe(source, origins=True)
    assert (report.line, report.iteration, report.freed_lines) == (8, 2, [8])
    assert 5 in report.built_lines


def test_growth_says_its_weight() -> None:
    """Nodes that a pass has freed are light; those that none has hold their activations."""
    body = "kept = []\nfor _ in range(n):\n    l = (w * w).sum()\n    kept.append(l)\n"
    heavy = observe(HEAD + body, steps="n")
    light = observe(HEAD + body + "    l.backward()\n", steps="n")
    assert heavy.outcome == light.outcome == "grows"
    assert heavy.nodes_unfreed[1] > heavy.nodes_unfreed[0]
    assert light.nodes_unfreed == [0, 0]


def test_modules_beside_the_script() -> None:
    script = "from parts.cut import cut\nassert cut(3) == 3\n"
    report = observe(script, files={"parts/cut.py": "def cut(x): return x\n"})
    assert report.outcome == "clean", report


def test_no_answer_in_time() -> None:
    report = observe("import time\ntime.sleep(60)\n", timeout=1)
    assert report.outcome == "error" and "no answer" in str(report.error)


def test_steps_need_their_line() -> None:
    assert set_steps("a = 1\nn = 3\n", "n", 8) == "a = 1\nn = 8\n"
    with pytest.raises(ValueError, match="no line"):
        set_steps("m = 3\n", "n", 8)
