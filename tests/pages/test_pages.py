"""Every rule has its page in both languages, of one form, with the same code."""

from __future__ import annotations

import ast
import re

import pytest

from loopgrad.rules.catalogue import RULES, RuleInfo

from .parse import EXAMPLE, INSTEAD, LANGUAGES, LOOK_ALIKES, PAGES, SECTIONS, Block, Page, pages, parse

EVERY = [(language, rule) for language in LANGUAGES for rule in RULES.values()]
BLOCKS = [block for page in pages("en") for block in page.blocks]


def page_of(language: str, rule: RuleInfo) -> Page:
    return parse(PAGES / language / rule.page)


@pytest.mark.parametrize(("language", "rule"), EVERY, ids=lambda value: getattr(value, "code", value))
def test_form(language: str, rule: RuleInfo) -> None:
    page = page_of(language, rule)
    assert page.title == f"{rule.code}: {rule.name}"
    assert page.sections == SECTIONS[language]
    for name in page.sections:
        index = SECTIONS[language].index(name)
        has_block = any(block.section == index for block in page.blocks)
        assert page.prose[name] or has_block, f"{name} is empty"
        assert has_block == (index in (EXAMPLE, INSTEAD, LOOK_ALIKES)), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_page_without_a_rule(language: str) -> None:
    assert {page.path.name for page in pages(language)} == {rule.page for rule in RULES.values()}


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_translation_has_the_same_blocks(rule: RuleInfo) -> None:
    english, translated = (page_of(language, rule) for language in LANGUAGES)
    ours, theirs = ([(b.section, b.options, b.code) for b in p.blocks] for p in (english, translated))
    assert ours == theirs


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_off_by_default_says_so(rule: RuleInfo) -> None:
    for language, words in (("en", "off by default"), ("zh-cn", "默认关闭")):
        assert (words in page_of(language, rule).prose[""]) == (not rule.default_on)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_block_says_what_it_shows(block: Block) -> None:
    ast.parse(block.code, feature_version=(3, 10))
    assert max(map(len, re.sub(r"  # (error|warning|information): .*", "", block.code).splitlines())) <= 110
    rule = RULES[block.rule]
    if not rule.default_on:
        assert block.rule in block.select
    if block.section == EXAMPLE:
        assert block.marks and {mark.code for mark in block.marks} == {block.rule}
        assert {mark.severity for mark in block.marks} <= {rule.certain, rule.possible}
        assert block.outcome in rule.outcomes
    else:
        assert not block.marks
        assert block.outcome == "clean"
        assert "fix" not in block.options
    if block.outcome == "none":
        assert block.options.get("observable")
        assert "assert " in block.code
    if block.outcome in ("grows", "silent"):
        assert "steps" in block.options
