"""A check of a few texts that are on no disk."""

from __future__ import annotations

import textwrap

from loopgrad import rules
from loopgrad.messages import render
from loopgrad.model import FileResult, Finding
from loopgrad.source import SourceFile


class Texts:
    """A provider of texts by path; ``import helper`` finds ``helper.py``."""

    def __init__(self, files: dict[str, str], checked: tuple[str, ...] = ("main.py",)) -> None:
        self.files = {path: SourceFile(path, textwrap.dedent(text)) for path, text in files.items()}
        self.checked = checked

    def read(self, path: str) -> SourceFile | None:
        return self.files.get(path)

    def resolve(self, module: str, level: int, from_path: str) -> str | None:
        path = module.replace(".", "/") + ".py"
        return path if path in self.files else None

    def is_checked(self, path: str) -> bool:
        return path in self.checked

    def with_source(self, source: SourceFile) -> Texts:
        other = Texts({}, self.checked)
        other.files = {**self.files, source.path: source}
        return other


def check(
    text: str, *, select: frozenset[str] | None = None, checked: tuple[str, ...] = ("main.py",), **others: str
) -> FileResult:
    """The result for ``main.py`` with this text, beside other files by their module names."""
    files = {"main.py": text, **{f"{name}.py": other for name, other in others.items()}}
    provider = Texts(files, checked)
    return rules.check(provider.files["main.py"], provider, select=select)


def words(finding: Finding, language: str = "en") -> str:
    return render(finding.message, language)
