"""What the analysis says about programs that are run by a framework, and what the real package says of them.

A page of ``pages`` is a library: its blocks are programs with the findings at the end of the lines, in the form of
the rules' pages (``tests/pages/parse.py``). What the analysis says is checked everywhere. Whether PyTorch bears it
out is asked of the real package, where the interpreter that ``LOOPGRAD_FRAMEWORKS`` names (else that of the tests)
has it: ``pip install -e '.[frameworks]'``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from loopgrad import rules
from loopgrad.messages import render
from loopgrad.source import FileProvider, SourceFile
from tests.pages.parse import Block, parse

PYTHON = os.environ.get("LOOPGRAD_FRAMEWORKS", sys.executable)
ROOT = Path(__file__).resolve().parents[2]
PAGES = {path: parse(path) for path in sorted((Path(__file__).parent / "pages").glob("*.md"))}
BLOCKS = [block for page in PAGES.values() for block in page.blocks]


def label(block: Block) -> str:
    title = PAGES[block.page].sections[block.section]
    return f"{block.page.stem}:{title}:{block.number}"


@pytest.mark.parametrize("block", BLOCKS, ids=label)
def test_findings(block: Block) -> None:
    source = SourceFile("program.py", block.code)
    provider = FileProvider([source.path])
    provider.put(source)
    result = rules.check(source, provider)
    assert not result.partial
    said = Counter((f.range.line, f.severity, f.code) for f in result.findings)
    assert said == Counter((m.line, m.severity, m.code) for m in block.marks)
    for finding in result.findings:
        assert finding.outcome in ("none", block.outcome)
        for mark in block.marks:
            if mark.text and (mark.line, mark.code) == (finding.range.line, finding.code):
                assert mark.text in render(finding.message, "en")


@cache
def reports(page: Path) -> list[dict[str, Any]]:
    """What the real package shows of each block of a page."""
    run = subprocess.run(
        [PYTHON, "-m", "tests.frameworks.run_page", str(page)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    found = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    assert len(found) == len(PAGES[page].blocks), run.stderr[-2000:]
    return found


@pytest.mark.parametrize("block", BLOCKS, ids=label)
def test_the_package_bears_it_out(block: Block) -> None:
    report = reports(block.page)[PAGES[block.page].blocks.index(block)]
    error = report["error"] or ""
    if error.startswith(("not installed: ", "not run: ")):
        pytest.skip(error)
    assert report["outcome"] == block.outcome, error or report["facts"]
