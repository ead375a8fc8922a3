"""Runs the pages in ``operations/``: each section is an edit, with the text before and after it.

Under a heading stands the operation, ``op`` `text`, then the text before it with marks («the range», ‹the
other range›), then the text after it, or ``refused``. (The blocks are not called ``py``, so that no formatter
tidies them.) The words behind ``before`` say what cannot be seen: ``crlf`` line ends, a ``bom``,
``no-newline`` at the end of the file (and ``newline`` behind ``after`` where the edit brings one).
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from loopgrad.fixes.edits import EditError, file_edits
from loopgrad.fixes.text import apply
from loopgrad.model import Step

PAGES = sorted((Path(__file__).parent / "operations").glob("*.md"))
SECTION = re.compile(
    r"^### (?P<title>.+)\n+`(?P<op>\w+)`(?: `(?P<text>.*)`)?\n(?P<rest>(?s:.*?))(?=^### |\Z)", re.M
)
BLOCK = re.compile(r"^```(?P<flags>[\w -]+)\n(?P<body>(?s:.*?))^```$", re.M)


def sections():
    for page in PAGES:
        content = page.read_text(encoding="utf-8")
        found = list(SECTION.finditer(content))
        assert len(found) == content.count("\n### "), f"{page.name} has a section that cannot be read"
        for section in found:
            yield pytest.param(section, id=f"{page.stem}: {section['title']}")


def shaped(block: re.Match[str]) -> str:
    flags, text = block["flags"].split(), block["body"]
    if "no-newline" in flags:
        text = text.removesuffix("\n")
    if "crlf" in flags:
        text = text.replace("\n", "\r\n")
    return "\ufeff" + text if "bom" in flags else text


@pytest.mark.parametrize("section", list(sections()))
def test_operation(section, marked):
    before, after = BLOCK.finditer(section["rest"])
    text, range_, other = marked(shaped(before))
    written = (section["text"] or "").replace("\\n", "\n")
    step = Step(section["op"], "t.py", range_, written, other)
    if after["flags"].strip() == "refused":
        with pytest.raises(EditError):
            file_edits("t.py", text, [step])
        return
    edits = file_edits("t.py", text, [step])
    flags = before["flags"] if "newline" not in after["flags"] else before["flags"].replace("no-newline", "")
    expected = shaped(BLOCK.match(f"```{flags}\n{after['body']}```"))
    result = apply(text, edits)
    assert result == expected
    ast.parse(result.removeprefix("\ufeff"))
    assert all(edit.new_text or edit.range.line != edit.range.end_line or
               edit.range.column != edit.range.end_column for edit in edits)  # fmt: skip
