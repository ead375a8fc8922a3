"""The second pass: which calls led to the statement that built the graph, asked only where something was seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Confirm

Write = Callable[..., Path]

CARRIED = """
import os
import torch

with open(os.environ["RUNS"], "a") as runs:
    runs.write("x")

class Cell(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)
    def forward(self, x, h):
        return torch.tanh(self.layer(x) + h)  # built

cell = Cell()
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)

def train_step(h):
    h = cell(torch.randn(2, 3), h)  # call
    loss = h.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return h

h = torch.zeros(2, 3)
for i in range(4):
    h = train_step(CUT)  # outer
"""


def run(confirm: Confirm, script: Path, *options: str) -> tuple[dict[str, Any], int]:
    """The document, and how often the script has run."""
    counted = confirm.temporary.parent / "runs"
    counted.unlink(missing_ok=True)
    return confirm(script, *options, RUNS=str(counted)), len(counted.read_text())


def lines(script: Path, *marks: str) -> list[int]:
    text = script.read_text().splitlines()
    return [next(n for n, line in enumerate(text, 1) if line.endswith("# " + mark)) for mark in marks]


def test_calls_that_built_it(confirm: Confirm, write: Write) -> None:
    script = write(CARRIED.replace("CUT", "h"))
    document, runs = run(confirm, script)
    built, *through = lines(script, "built", "call", "outer")
    assert (document["outcome"], document["iteration"], runs) == ("second-backward", 2, 2)
    assert document["built_at"]["line"] == built
    assert [at["line"] for at in document["built_through"]] == through
    assert [finding["status"] for finding in document["findings"]] == ["confirmed"]


@pytest.mark.parametrize("change", ["nothing was seen", "no call", "one function", "it writes"])
def test_one_pass_is_enough(confirm: Confirm, write: Write, change: str) -> None:
    text = CARRIED.replace("CUT", "h.detach()" if change == "nothing was seen" else "h")
    if change == "no call":
        text = text[: text.index("def train_step")] + (
            "h = torch.zeros(2, 3)\nfor i in range(4):\n    h = h * cell.layer.weight.mean()\n    h.sum().backward()\n"
        )
    if change == "one function":
        text = text[: text.index("def train_step")] + (
            "def main():\n    h = torch.zeros(2, 3)\n    for i in range(4):\n"
            "        h = h * cell.layer.weight.mean()\n        h.sum().backward()\n\nmain()\n"
        )
    if change == "it writes":
        text = "open('log.txt', 'w').close()\n" + text
    document, runs = run(confirm, write(text))
    assert document["verdict"] == ("clean" if change == "nothing was seen" else "confirmed")
    assert (runs, document["built_through"]) == (1, [])


def test_a_script_that_writes_is_run_again_in_a_copy(confirm: Confirm, write: Write) -> None:
    script = write("open('log.txt', 'w').close()\n" + CARRIED.replace("CUT", "h"))
    document, runs = run(confirm, script, "--scratch-copy")
    assert runs == 2
    assert [at["line"] for at in document["built_through"]] == lines(script, "call", "outer")
    assert [Path(at["path"]).name for at in document["built_through"]] == ["train.py", "train.py"]
    assert not (script.parent / "log.txt").exists()


def test_another_fault_the_second_time_tells_nothing(confirm: Confirm, write: Write) -> None:
    again = "h.detach() if i == 1 and len(open(os.environ['RUNS']).read()) == 2 else h"
    document, runs = run(confirm, write(CARRIED.replace("CUT", again)))
    assert (document["iteration"], runs, document["built_through"]) == (2, 2, [])


def test_growth(confirm: Confirm, write: Write) -> None:
    text = CARRIED.replace("h = train_step(CUT)", "kept.append(train_step(torch.zeros(2, 3)))")
    script = write(
        text.replace("range(4)", "range(9)").replace("h = torch.zeros(2, 3)\nfor", "kept = []\nfor")
    )
    document, runs = run(confirm, script)
    assert (document["outcome"], runs) == ("grows", 2)
    built, *through = lines(script, "built", "call", "outer")
    assert document["built_at"]["line"] == built
    assert [at["line"] for at in document["built_through"]] == through
