"""What the tests of fixes share: reading marked snippets, and a small engine in the place of the real one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import pytest

from loopgrad.fixes.text import document
from loopgrad.model import FileResult, Finding, FixRequest, Message, Range, Step
from loopgrad.source import SourceFile

MARKS = re.compile("[«»‹›]")


def unmarked(marked: str) -> tuple[str, Range, Range | None]:
    """The text without marks, the range between « and », and the one between ‹ and › if there is one."""
    offsets: dict[str, int] = {}
    for removed, match in enumerate(MARKS.finditer(marked)):
        offsets[match.group()] = match.start() - removed
    text = MARKS.sub("", marked)
    doc = document(text)
    lift = len(doc.bom)
    main = doc.range(offsets["«"] - lift, offsets["»"] - lift)
    other = doc.range(offsets["‹"] - lift, offsets["›"] - lift) if "‹" in offsets else None
    return text, main, other


class Overlay:
    """A provider of texts at hand."""

    def __init__(self, files: Iterable[SourceFile] = (), checked: Iterable[str] | None = None) -> None:
        self.files = {file.path: file for file in files}
        self.checked = frozenset(self.files if checked is None else checked)

    def read(self, path: str) -> SourceFile | None:
        return self.files.get(path)

    def resolve(self, module: str, level: int, from_path: str) -> str | None:
        return None

    def is_checked(self, path: str) -> bool:
        return path in self.checked

    def with_source(self, source: SourceFile) -> Overlay:
        return Overlay([*self.files.values(), source], self.checked)


class Stub:
    """An engine that finds what comments of the snippet say.

    ``x = y  # LG101: append .detach() | append .item()`` is a finding on that line with two candidate fixes,
    until the line has ``.detach()`` or ``.item()``; ``# trained: w unless .detach()`` is a parameter that is
    trained while the whole text does not have that. Counts how often it was asked.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.extra: Callable[[SourceFile], list[Finding]] = lambda source: []

    def __call__(self, source: SourceFile, provider: object, select: frozenset[str]) -> FileResult:
        self.calls += 1
        result = FileResult(source.path)
        trained = set()
        for number, line in enumerate(source.lines, 1):
            said = re.search(r"# (LG\d+)(?: (\w+))?: (.*)", line)
            if said and ".detach()" not in line.split("#")[0] and ".item()" not in line.split("#")[0]:
                finding = self.finding(source, number, said[1], said[3].split(" | "), said[2] or "error")
                if finding.code in select:
                    result.findings.append(finding)
            for name, text in re.findall(r"# trained: (\w+) unless (\S+)", line):
                if text not in re.sub("#.*", "", source.text):
                    trained.add(f"{source.path}:{number}:{name}")
        result.findings += self.extra(source)
        result.trained = frozenset(trained)
        return result

    def finding(
        self, source: SourceFile, number: int, code: str, requests: list[str], severity: str = "error"
    ) -> Finding:
        line = source.line(number)
        code_part = line.split("#")[0].rstrip()
        start = len(line) - len(line.lstrip()) + 1
        value = code_part.index("= ") + 3 if "= " in code_part else start
        steps = []
        for request in requests:
            op, _, text = request.partition(" ")
            if not op:
                continue
            first = value if op in ("append", "replace") else start
            range_ = Range(number, first, number, len(code_part) + 1)
            title = Message.of("test.fix", text=request)
            steps.append(FixRequest(op, title, (Step(op, source.path, range_, text),)))
        return Finding(
            code, "stub", severity, "certain", "second-backward", Message.of("test"), source.path,
            Range(number, start, number, len(code_part) + 1), carriers=(code_part.split(" ")[0],),
            requests=tuple(steps),
        )  # fmt: skip


@pytest.fixture
def stub() -> Stub:
    return Stub()


@pytest.fixture
def marked() -> Callable[[str], tuple[str, Range, Range | None]]:
    return unmarked


@pytest.fixture
def overlay() -> type[Overlay]:
    return Overlay
