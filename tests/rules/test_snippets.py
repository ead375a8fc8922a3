"""The Markdown files in ``snippets`` are tests: blocks of code with the findings at the end of the lines.

The form is that of the rules' pages (see ``tests/pages/parse.py``): the marks are exact both ways, the option
``fix`` is the kind of the preferred fix, and what it makes stands in a block below it that says ``fixed``.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from loopgrad import fixes, rules
from loopgrad.messages import render
from loopgrad.rules.catalogue import RULES
from loopgrad.source import FileProvider, SourceFile
from tests.pages.parse import Block, parse

SNIPPETS = Path(__file__).parent / "snippets"
BLOCKS = [block for path in sorted(SNIPPETS.glob("*.md")) for block in parse(path).blocks]
SECTIONS = {path: parse(path).sections for path in sorted(SNIPPETS.glob("*.md"))}


def label(block: Block) -> str:
    return f"{block.page.stem}:{SECTIONS[block.page][block.section]}:{block.number}"


def read(block: Block) -> tuple[SourceFile, FileProvider, frozenset[str]]:
    source = SourceFile("snippet.py", block.code)
    provider = FileProvider([source.path])
    provider.put(source)
    codes = frozenset(code for code, rule in RULES.items() if rule.default_on) | frozenset(block.select)
    return source, provider, codes


@pytest.mark.parametrize("block", BLOCKS, ids=label)
def test_findings(block: Block) -> None:
    source, provider, codes = read(block)
    result = rules.check(source, provider, select=codes)
    assert not result.partial
    said = Counter((f.range.line, f.severity, f.code) for f in result.findings)
    assert said == Counter((m.line, m.severity, m.code) for m in block.marks)
    for finding in result.findings:
        for mark in block.marks:
            if mark.text and (mark.line, mark.code) == (finding.range.line, finding.code):
                assert mark.text in render(finding.message, "en")


@pytest.mark.parametrize("block", [block for block in BLOCKS if "fix" in block.options], ids=label)
def test_preferred_fix(block: Block) -> None:
    """The preferred fix is of the kind that is named and makes the block that follows."""
    source, provider, codes = read(block)
    result = rules.check(source, provider, select=codes)
    preferred = [
        fix
        for finding in result.findings
        if finding.severity != "information"
        for fix in fixes.offer(finding, source, provider)
        if fix.preferred
    ]
    if block.options["fix"] == "none":
        assert preferred == []
        return
    assert {fix.kind for fix in preferred} == {block.options["fix"]}
    following = BLOCKS[BLOCKS.index(block) + 1]
    assert not following.marks and following.section == block.section, "the fixed text stands below"
    assert len(preferred) == 1
    assert bare(source.apply(preferred[0].edits)) == bare(following.code)


def bare(code: str) -> list[str]:
    """The lines without marks and without the blanks at their ends."""
    return [line.split("  # error: ")[0].split("  # warning: ")[0].rstrip() for line in code.splitlines()]
