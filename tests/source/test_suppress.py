"""Comments that silence: where they may stand, what they name, and how they are added."""

from __future__ import annotations

import pytest

from loopgrad.model import Finding, Message, Range
from loopgrad.source import SourceFile
from loopgrad.source.add_ignore import add_ignores


def finding(line: int, code: str = "LG101", column: int = 1) -> Finding:
    where = Range(line, column, line, column + 1)
    return Finding(code, "name", "error", "certain", "second-backward", Message("m"), "a.py", where)


def silenced(text: str, line: int, code: str = "LG101") -> bool:
    return SourceFile("a.py", text).suppressions.find(finding(line, code)) is not None


CALL = """\
x = f(  {first}
    a,  {middle}
    b,
)  {last}
y = 2
"""


def call(**comments: str) -> str:
    return CALL.format(**{"first": "", "middle": "", "last": "", **comments})


def test_the_reported_line_and_the_ends_of_its_statement() -> None:
    ignore = "# loopgrad: ignore"
    assert silenced(call(first=ignore), 2)
    assert silenced(call(middle=ignore), 2)
    assert silenced(call(last=ignore), 2)
    assert not silenced(call(middle=ignore), 3)
    assert not silenced(call(last=ignore), 5)


def test_of_a_compound_statement_the_head_counts() -> None:
    text = "for x in (  # loopgrad: ignore\n    y\n):\n    a = 1\n    b = 2\n"
    assert silenced(text, 2)
    assert not silenced(text, 4)


COMMENTS = {
    "# loopgrad: ignore": True,
    "#loopgrad:ignore": True,
    "# LoopGrad: Ignore": True,
    "# noqa  # loopgrad: ignore[LG101]": True,
    "# loopgrad: ignore[LG201, LG101] because": True,
    "# loopgrad: ignore[lg1]": True,
    "# loopgrad: ignore[LG201]": False,
    "# loopgrad: ignore[]": False,
    "# loopgrad: ignore[LG101": False,
    "# loopgrad: ignored": False,
    "# loopgrad: ignore-file": False,  # not at the top
}


@pytest.mark.parametrize(("comment", "silences"), COMMENTS.items())
def test_forms_of_the_comment(comment: str, silences: bool) -> None:
    assert silenced(f"import torch\nx = 1  {comment}\n", 2) is silences


def test_a_string_is_no_comment() -> None:
    assert not silenced("x = '# loopgrad: ignore'\n", 1)


def test_the_whole_file() -> None:
    assert silenced("#!/usr/bin/python\n\n# loopgrad: ignore-file[LG1]\nx = 1\n", 4)
    assert not silenced("# loopgrad: ignore-file[LG2]\nx = 1\n", 2)
    assert SourceFile("a.py", "# loopgrad: ignore-file\nx = 1\n").suppressions.everything
    assert not SourceFile("a.py", "x = 1\n# loopgrad: ignore-file\n").suppressions.everything


def added(text: str, *findings: Finding) -> str:
    source = SourceFile("a.py", text)
    new, _ = add_ignores(source, findings)
    changed = source.with_text(new)
    assert all(changed.suppressions.find(each) for each in findings)
    return new


ADDED = {
    "plain": ("x = 1\n", 1, "x = 1  # loopgrad: ignore[LG101]\n"),
    "no newline": ("x = 1", 1, "x = 1  # loopgrad: ignore[LG101]"),
    "Windows": ("x = 1\r\ny = 2\r\n", 1, "x = 1  # loopgrad: ignore[LG101]\r\ny = 2\r\n"),
    "behind a comment": ("x = 1  # noqa\n", 1, "x = 1  # noqa  # loopgrad: ignore[LG101]\n"),
    "into our comment": (
        "x = 1  # loopgrad: ignore[LG201] why\n",
        1,
        "x = 1  # loopgrad: ignore[LG101,LG201] why\n",
    ),
    "in brackets": ("x = (\n  1,\n)\n", 2, "x = (\n  1,  # loopgrad: ignore[LG101]\n)\n"),
    "in a string": ('x = """\n{y}\n"""\n', 2, 'x = """\n{y}\n"""  # loopgrad: ignore[LG101]\n'),
    "continued line": ("x = 1 + \\\n  2\n", 1, "x = 1 + \\\n  2  # loopgrad: ignore[LG101]\n"),
}


@pytest.mark.parametrize(("before", "line", "after"), ADDED.values(), ids=ADDED.keys())
def test_comments_are_added_where_they_may_stand(before: str, line: int, after: str) -> None:
    assert added(before, finding(line)) == after


def test_findings_of_one_line_share_a_comment() -> None:
    assert added("x = 1\n", finding(1, "LG201"), finding(1, "LG101")) == (
        "x = 1  # loopgrad: ignore[LG101,LG201]\n"
    )
