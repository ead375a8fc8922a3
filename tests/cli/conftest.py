"""The command line with a tiny engine in place of the real one, so that these tests are about the rest.

The tiny engine finds LG101 (an error) in lines with ``carry(``, LG201 (a warning) in lines with ``grow(``
and LG202 (information) in lines with ``note(``. Its fixes take ``carry`` and ``grow`` away. ``stumble()``
makes it fail, ``limit()`` makes it give up, ``die()`` ends its process.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from loopgrad import checker, messages
from loopgrad.cli import main
from loopgrad.model import Edit, FileResult, Finding, Fix, FixRequest, Message, Partial, Range, Step
from loopgrad.rules.catalogue import RULES
from loopgrad.source import Provider, SourceFile

WORDS = {"carry(": "LG101", "grow(": "LG201", "note(": "LG202"}
SEVERITIES = {"LG101": "error", "LG201": "warning", "LG202": "information"}


def say(text: str) -> Message:
    return Message.of("say", text=text)


def analyse(source: SourceFile, provider: Provider, select: frozenset[str]) -> FileResult:
    result = FileResult(source.path)
    source.tree  # noqa: B018
    for number, line in enumerate(source.lines, 1):
        if "stumble()" in line:
            raise AssertionError("stumbled")
        if "recurse()" in line:
            raise RecursionError
        if "die()" in line:
            os._exit(9)
        if "limit()" in line:
            result.partial.append(Partial(source.path, number, say("too many steps")))
        for word, code in WORDS.items():
            if word in line and code in select:
                start = line.index(word) + 1
                where = Range(number, start, number, start + len(word) - 1)
                elsewhere = Step("replace", "helper.py", Range(1, 1, 1, 1))
                request = FixRequest("detach", say("mend the helper"), (elsewhere,))
                result.findings.append(
                    Finding(
                        code,
                        RULES[code].name,
                        SEVERITIES[code],
                        "certain",
                        RULES[code].outcomes[0],
                        say(f"found {word[:-1]}"),
                        source.path,
                        where,
                        requests=(request,) if "helper" in line else (),
                    )
                )
    return result


def offer(
    finding: Finding, source: SourceFile, provider: Provider, baseline: FileResult, select: frozenset[str]
) -> tuple[Fix, ...]:
    edit = Edit(source.path, finding.range, "")
    return (Fix(say("take it away"), "detach", finding.code != "LG202", (), (edit,)),)


def fix_all(
    source: SourceFile, provider: Provider, select: frozenset[str]
) -> tuple[str, list[str | Message]]:
    lines, titles = [], []
    for line in source.text.splitlines(keepends=True):
        mended = (
            line
            if "ignore" in line or "helper" in line
            else line.replace("carry(", "(").replace("grow(", "(")
        )
        if mended != line:
            titles.append(say("took it away"))
        lines.append(mended.replace("spoil()", ")"))
    return "".join(lines), list(titles)


def fix_across(source: SourceFile, provider: Provider, select: frozenset[str]) -> dict[str, str]:
    """The fix of a line with ``carry(`` and ``helper`` lies in helper.py."""
    helper = provider.read("helper.py")
    assert helper is not None
    return {"helper.py": helper.text + "mended = True\n"}


@pytest.fixture(autouse=True)
def tiny_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    for function in (analyse, offer, fix_all, fix_across):
        monkeypatch.setattr(checker, function.__name__, function)
    real = messages.catalogue
    monkeypatch.setattr(messages, "catalogue", lambda language: {**real(language), "say": "{text}"})
    for name in ("NO_COLOR", "FORCE_COLOR", "LOOPGRAD_DEBUG"):
        monkeypatch.delenv(name, raising=False)


@dataclass
class Result:
    status: int
    out: str
    err: str


@dataclass
class Shell:
    """A working folder and the command ``loopgrad`` in it."""

    folder: Path
    capture: pytest.CaptureFixture[bytes]
    monkeypatch: pytest.MonkeyPatch

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def read(self, name: str) -> str:
        return (self.folder / name).read_bytes().decode()

    def __call__(self, *argv: str, stdin: bytes = b"") -> Result:
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self.capture.readouterr()
        try:
            status = main(argv)
        except SystemExit as end:  # argparse
            status = end.code if isinstance(end.code, int) else 1
        out, err = self.capture.readouterr()
        return Result(status, out.decode(), err.decode())


@pytest.fixture
def loopgrad(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path, capsysbinary, monkeypatch)


#: What the tiny engine of these tests takes for an import.
IMPORT = re.compile(r"from (\.*)(\w*) import \w+")


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Gives the files that were analysed since it was asked last. The tiny engine reads what a file imports."""
    done: list[str] = []
    plain = checker.analyse

    def follow(source: SourceFile, provider: Provider, seen: set[str]) -> None:
        for dots, module in IMPORT.findall(source.text):
            path = provider.resolve(module, len(dots), source.path)
            if path is not None and path not in seen:
                seen.add(path)
                other = provider.read(path)
                if other is not None:
                    follow(other, provider, seen)

    def analyse(source: SourceFile, provider: Provider, select: frozenset[str]) -> FileResult:
        done.append(source.path)
        follow(source, provider, {source.path})
        return plain(source, provider, select)

    def since() -> list[str]:
        found = sorted(done)
        done.clear()
        return found

    monkeypatch.setattr(checker, "analyse", analyse)
    return since
