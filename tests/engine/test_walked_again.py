"""Generated programs that walk an old graph again without an exception, on which the analysis once disagreed.

Each is cut down to what mattered and run under PyTorch with every assignment of its conditions; the analysis has to
agree with all of these runs (``tests/oracle`` says how). Named after what they taught.
"""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("torch")

from loopgrad.rules import check
from loopgrad.source import FileProvider, SourceFile
from tests.engine.told import EVERY, HEAD, every_run_is_told

PROGRAMS: dict[str, tuple[list[str], str]] = {
    "a mean saves nothing, so that its sum over the last iterations counts them twice": (
        ["clean"] * EVERY,
        """
        losses = []
        for i in range(N):
            loss = u.mean()
            loss.backward()
            losses.append(loss)
            if i % 3 == 2:
                sum(losses).backward()
                losses = []
        """,
    ),
    "the mean of what an optimizer has changed since": (
        ["clean"] * EVERY,
        """
        opt = torch.optim.SGD([w, u])
        for i in range(N):
            loss = (w + u).mean()
            for j in range(2):
                loss.backward()
                opt.step()
        """,
    ),
    "a graph that was freed above the loop whose update makes it stale": (
        ["clean"] * EVERY,
        """
        f = torch.roll(w, 1)
        first, second = f.sum(), f.sum()
        first.backward()
        for j in range(3):
            second.backward(retain_graph=True)
            with torch.no_grad():
                w -= 0.01
        """,
    ),
    "a graph that was freed above a loop which changes nothing": (
        ["clean"] * EVERY,
        """
        f = torch.roll(w, 1)
        first, second = f.sum(), f.sum()
        first.backward()
        for j in range(3):
            second.backward(retain_graph=True)
        """,
    ),
}
SILENT = list(PROGRAMS)[:3]


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_run_is_told(name: str) -> None:
    outcomes, text = PROGRAMS[name]
    every_run_is_told(outcomes, text)
    findings = check(SourceFile("program.py", HEAD + textwrap.dedent(text)), FileProvider([])).findings
    assert any(finding.outcome == "silent" for finding in findings) == (name in SILENT)
