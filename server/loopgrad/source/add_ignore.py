"""Writes ``# loopgrad: ignore[...]`` comments for findings (``check --add-ignore``)."""

from __future__ import annotations

import tokenize
from collections.abc import Iterable

from loopgrad.model import Finding
from loopgrad.source.file import SourceFile
from loopgrad.source.parse import split_keeping_ends
from loopgrad.source.suppress import COMMENT, candidate_lines, tokens


def add_ignores(source: SourceFile, findings: Iterable[Finding]) -> tuple[str, dict[int, str]]:
    """The text with a comment for each finding, and the comments by line.

    A comment goes on the reported line, or on the last or first line of its statement where that line ends
    within a string or is continued by a backslash. A comment of ours that is there already gets the code.
    """
    free = _lines_open_to_comments(source)
    codes: dict[int, set[str]] = {}
    for finding in findings:
        line = next((line for line in candidate_lines(source, finding) if line in free), None)
        if line is not None:
            codes.setdefault(line, set()).add(finding.code)
    lines = split_keeping_ends(source.text)
    comments: dict[int, str] = {}
    for line, new in codes.items():
        text = source.line(line)
        end = lines[line - 1][len(text) :]
        column = free[line]
        found = COMMENT.search(text, column) if column is not None else None
        if found is not None and not found[1] and found[2] is not None:
            new = new | {code.strip().upper() for code in found[2].split(",") if code.strip()}
            comment = _comment(new)
            lines[line - 1] = text[: found.start()] + comment + text[found.end() :] + end
        else:
            comment = _comment(new)
            lines[line - 1] = text.rstrip() + "  " + comment + end
        comments[line] = comment
    return "".join(lines), comments


def _comment(codes: set[str]) -> str:
    return f"# loopgrad: ignore[{','.join(sorted(codes))}]"


def _lines_open_to_comments(source: SourceFile) -> dict[int, int | None]:
    """The lines whose end is outside of strings and not escaped, with the column of their comment if any."""
    lines: dict[int, int | None] = {}
    comments: dict[int, int] = {}
    format_depth = 0
    for token in tokens(source):
        name = tokenize.tok_name[token.type]
        if name == "FSTRING_START":  # from Python 3.12 on, f-strings come in parts
            format_depth += 1
        elif name == "FSTRING_END":
            format_depth -= 1
        elif token.type == tokenize.COMMENT:
            comments[token.start[0]] = token.start[1]
        elif token.type in (tokenize.NEWLINE, tokenize.NL) and not format_depth:
            lines[token.start[0]] = comments.get(token.start[0])
    return lines
