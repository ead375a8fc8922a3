"""A snippet with its findings marked in it, judged by PyTorch first and by the analysis after.

A line that has a finding ends with ``# error: LG101``, ``# warning: LG201`` or ``# information: LG202``; a snippet
without a mark is right. The marks are exact, both ways. What PyTorch shows when it runs the snippet has to be what
the marked findings claim: it raises in the line that they name, or it grows, or nothing happens.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Mapping

import pytest

from loopgrad.model import RAISING, FileResult
from loopgrad.rules import check
from loopgrad.rules.catalogue import RULES

pytest.importorskip("torch")

from tests.rules.helpers import Texts
from tests.torch_runner.run_block import Report, observe

MARK = re.compile(r"# (error|warning|information): (LG\d{3})")
DEFAULT = frozenset(code for code, rule in RULES.items() if rule.default_on)


def written(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


def marks(source: str) -> Counter[tuple[int, str, str]]:
    """The line, the severity and the code of each mark."""
    return Counter(
        (number, found[1], found[2])
        for number, line in enumerate(source.splitlines(), 1)
        for found in MARK.finditer(line)
    )


def analysed(source: str, files: Mapping[str, str] | None = None) -> FileResult:
    named = {**(files or {}), "snippet.py": source}
    texts = Texts(named, checked=tuple(named))
    return check(texts.files["snippet.py"], texts, select=DEFAULT)


def judge(text: str, files: Mapping[str, str] | None = None, outcome: str | None = None) -> None:
    """Runs a snippet under PyTorch and asks the analysis. ``N = 6`` on a line of its own lets growth be seen.

    ``outcome`` is PyTorch's word where that is not what the severe findings claim (``none`` is no word of it).
    """
    source = written(text)
    others = {name: written(other) for name, other in (files or {}).items()}
    report = observed(source, others)
    result = analysed(source, others)
    assert not result.partial
    if report.outcome not in RAISING:
        assert not result.fails, f"the analysis takes the program to end with {set(result.fails)}"
    said = Counter((f.range.line, f.severity, f.code) for f in result.findings if f.path == "snippet.py")
    severe = [f for f in result.findings if f.severity != "information"]
    claimed = {f.outcome for f in severe} - {"none"}
    judged = f"PyTorch: {report.outcome} {report.facts} {(report.error or '')[:80]} at line {report.line}"
    marked = marks(source)
    assert said == marked, f"unmarked {list(said - marked)}, not found {list(marked - said)}; {judged}"
    assert claimed == {outcome or report.outcome} - {"clean"}, f"claimed {claimed}; {judged}"
    for finding in severe:
        if finding.raised_at is not None and report.line is not None:
            assert finding.raised_at[1].line in report.lines


def observed(source: str, files: Mapping[str, str] | None = None) -> Report:
    """What PyTorch shows. An error of another kind than those that findings claim is a mistake of the snippet."""
    report = observe(source, steps="N" if "\nN = " in source else None, files=files)
    assert report.outcome != "error", (report.error, report.line)
    return report
