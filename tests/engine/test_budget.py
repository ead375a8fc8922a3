"""What a check may cost: programs that could go on for ever end within their budget, and say what was cut."""

from __future__ import annotations

import ast
import textwrap

import pytest

from loopgrad.analysis.explore import FILE_STEPS, LINE_FILE_STEPS, analyse
from loopgrad.analysis.paths import LINE_STEPS, MOST_STEPS
from loopgrad.analysis.shared import FileRecord
from loopgrad.analysis.verdicts import Analysis
from loopgrad.analysis.where import Site
from loopgrad.rules.deep import run_deep

HEAD = """\
import torch
from torch import nn

model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(3, 4)
"""


def analysed(code: str) -> Analysis:
    """What the engine sees in a program; its budget holds, whatever the program is."""
    tree = ast.parse(code)
    found = run_deep(lambda: analyse(FileRecord("train.py", tree)))
    lines = code.count("\n")
    longest = max(MOST_STEPS, LINE_STEPS * lines)
    # A path may end, and be run once more to confirm what it showed, after the file's steps are spent.
    assert found.steps <= max(FILE_STEPS, LINE_FILE_STEPS * lines) + 2 * longest + 10
    return found


def seen(found: Analysis) -> list[tuple[str, int]]:
    """The outcomes and the lines that raise."""
    raised: list[tuple[str, int]] = []
    for verdict in found.verdicts:
        site: Site | None = verdict.observation.raised
        if site is not None:
            raised.append((verdict.observation.outcome, site.line))
    return raised


def nest(depth: int, trips: str, body: str) -> str:
    code = ""
    for level in range(depth):
        code += "    " * level + f"for i{level} in {trips}:\n"
    return code + textwrap.indent(textwrap.dedent(body).strip(), "    " * depth) + "\n"


TRAIN = """
loss = model(x).sum()
optimizer.zero_grad()
loss.backward()
optimizer.step()
"""


LOOP = """
for batch in range(100):
    loss = (model(x) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("trips", ["range(1000)", "loader"])
def test_a_nest_of_eight_loops_that_trains(trips: str) -> None:
    """Loops far inside run few iterations: eight of them are analysed to their end."""
    found = analysed(f"loader = open('data').readlines()\n{HEAD}{nest(8, trips, TRAIN)}")
    assert not found.verdicts
    assert not found.partial


def test_a_nest_of_eight_loops_that_carries_a_graph() -> None:
    """What goes wrong in the innermost loop is seen before any budget is spent."""
    body = """
    h = torch.tanh(model(h))
    h.sum().backward()
    """
    found = analysed(f"{HEAD}h = torch.zeros(3, 4)\n{nest(8, 'range(1000)', body)}")
    assert seen(found) == [("second-backward", 17)]
    assert not found.partial


def test_a_nest_of_eight_loops_that_only_counts() -> None:
    found = analysed(
        f"{HEAD}n = 0\n{nest(8, 'range(100)', 'n += 1')}loss = model(x).sum()\nloss.backward()\nloss.backward()\n"
    )
    # The nest is given up, and what follows it is out of sight.
    assert [reason for _, _, reason in found.partial] in ([], ["steps"])
    assert bool(found.partial) or seen(found) == [("second-backward", 18)]


def chain(depth: int) -> str:
    functions = "".join(
        f"def step_{k}(value):\n    return step_{k - 1}(value)\n\n\n" for k in range(1, depth)
    )
    return (
        f"{HEAD}\n\ndef step_0(value):\n    return torch.tanh(model(value))\n\n\n{functions}"
        f"loss = step_{depth - 1}(x).sum()\nloss.backward()\nloss.backward()\n"
    )


def test_a_call_chain_of_depth_100_is_followed_to_its_end() -> None:
    code = chain(100)
    found = analysed(code)
    assert seen(found) == [("second-backward", code.count("\n"))]
    assert [verdict.certain for verdict in found.verdicts] == [True]
    assert not found.partial


def test_a_deeper_call_chain_says_where_it_was_cut() -> None:
    code = chain(150)
    found = analysed(code)
    assert [reason for _, _, reason in found.partial] == ["depth"]
    assert code.splitlines()[found.partial[0][1] - 1].startswith("def step_")
    assert not any(verdict.certain for verdict in found.verdicts)


@pytest.mark.parametrize(
    "body",
    [
        "return walk(value)",
        "return tuple(walk(v) for v in value)",
        "return walk(value + 1)",
        "return walk(model(value)) if value.mean() > 0 else walk(value)",
        "return walk([value, value]) + walk({'a': value})",
    ],
)
def test_recursion_without_an_end_ends(body: str) -> None:
    code = f"{HEAD}\n\ndef walk(value):\n    {body}\n\n\nwalk(open('data').read())\nwalk(x)\n"
    found = analysed(code)
    assert not found.verdicts


def test_recursion_over_a_structure_of_unknown_depth_leaves_the_rest_in_sight() -> None:
    """Hidden states are detached by a function that calls itself for each of them."""
    code = f"""{HEAD}
