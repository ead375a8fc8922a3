"""The fixes of the cases in other clothes: tabs, CRLF, a byte order mark, semicolons, odd blanks, comments.

Each script is written anew in a layout that means the same. Every fix that the rules ask for there must make
the program that it makes of the script as it was, and touch no byte outside of the statements it is about.
A few of the cases by default, all with LOOPGRAD_NIGHTLY=1.
"""

from __future__ import annotations

import ast
import io
import os
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopgrad.fixes import EditError, apply
from loopgrad.fixes.edits import file_edits
from loopgrad.model import Edit, Step
from loopgrad.rules import check
from loopgrad.source import FileProvider, SourceFile

CASES = sorted((Path(__file__).parents[1] / "cases").glob("*/bug.py"))
CHOSEN = CASES if os.environ.get("LOOPGRAD_NIGHTLY") else CASES[::12]


def put(text: str, additions: dict[tuple[int, int], str]) -> str:
    """The text with something put in at positions (line from 1, column from 0)."""
    lines = text.splitlines(keepends=True)
    for (line, column), added in sorted(additions.items(), reverse=True):
        lines[line - 1] = lines[line - 1][:column] + added + lines[line - 1][column:]
    return "".join(lines)


def tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    """The tokens that are not inside of an f-string."""
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[token.type]
        depth += name == "FSTRING_START"
        if not depth:
            yield token
        depth -= name == "FSTRING_END"


def commented(text: str) -> str:
    """A comment that is not ASCII behind every line that has none and can have one."""
    ends, taken = {}, set()
    for token in tokens(text):
        if token.type == tokenize.COMMENT:
            taken.add(token.start[0])
        elif token.type == tokenize.NEWLINE and token.start[0] not in taken:
            ends[token.start] = "  # größe = 中😀"
    return put(text, ends)


def spaced(text: str) -> str:
    """More blanks than anybody wants around commas, operators and dots inside of parentheses."""
    blanks, depth = {}, 0
    for token in tokens(text):
        depth += token.string in ("(", "[", "{")
        depth -= token.string in (")", "]", "}")
        if token.type == tokenize.OP and (token.string in ("=", "+", "-", "*", ",") or depth):
            blanks[token.end] = "  "
    return put(text, blanks)


def ended(text: str) -> str:
    """A semicolon behind every simple statement."""
    found = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt) and not hasattr(node, "body") and not hasattr(node, "cases"):
            line = text.splitlines()[node.end_lineno - 1].encode()
            found[node.end_lineno, len(line[: node.end_col_offset].decode())] = " ;"
    return put(text, found)


def tabbed(text: str) -> str:
    """A tab for four blanks, but not inside of strings."""
    inside = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.STRING or tokenize.tok_name[token.type].startswith("FSTRING")
        for line in range(token.start[0] + 1, token.end[0] + 1)
    }
    lines = []
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        bare = line.lstrip(" ")
        depth, odd = divmod(len(line) - len(bare), 4)
        lines.append(line if number in inside else "\t" * depth + " " * odd + bare)
    return "".join(lines)


def paged(text: str) -> str:
    """A form feed in front of every definition at the top."""
    nodes = ast.parse(text).body
    starts = [min([node.lineno, *(each.lineno for each in node.decorator_list)])
              for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))]  # fmt: skip
    return put(text, {(line, 0): "\f" for line in starts})


def crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


def marked(text: str) -> str:
    return "\ufeff" + text


def everything(text: str) -> str:
    return marked(crlf(tabbed(paged(commented(ended(spaced(text)))))))


LAYOUTS = [commented, spaced, ended, tabbed, paged, crlf, marked, everything]


def requested(path: str, text: str) -> list[tuple[str, tuple[Step, ...]]]:
    result = check(SourceFile(path, text.removeprefix("\ufeff")), FileProvider([path]))
    return [
        (f"{finding.code} {request.kind}", request.steps)
        for finding in result.findings
        for request in finding.requests
        if all(step.path == path for step in request.steps)
    ]


def fixed(path: str, text: str, steps: tuple[Step, ...]) -> tuple[tuple[Edit, ...], str]:
    """The edits and the program they make; no edits and the reason where there is none."""
    try:
        edits = file_edits(path, text, steps)
    except EditError as error:
        return (), str(error)
    return edits, ast.dump(ast.parse(apply(text, edits).removeprefix("\ufeff")))


def lines_of(text: str, steps: tuple[Step, ...]) -> set[int]:
    """The lines of the statements that steps are about, with the comments directly above them."""
    source = text.removeprefix("\ufeff")
    lines = source.replace("\r\n", "\n").split("\n")
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]
    found: set[int] = set()
    for step in steps:
        ranges = [step.range] if step.other is None else [step.range, step.other]
        extents = []
        for range_ in ranges:
            holding = [
                node
                for node in nodes
                if first_line(node) <= range_.line and range_.end_line <= node.end_lineno
            ]
            smallest = min(holding, key=lambda node: node.end_lineno - first_line(node))
            extents.append((first_line(smallest), smallest.end_lineno))
        if step.op == "wrap":
            extents = [(min(extents)[0], max(end for _, end in extents))]
        for start, end in extents:
            while lines[start - 2].strip().startswith("#"):
                start -= 1
            found.update(range(start, end + 1))
        if "torch" in step.text:
            found.update(node.lineno for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom)))
    return found


def first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])


@pytest.mark.parametrize("script", CHOSEN, ids=lambda path: path.parent.name)
def test_a_fix_does_in_every_layout_what_it_does_in_the_plain_one(script: Path) -> None:
    path, plain = str(script), script.read_text(encoding="utf-8")
    wanted = [(what, fixed(path, plain, steps)[1]) for what, steps in requested(path, plain)]
    for layout in LAYOUTS:
        text = layout(plain)
        assert ast.dump(ast.parse(text.removeprefix("\ufeff"))) == ast.dump(ast.parse(plain)), layout
        requests = requested(path, text)
        got = [(what, fixed(path, text, steps)[1]) for what, steps in requests]
        assert got == wanted, layout.__name__
        for what, steps in requests:
            unchanged(text, fixed(path, text, steps)[0], lines_of(text, steps), f"{layout.__name__} {what}")


def unchanged(text: str, edits: tuple[Edit, ...], touched: set[int], what: str) -> None:
    """Nothing but the touched lines is written over, and new lines stand next to them."""
    for edit in edits:
        end = edit.range.end_line - (edit.range.end_column == 1 and edit.range.end_line > edit.range.line)
        if edit.range.line == edit.range.end_line and edit.range.column == edit.range.end_column == 1:
            assert {edit.range.line, edit.range.line - 1} & touched, what
        else:
            assert set(range(edit.range.line, end + 1)) <= touched, what
    before = text.removeprefix("\ufeff").split("\n")
    after = iter(apply(text, edits).removeprefix("\ufeff").split("\n"))
    kept = [line for number, line in enumerate(before, 1) if number not in touched]
    assert all(line in after for line in kept), what
