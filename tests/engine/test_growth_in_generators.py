"""What a generator carries from one value to the next lives as long as the loop that asks for the values.

Programs that the oracle generated, cut down to what mattered: PyTorch runs each, and the analysis has to agree.
"""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("torch")

from loopgrad.rules import check
from loopgrad.source import FileProvider, SourceFile
from tests.engine.told import EVERY, HEAD, every_run_is_told

#: A generator that carries its state, kept by nobody but the loop that goes over it.
STREAM = """
def losses(steps):
    h = 4
    for _ in range(steps):
        h = (w * torch.randn(3)) + h
        yield h
"""

PROGRAMS: dict[str, tuple[list[str], str]] = {
    "a loop that keeps nothing of the values": (
        ["grows"] * EVERY,
        """
        for current in losses(N):
            pass
        """,
    ),
    "a loop that cuts the values, and not the generator's state": (
        ["grows"] * EVERY,
        """
        for current in losses(N):
            current = current.detach()
        """,
    ),
    "a generator that is counted along": (
        ["grows"] * EVERY,
        """
        for step, current in enumerate(losses(N)):
            current = current.detach()
        """,
    ),
    "a generator beside another": (
        ["grows"] * EVERY,
        """
        for step, current in zip(range(N), losses(N)):
            current = current.detach()
        """,
    ),
    "a value that is named like the generator's state": (
        ["grows"] * EVERY,
        """
        for h in losses(N):
            h = h.detach()
        """,
    ),
    "a generator made anew for each step lets go of its state": (
        ["clean"] * EVERY,
        """
        for step in range(N):
            for current in losses(2):
                current = current.detach()
        """,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_generated_program(name: str) -> None:
    outcomes, text = PROGRAMS[name]
    every_run_is_told(outcomes, STREAM + textwrap.dedent(text))


def test_the_state_is_the_cause_and_not_the_value_it_gives() -> None:
    source = HEAD + STREAM + "for current in losses(N):\n    pass\n"
    findings = check(SourceFile("program.py", source), FileProvider([])).findings
    assert [(each.code, each.carriers) for each in findings] == [("LG203", ("h",))]
