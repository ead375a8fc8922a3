"""Questions about values that an unknown condition has made: each is answered as the condition came out.

A carried state is cut where the question is answered with yes. All assignments of the conditions are run under
PyTorch, and the analysis has to agree with every run (``tests/oracle``). A wrong answer is a certain finding that
PyTorch does not bear out, or a miss.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.oracle.judge import judge

HEAD = """\
import argparse
import torch
from torch import nn
parser = argparse.ArgumentParser()
parser.add_argument("--a", action="store_true")
parser.add_argument("--b", action="store_true")
args = parser.parse_args()
N = 6
w = torch.randn(3, requires_grad=True)
h = torch.zeros(3)
"""
CUT = """
for i in range(N):
    h = torch.tanh(h * w)
    h.sum().backward()
    if {question}:
        h = h.detach()
"""
#: What is made before the loop, and the question.
QUESTIONS = (
    ("", "[False, True][args.a]"),
    ("", "{True: 1, False: 0}[args.a]"),
    ("", "{True: 1}.get(args.a)"),
    ("", "sorted([args.a, False])[1]"),
    ("", "len({args.a, args.b}) == 2"),
    (
        "class C:\n    def __init__(self):\n        if args.a:\n            self.x = 1\nc = C()",
        "hasattr(c, 'x')",
    ),
    ("d = {'k': 1}\nif args.a:\n    d.pop('k')", "d.get('k')"),
    ("if args.b:\n    args.a = True", "args.a"),
    ("if args.b:\n    setattr(args, 'a', False)", "args.a"),
    ("x = []\nif args.a:\n    x.append(1)\ny = list(x)", "y"),
    ("x = []\nif args.a:\n    x.append(1)\ny = x[:]", "y"),
    ("x = []\nif args.a:\n    x.append(1)\ny = tuple(x)", "y"),
    ("x = []\nif args.a:\n    x.append(1)", "sum(x)"),
    ("x = [0]\nif args.a:\n    x.append(1)", "any(x)"),
    ("x = []\nif args.a:\n    x.append('q')", "''.join(x) == 'q'"),
    ("x = [0]\nif args.a:\n    x.append(1)", "x[-1]"),
    ("x = [0]\nif args.a:\n    x.append(1)", "max(x)"),
    ("x = [0]\nif args.a:\n    x.append(1)", "[q for q in x if q]"),
    ("x = [0]\nif args.a:\n    x.append(1)", "len([*x]) == 2"),
    ("x = [0]\nif args.a:\n    x.append(1)\n*r, last = x", "last"),
    ("x = {0}\nif args.a:\n    x.add(1)", "x - {0}"),
    ("x = {}\nif args.a:\n    x['k'] = 1", "list(x.values())"),
    ("x = [0]\nif args.a:\n    x.insert(0, 5)", "x[0] == 5"),
    ("x = [0]\nif args.a:\n    x.append(1)", "x.count(1)"),
    ("x = [0]\nif args.a:\n    x.insert(0, 1)", "x.index(0) == 1"),
    ("x = [0]\nif args.a:\n    x.append(1)\nk = 0\nfor k, q in enumerate(x):\n    pass", "k == 1"),
    ("x = [0, 1]\nif args.a:\n    x.reverse()", "x[0]"),
    ("x = [1, 0]\nif args.a:\n    x.sort()", "x[0]"),
    ("x = [1, 0]\nif args.a:\n    x[0], x[1] = x[1], x[0]", "x[0]"),
    ("x = [1, 0]\nif args.a:\n    x[0] = 0", "x[0]"),
    ("x = [0]\nif args.a:\n    x += [1]", "x[-1]"),
    ("from collections import Counter\nx = Counter()\nif args.a:\n    x['k'] += 1", "x['k']"),
    ("x = torch.ones(2)\nif args.a:\n    x = torch.ones(3)", "len(x) == 3"),
    ("x = torch.ones(2)\nif args.a:\n    x = torch.ones(3, 1)", "x.dim() == 2"),
    ("x = torch.ones(2)\nif args.a:\n    x = torch.ones(3)", "x.shape[0] == 3"),
)
#: What a loop does with the carried state.
LOOPS = (
    """\
    h.sum().backward()
    h = [h, h.detach()][args.a]
    """,
    """\
    h.sum().backward()
    h = {False: h, True: h.detach()}[args.a]
    """,
    """\
    h.sum().backward()
    k = 1 if args.a else 0
    for j in range(k):
        h = h.detach()
    """,
    """\
    h.sum().backward()
    h = (h, h.detach())[int(args.a)]
    """,
    """
    if i == (4 if args.a else 2):
        h.sum().backward()
    """,
    """
    if (i + 1) % (3 if args.a else 2) == 0:
        h.sum().backward()
        h = h.detach()
    """,
)


def _agrees(source: str) -> None:
    verdict = judge(source)
    assert all(run["outcome"] != "error" for run in verdict["runs"]), verdict["runs"]
    assert verdict["disagreements"] == []
    assert not verdict["report"]["partial"]


@pytest.mark.parametrize(("before", "question"), QUESTIONS, ids=[question for _, question in QUESTIONS])
def test_a_question_is_answered_by_the_condition(before: str, question: str) -> None:
    _agrees(HEAD + before + CUT.format(question=question))


@pytest.mark.parametrize("body", LOOPS, ids=[" ".join(body.split())[-60:] for body in LOOPS])
def test_a_choice_is_made_by_the_condition(body: str) -> None:
    start = "for i in range(N):\n    h = torch.tanh(h * w)\n"
    _agrees(HEAD + start + body)


#: A record of outputs, before the loop and in it, that a condition bounds, cuts or clears.
RECORDS = (
    ("kept = []\nmost = 2 if args.a else 50", "kept = (kept + [out])[-most:]"),
    (
        "kept = []\nmost = 2 if args.a else 100",
        "kept.append(out)\n    if len(kept) > most:\n        kept.pop(0)",
    ),
    ("from collections import deque\nkept = deque(maxlen=3 if args.a else None)", "kept.append(out)"),
    ("kept = {}", "kept[i if args.a else 0] = out"),
    ("kept = {}", "kept['x' if args.a else i] = out"),
    (
        "kept = []\nevery = 3 if args.a else 1000",
        "kept.append(out)\n    if (i + 1) % every == 0:\n        kept.clear()",
    ),
)


@pytest.mark.parametrize(("before", "keep"), RECORDS, ids=[before.splitlines()[-1] for before, _ in RECORDS])
def test_a_record_is_bounded_by_the_condition(before: str, keep: str) -> None:
    loop = "\nnet = nn.Linear(3, 3)\nfor i in range(N):\n    out = net(torch.randn(4, 3))\n    out.mean().backward()\n    "
    _agrees(HEAD + before + loop + keep + "\n")
