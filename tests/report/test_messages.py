"""Sentences exist in every language, with the same blanks."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

import loopgrad
from loopgrad import messages
from loopgrad.messages import catalogue, language_of, render
from loopgrad.model import Message
from loopgrad.rules.catalogue import RULES


@pytest.fixture(autouse=True)
def words() -> None:
    """The real catalogues, not those of the other tests here."""


def blanks(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


def test_both_catalogues_are_complete() -> None:
    english, chinese = catalogue("en"), catalogue("zh-cn")
    assert english.keys() == chinese.keys()
    differing = [key for key in english if blanks(english[key]) != blanks(chinese[key])]
    assert differing == []


def test_every_key_that_this_part_uses_exists() -> None:
    server = Path(loopgrad.__file__).parent
    files = [*server.glob("*.py"), *server.glob("report/*.py"), *server.glob("source/*.py")]
    pattern = re.compile(
        r"""["']((?:source|check|ignore|usage|config|report|rule)\.[a-z][\w.-]*[a-z0-9])["']"""
    )
    used = {key for file in files for key in pattern.findall(file.read_text(encoding="utf-8"))}
    known = catalogue("en").keys()
    counted = {key for key in used if key + ".one" in known and key + ".many" in known}
    assert used - counted - known == set()
    assert len(used) > 40


def test_every_rule_has_its_sentence() -> None:
    for code in RULES:
        assert render(Message.of(f"rule.{code}"), "zh-cn") != render(Message.of(f"rule.{code}"))


def test_an_unknown_key_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        render(Message.of("no.such.key"))


def test_a_sentence_that_a_translation_lacks_is_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "catalogue", {"en": {"a": "only {x}"}, "zh-cn": {}}.__getitem__)
    assert render(Message.of("a", x=1), "zh-cn") == "only 1"


def test_messages_and_lists_within_messages() -> None:
    inner = Message.of("source.missing")
    assert (
        render(Message.of("report.partial", reason=inner)) == "analysed in part only: there is no such file"
    )
    names = Message.of("report.fix", title=("w", "b"))
    assert (render(names), render(names, "zh-cn")) == ("fix: w, b", "修复：w、b")


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("zh-CN", "zh-cn"),
        ("zh_CN.UTF-8", "zh-cn"),
        ("zh-Hans-SG", "zh-cn"),
        ("zh-TW", "en"),
        ("de", "en"),
        (None, "en"),
    ],
)
def test_the_language_for_a_locale(tag: str | None, language: str) -> None:
    assert language_of(tag) == language
