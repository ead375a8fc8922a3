"""Unified diffs that ``patch`` takes."""

from __future__ import annotations

from difflib import unified_diff

from loopgrad.report.style import Style
from loopgrad.source import SourceFile
from loopgrad.source.parse import split_keeping_ends


def diff(source: SourceFile, new: bytes, style: Style) -> str:
    """The change from a file's bytes to ``new``; of a notebook, the change of its JSON."""
    encoding = "utf-8" if source.notebook is not None else source.encoding.name
    before = split_keeping_ends(source.encode().decode(encoding))
    after = split_keeping_ends(new.decode(encoding))
    rows = []
    for row in unified_diff(before, after, source.path, source.path):
        end = row[len(row.rstrip("\r\n")) :]
        text = row[: len(row) - len(end)]
        if row.startswith(("---", "+++")):
            text = style("strong", text)
        elif row.startswith("@@"):
            text = style("note", text)
        elif row.startswith("+"):
            text = style("added", text)
        elif row.startswith("-"):
            text = style("removed", text)
        rows.append(text + (end or "\n\\ No newline at end of file\n"))
    return "".join(rows)
