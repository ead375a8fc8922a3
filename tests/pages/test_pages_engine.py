"""The analyser says what the pages' marks say, no more and no less, and its fixes do what they claim."""

from __future__ import annotations

import functools
import re
from collections import Counter

import pytest

from loopgrad.model import FileResult, Finding, Fix
from loopgrad.rules.catalogue import RULES
from loopgrad.source import FileProvider, SourceFile

from .parse import EXAMPLE, Block, pages

BLOCKS = [block for page in pages("en") for block in page.blocks]
BAD = [block for block in BLOCKS if block.section == EXAMPLE]


def source_of(block: Block) -> SourceFile:
    if block.is_notebook:
        return SourceFile.from_bytes("page.ipynb", block.notebook().encode())
    return SourceFile("page.py", block.code)


def provider_of(source: SourceFile) -> FileProvider:
    provider = FileProvider([source.path])
    provider.put(source)
    return provider


def selected(block: Block) -> frozenset[str]:
    return frozenset(code for code, rule in RULES.items() if rule.default_on) | frozenset(block.select)


def analyse(source: SourceFile, block: Block) -> FileResult:
    from loopgrad import rules

    return rules.check(source, provider_of(source), select=selected(block))


@functools.cache
def offered(block_name: str) -> list[tuple[Finding, tuple[Fix, ...]]]:
    """Each finding of a bad block with its checked fixes, suppressions left out."""
    from loopgrad import fixes

    block = next(block for block in BAD if block.name == block_name)
    source = source_of(block)
    provider = provider_of(source)
    return [
        (finding, tuple(fix for fix in fixes.offer(finding, source, provider) if fix.kind != "suppress"))
        for finding in analyse(source, block).findings
    ]


def line_in(block: Block, source: SourceFile, finding: Finding) -> int:
    cell, line = source.place(finding.range.line)
    return line if cell is None else block.cells()[cell - 1][0] + line - 1


def words(finding: Finding) -> str:
    from loopgrad import messages

    return messages.render(finding.message, "en")


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_findings_are_the_marks(block: Block) -> None:
    source = source_of(block)
    result = analyse(source, block)
    assert not result.partial and not result.problems
    said = Counter((line_in(block, source, f), f.severity, f.code) for f in result.findings)
    assert said == Counter((m.line, m.severity, m.code) for m in block.marks)
    for finding in result.findings:
        assert finding.outcome == block.outcome
        if finding.severity != "information":
            assert finding.certainty == "certain"
        for mark in block.marks:
            if mark.text and mark.line == line_in(block, source, finding) and mark.code == finding.code:
                assert mark.text in words(finding)


@pytest.mark.parametrize("block", [b for b in BAD if "fix" in b.options], ids=lambda block: block.name)
def test_kind_of_the_preferred_fix(block: Block) -> None:
    kinds = [fix.kind for _, fixes in offered(block.name) for fix in fixes if fix.preferred]
    if block.options["fix"] == "none":
        assert not [fix for _, fixes in offered(block.name) for fix in fixes]
    else:
        assert set(kinds) == {block.options["fix"]}


@pytest.mark.parametrize("block", BAD, ids=lambda block: block.name)
def test_fixes_end_their_finding(block: Block) -> None:
    source = source_of(block)
    before = Counter(finding.code for finding in analyse(source, block).findings)
    for finding, fixes in offered(block.name):
        for fix in fixes:
            changed = source.with_text(source.apply(fix.edits))
            after = Counter(f.code for f in analyse(changed, block).findings)
            assert after == before - Counter([finding.code]), fix.kind


@pytest.mark.parametrize("block", [b for b in BAD if not b.is_notebook], ids=lambda block: block.name)
def test_fixed_blocks_run(block: Block) -> None:
    pytest.importorskip("torch")
    from tests.torch_runner.run_block import RAISING, observe

    source = source_of(block)
    for _, fixes in offered(block.name):
        for fix in fixes:
            text = source.apply(fix.edits)
            if block.outcome == "none":  # the assertions show the fault, not the program
                text = re.sub(r"^( *)assert .*\n", "", text, flags=re.MULTILINE)
            report = observe(text, steps=block.options.get("steps"))
            if fix.preferred and len(block.marks) == 1:
                assert report.outcome == "clean", (fix.kind, report, text)
            assert report.outcome not in RAISING, (fix.kind, report, text)
