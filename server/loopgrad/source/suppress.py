"""Comments that silence findings.

``# loopgrad: ignore`` silences every finding of its line, ``# loopgrad: ignore[LG101,LG2]`` those codes (a
prefix stands for all codes that begin with it). The comment may stand on the line that is reported or on
the first or the last line of that line's statement. ``# loopgrad: ignore-file``, with or without codes, in
the comments at the top silences the file.
"""

from __future__ import annotations

import ast
import re
import tokenize
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loopgrad.model import Finding
from loopgrad.source.parse import as_python, split_lines

if TYPE_CHECKING:
    from loopgrad.source.file import SourceFile

#: The comment; its groups are "-file" and the codes.
COMMENT = re.compile(
    r"#\s*loopgrad:\s*ignore(-file)?(?:\s*\[([^\]]*)\]|(?!\s*\[|[\w-]))",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Ignore:
    """One comment, by its place. ``codes`` is None for a comment that silences every code."""

    line: int
    column: int
    codes: tuple[str, ...] | None
    whole_file: bool = False

    def match(self, code: str) -> str | None:
        """What of the comment silences ``code``: the entry as written, "" for all; None if nothing does."""
        if self.codes is None:
            return ""
        return next((entry for entry in self.codes if entry and code.startswith(entry)), None)


@dataclass(frozen=True)
class Suppressions:
    """A file's comments, by line."""

    source: SourceFile | None = field(default=None, repr=False)
    ignores: tuple[Ignore, ...] = ()

    @property
    def everything(self) -> bool:
        """Whether the whole file is silenced, so that there is no need to analyse it."""
        return any(ignore.whole_file and ignore.codes is None for ignore in self.ignores)

    def find(self, finding: Finding) -> tuple[Ignore, str] | None:
        """The comment that silences a finding of this file and the entry of it that does, or None."""
        if not self.ignores or self.source is None:
            return None
        lines = candidate_lines(self.source, finding)
        for ignore in self.ignores:
            if ignore.whole_file or ignore.line in lines:
                entry = ignore.match(finding.code)
                if entry is not None:
                    return ignore, entry
        return None


def read_suppressions(source: SourceFile) -> Suppressions:
    """The comments of a file. Only a text that holds the word is tokenized."""
    if "loopgrad:" not in source.text.lower():
        return Suppressions()
    ignores: list[Ignore] = []
    at_top = True
    for token in tokens(source):
        if token.type == tokenize.COMMENT:
            for found in COMMENT.finditer(token.string):
                codes = None if found[2] is None else _codes(found[2])
                if not found[1]:
                    ignores.append(Ignore(token.start[0], token.start[1] + found.start() + 1, codes, False))
                elif at_top:
                    ignores.append(Ignore(token.start[0], token.start[1] + found.start() + 1, codes, True))
        elif token.type not in (tokenize.NL, tokenize.ENCODING):
            at_top = False
    return Suppressions(source, tuple(ignores))


def tokens(source: SourceFile) -> list[tokenize.TokenInfo]:
    """The file's tokens as far as they can be had; columns count characters from 0."""
    lines = iter([line + "\n" for line in split_lines(as_python(source.text))])
    found: list[tokenize.TokenInfo] = []
    try:
        found.extend(tokenize.generate_tokens(lambda: next(lines, "")))
    except (tokenize.TokenError, SyntaxError):
        pass
    return found


def _codes(text: str) -> tuple[str, ...]:
    return tuple(part.strip().upper() for part in text.split(",") if part.strip())


def candidate_lines(source: SourceFile, finding: Finding) -> tuple[int, ...]:
    """The lines where a comment silences a finding, best for a new comment first."""
    line = finding.range.line
    first, last = statement_lines(source.tree, line)
    return tuple(dict.fromkeys((line, last, first)))


def statement_lines(tree: ast.Module, line: int) -> tuple[int, int]:
    """The first and the last line of the innermost statement at a line.

    Of a compound statement (``for``, ``with``, ``def``) only the head counts, not its body.
    """
    span = (line, line)
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        first, last = _extent(node)
        if not first <= line <= last:
            continue
        body = _children(node)
        head_last = max(first, min((_extent(child)[0] for child in body), default=last + 1) - 1)
        if isinstance(node, ast.stmt) and line <= head_last:
            span = (first, min(head_last, last))
            if not body or line < _extent(body[0])[0]:
                return span
        todo = body
    return span


def _extent(node: ast.AST) -> tuple[int, int]:
    first: int = getattr(node, "lineno", 0)
    for decorator in getattr(node, "decorator_list", ()):
        first = min(first, decorator.lineno)
    if isinstance(node, ast.match_case):
        first = node.pattern.lineno
        return first, node.body[-1].end_lineno or first
    return first, getattr(node, "end_lineno", None) or first


def _children(node: ast.AST) -> list[ast.AST]:
    """The statements (and handlers and cases) inside a statement, in order."""
    found: list[ast.AST] = []
    for name in ("body", "cases", "handlers", "orelse", "finalbody"):
        part = getattr(node, name, None)
        if isinstance(part, list):
            found.extend(part)
    return found
