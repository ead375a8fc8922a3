"""What a program is judged by: PyTorch runs it, and the analysis has to say the same."""

from __future__ import annotations

import textwrap

from loopgrad.rules import check
from loopgrad.source import FileProvider, SourceFile
from tests.oracle.judge import judge
from tests.torch_runner.run_block import observe

#: What programs of generated ones begin with: two conditions and some leaves.
HEAD = """
import argparse
import torch
from torch import nn
import torch.nn.functional as F
parser = argparse.ArgumentParser()
parser.add_argument("--a", action="store_true")
parser.add_argument("--b", action="store_true")
args = parser.parse_args()
N = 6
w = torch.randn(3, requires_grad=True)
u = nn.Parameter(torch.randn(3))
m = nn.Parameter(torch.randn(3, 3))
"""
#: The assignments of these conditions.
EVERY = 4


def says_what_torch_does(outcome: str, text: str) -> None:
    """Asserts that a program has an outcome in PyTorch, and that the findings are certain of just that."""
    source = textwrap.dedent(text).lstrip()
    assert outcome != "clean" or "\nN = " in source, "without a number of steps growth would not show"
    report = observe(source, steps="N" if "\nN = " in source else None)
    assert report.outcome == outcome, "this is no longer what torch does"
    found = [
        f
        for f in check(SourceFile("program.py", source), FileProvider([])).findings
        if f.severity != "information"
    ]
    assert {finding.outcome for finding in found} == ({outcome} - {"clean", "error"})
    raising = [finding for finding in found if finding.raised_at is not None]
    assert all(finding.certainty == "certain" for finding in found)
    assert all(
        finding.raised_at is not None and finding.raised_at[1].line == report.line for finding in raising
    )


def every_run_is_told(outcomes: list[str], text: str) -> None:
    """Asserts that a program has an outcome in PyTorch for each assignment of `HEAD`'s conditions, in order, and that
    no claim, no fix and no witness of the analysis disagrees with these runs."""
    verdict = judge(HEAD + textwrap.dedent(text))
    assert [run["outcome"] for run in verdict["runs"]] == outcomes, "this is no longer what torch does"
    assert verdict["disagreements"] == []