def repackage(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage(v) for v in h)


hidden = open('state').read()
for step in range(1000):
    hidden = repackage(hidden)
    loss = model(x).sum()
    loss.backward()
loss.backward()
"""
    found = analysed(code)
    assert seen(found) == [("second-backward", code.count("\n"))]
    assert not found.partial


def test_branches_that_follow_one_another_do_not_multiply() -> None:
    """Each unknown condition writes what the next one may write again: joins are shared, not spelled out."""
    branches = "".join(
        f"if args.a{k}:\n    if args.b{k}:\n        size = {k}\nelif args.c{k}:\n    size = {k} + 1\n"
        for k in range(60)
    )
    code = (
        f"import argparse\n{HEAD}args = argparse.ArgumentParser().parse_args()\nsize = 0\n{branches}"
        "loss = model(x).sum()\nloss.backward()\nloss.backward()\n"
    )
    found = analysed(code)
    assert seen(found) == [("second-backward", code.count("\n"))]
    assert [verdict.certain for verdict in found.verdicts] == [True]


def test_decisions_in_every_iteration_end() -> None:
    code = f"""{HEAD}
for line in open('data'):
    if line.startswith('a'):
        x = model(x)
    elif line.startswith('b'):
        x = x.detach()
    else:
        optimizer.step()
    while line:
        line = line[1:]
        if line == 'c':
            loss = x.sum()
            loss.backward()
"""
    found = analysed(code)
    assert found.paths <= 64


def test_a_file_of_5000_lines_is_analysed_to_its_end() -> None:
    """The steps allowed grow with the file: what is wrong in its last lines is seen, and certain."""
    code = HEAD + LOOP * 834 + "loss.backward()\n"
    assert code.count("\n") > 5_000
    found = analysed(code)
    assert seen(found) == [("second-backward", code.count("\n"))]
    assert [verdict.certain for verdict in found.verdicts] == [True]
    assert not found.partial


def test_steps_are_linear_in_the_length_of_a_file() -> None:
    once, often = analysed(HEAD + LOOP), analysed(HEAD + LOOP * 40)
    assert often.steps <= 40 * once.steps


def test_an_expression_nested_a_thousand_deep() -> None:
    code = (
        HEAD
        + "y = "
        + "(" * 150
        + "x"
        + " * 2)" * 150
        + "\nz = x"
        + " + x" * 1_000
        + "\nloss = model(z).sum()\nloss.backward()\nloss.backward()\n"
    )
    assert seen(analysed(code)) == [("second-backward", code.count("\n"))]


def test_a_loop_that_records_nothing_stops_where_it_costs() -> None:
    """200 evaluation batches without a graph say no more than a few."""
    code = f"""{HEAD}
@torch.no_grad()
def evaluate():
    losses = []
    for k in range(200):
        y = torch.stack([torch.tanh(model(x)) * 2 + 1 for _ in range(8)])
        losses.append(y.mean().item())
    return losses


history = evaluate()
model(x).sum().backward()
"""
    found = analysed(code)
    assert not found.verdicts
    assert found.steps < 150


def test_a_tuple_of_itself_twice_again_and_again() -> None:
    """Few parts, and 2 ** 200 ways to them: each counts once for the place that holds it."""
    found = analysed(HEAD + "x = (model(x),)\n" + "for step in range(6):\n" + "    x = (x, x)\n" * 200)
    assert not found.verdicts
