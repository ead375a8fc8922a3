"""What all formats share: the outcome of a run, the reader's language, and positions in notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256

from loopgrad.checker import Outcome
from loopgrad.messages import render
from loopgrad.model import Finding, Message
from loopgrad.rules.catalogue import RULES
from loopgrad.source import SourceError, SourceFile


@dataclass
class Report:
    """An outcome to be written. ``load`` reads a file, for snippets and for the cells of notebooks."""

    outcome: Outcome
    load: Callable[[str], SourceFile]
    language: str = "en"
    statistics: bool = False
    show_unused: bool = False
    #: What ``--fix`` did, as (path, sentence).
    fixed: list[tuple[str, str]] = field(default_factory=list)
    #: The comments of ``--add-ignore``, as (path, line, comment).
    ignored: list[tuple[str, int, str]] = field(default_factory=list)

    def say(self, message: Message) -> str:
        return render(message, self.language)

    def text(self, key: str, **args: object) -> str:
        return render(Message.of(key, **args), self.language)

    def count(self, key: str, count: int) -> str:
        """``1 file``, ``2 files``."""
        return self.text(key + (".one" if count == 1 else ".many"), count=count)

    def source(self, path: str) -> SourceFile | None:
        try:
            return self.load(path)
        except SourceError:
            return None

    def place(self, path: str, line: int) -> tuple[int | None, int]:
        """The cell (None outside of notebooks) and the line as the reader counts them."""
        if not path.endswith(".ipynb"):
            return None, line
        source = self.source(path)
        return (None, line) if source is None else source.place(line)

    def file_line(self, path: str, line: int) -> int | None:
        """The line as one of the file itself: in a notebook, of its JSON. None where that cannot be said."""
        if not path.endswith(".ipynb"):
            return line
        source = self.source(path)
        notebook = None if source is None else source.notebook
        return line if notebook is None else notebook.file_line(line)

    def fingerprint(self, finding: Finding) -> str:
        """The same while the rule, the file and the line's text stay, wherever the line moves."""
        source = self.source(finding.path)
        text = "" if source is None else source.line(finding.range.line).strip()
        identity = "\0".join((finding.code, finding.path, text))
        return sha256(identity.encode("utf-8", "replace")).hexdigest()[:32]

    def counts(self) -> list[tuple[str, str, int]]:
        """How often each rule found something: code, name, count, the most frequent first."""
        counter = Counter(finding.code for finding in self.outcome.findings)
        return [
            (code, RULES[code].name if code in RULES else "", count)
            for code, count in sorted(counter.items(), key=lambda item: (-item[1], item[0]))
        ]
