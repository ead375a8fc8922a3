"""Operations on statements: insert, wrap, decorate, delete, move, suppress.

All return splices of the document they are given. New lines take the indentation of the block they go to and
the line ends of the file; lines that move keep their comments, their blank lines and the insides of strings.
"""

from __future__ import annotations

import ast
import re
import tokenize

from loopgrad.model import Range
from loopgrad.source.suppress import COMMENT

from .layout import (
    after_comments,
    indentation,
    laid_out,
    lead,
    line_tail,
    next_on_line,
    opened,
    reindented,
    starts_line,
    suite_colon,
)
from .locate import Function, Statement, Token, statement, statement_holding, string_lines, tokens
from .text import Document, EditError, Splice

_LAST_BREAK = re.compile(r"(\r\n|\n|\r)\Z")
_LEAVES = (ast.Return, ast.Raise, ast.Break)


# -- insert


def put_before(place: Statement, block: str) -> list[Splice]:
    """Put lines, already laid out, in front of a statement and of the comments that are about it."""
    newline = place.doc.newline
    if starts_line(place):
        at = lead(place)
        return [Splice(at, at, block + newline)]
    gap = newline + block + newline + indentation(place)
    if place.index:
        return [*opened(place), Splice(place.sibling(place.index - 1).end, place.start, gap)]
    colon = suite_colon(place)
    assert colon is not None
    return [Splice(colon, place.start, gap)]


def put_after(place: Statement, block: str, comments: int | None = None) -> list[Splice]:
    """Put lines behind a statement; behind the comments of a compound one's body as well.

    ``comments``: pass comments below that are indented at least so far.
    """
    newline = place.doc.newline
    following = next_on_line(place)
    if following:
        gap = newline + block + newline + indentation(place)
        return [*opened(place), Splice(place.end, following.start, gap)]
    if comments is None and hasattr(place.node, "body"):
        comments = len(indentation(place)) + 1
    at = line_tail(place) if comments is None else after_comments(place, comments)
    return [*opened(place), Splice(at, at, newline + block)]


def insert_before(doc: Document, range_: Range, text: str) -> list[Splice]:
    place = statement(doc, range_)
    return put_before(place, laid_out(doc, text, indentation(place)))


def insert_after(doc: Document, range_: Range, text: str) -> list[Splice]:
    place = statement(doc, range_)
    return put_after(place, laid_out(doc, text, indentation(place)))


def _body(doc: Document, range_: Range) -> list[Statement]:
    place = statement_holding(doc, *doc.span(range_))
    block = getattr(place.node, "body", None)
    if not isinstance(block, list) or not all(isinstance(each, ast.stmt) for each in block):
        raise EditError("not a statement with a body")
    chain = (*place.chain, place.node)
    return [Statement(doc, each, chain, block, index) for index, each in enumerate(block)]


def append_body(doc: Document, range_: Range, text: str) -> list[Splice]:
    """Add lines at the end of a loop's body, where control still gets there."""
    body = _body(doc, range_)
    last = body[-1]
    indent = indentation(last)
    block = laid_out(doc, text, indent)
    if isinstance(last.node, ast.Continue):
        return put_before(last, block)
    if isinstance(last.node, _LEAVES):
        raise EditError("the end of the body is never reached")
    return put_after(last, block, comments=len(indent))


def prepend_body(doc: Document, range_: Range, text: str) -> list[Splice]:
    """Add lines at the start of a body, behind its docstring."""
    first = body_start(doc, range_)
    block = laid_out(doc, text, indentation(first))
    return put_after(first, block) if _is_docstring(first) else put_before(first, block)


def body_start(doc: Document, range_: Range) -> Statement:
    """The first statement of a body that is no docstring, or the docstring if there is nothing else."""
    body = _body(doc, range_)
    return body[1] if _is_docstring(body[0]) and len(body) > 1 else body[0]


def _is_docstring(place: Statement) -> bool:
    node = place.node
    return (
        place.index == 0
        and isinstance(place.owner, (*Function, ast.ClassDef))
        and isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


# -- wrap and decorate


def wrap(doc: Document, range_: Range, other: Range | None, text: str) -> list[Splice]:
    """Put the statements from one to the other under a header such as ``with torch.no_grad():``.

    If the statement right above is the same ``with``, they join it.
    """
    first = statement(doc, range_)
    last = statement(doc, other) if other else first
    if first.block is not last.block or last.index < first.index:
        raise EditError("not consecutive statements of one block")
    indent, newline = indentation(first), doc.newline
    header = laid_out(doc, text, indent)
    unit = doc.unit
    splices: list[Splice] = []
    if _joins(first, text):
        unit = _body_indent(first.sibling(first.index - 1))[len(indent) :]
    elif starts_line(first):
        at = doc.line_start(first.start)
        splices.append(Splice(at, at, header + newline, rank=-1))
    elif first.index:
        gap = newline + header + newline + indent + unit
        splices += [*opened(first), Splice(first.sibling(first.index - 1).end, first.start, gap)]
    else:
        colon = suite_colon(first)
        assert colon is not None
        splices.append(Splice(colon, first.start, newline + header + newline + indent + unit))
    frozen = string_lines(doc, first, last.end)
    begin = doc.line_of(first.start) + (0 if starts_line(first) else 1)
    for line in range(begin, doc.line_of(last.end) + 1):
        content = doc.line_text(line)
        if line in frozen or not content.strip():
            continue
        at = doc.starts[line - 1] + (len(indent) if content.startswith(indent) else 0)
        splices.append(Splice(at, at, unit))
    following = next_on_line(last)
    if following:
        splices.append(Splice(last.end, following.start, newline + indent))
    return splices


def _joins(first: Statement, text: str) -> bool:
    if first.index == 0 or not starts_line(first):
        return False
    above = first.sibling(first.index - 1)
    doc, node = first.doc, above.node
    if not isinstance(node, ast.With) or node.body[0].lineno == node.lineno:
        return False
    gap = doc.text[line_tail(above) : lead(first)]
    header = doc.text[above.start : doc.node_span(node.body[0])[0]].strip()
    return header == text.strip() and not gap.strip() and lead(first) == doc.line_start(first.start)


def _body_indent(place: Statement) -> str:
    node = place.node
    assert isinstance(node, ast.With)
    return place.doc.indentation(place.doc.line_of(place.doc.node_span(node.body[0])[0]))


def decorate(doc: Document, range_: Range, text: str) -> list[Splice]:
    """Put a decorator directly above the ``def``, innermost: below ``@staticmethod`` and its like."""
    place = statement(doc, range_)
    node = place.node
    if not isinstance(node, Function):
        raise EditError("not a function")
    name = text.strip().removeprefix("@")
    if any(doc.source(decorator) == name for decorator in node.decorator_list):
        raise EditError("decorated so already")
    at = doc.line_start(doc.node_span(node)[0])
    return [Splice(at, at, f"{doc.indentation(node.lineno)}@{name}{doc.newline}")]


# -- delete and move


def remove(place: Statement) -> list[Splice]:
    """Take a statement out with its lines and the comment behind it; ``pass`` keeps an empty block."""
    doc = place.doc
    following = next_on_line(place)
    alone = starts_line(place) and following is None
    if len(place.block) == 1 and not isinstance(place.owner, ast.Module):
        return [Splice(place.start, line_tail(place) if alone else place.end, "pass")]
    if alone:
        return [Splice(doc.line_start(place.start), doc.next_line(line_tail(place)), "")]
    if following:
        return [Splice(place.start, following.start, "")]
    return [Splice(place.sibling(place.index - 1).end, place.end, "")]


def delete(doc: Document, range_: Range) -> list[Splice]:
    return remove(statement(doc, range_, exact=True))


def move(doc: Document, range_: Range, other: Range | None, where: str) -> list[Splice]:
    """Move a statement, with the comments directly above it, ``before``, ``after`` or ``into`` another."""
    place = statement(doc, range_, exact=True)
    if other is None:
        raise EditError("nowhere to move to")
    goal = body_start(doc, other) if where == "into" else statement(doc, other)
    if place.node is goal.node or place.node in goal.chain:
        raise EditError("a statement cannot be moved into itself")
    if place.block is goal.block and place.index - goal.index == (1 if where == "after" else -1):
        raise EditError("the statement is there already")
    start, end = place.start, place.end
    taken = remove(place)
    if starts_line(place) and next_on_line(place) is None:
        start, end = lead(place), line_tail(place)
        kept = doc.indentation(doc.line_of(place.start)) if taken[0].text else ""
        taken = [Splice(start, splice.end, kept + splice.text) for splice in taken]
    block = reindented(place, start, end, indentation(goal))
    if where == "after" or (where == "into" and _is_docstring(goal)):
        put = put_after(goal, block)
    else:
        put = put_before(goal, block)
    if any(gone.start < new.start < gone.end for new in put for gone in taken):
        # Out of the block that it is the last of, to behind it: the line break in front of it goes instead.
        taken = [Splice(len(_LAST_BREAK.sub("", doc.text[:start])), end, "")]
    return [*put, *taken]


# -- suppress


def suppress(doc: Document, range_: Range, code: str) -> list[Splice]:
    """Add ``# loopgrad: ignore[CODE]`` to the line, or the code to the comment that is there.

    A line that ends inside a string or is joined to the next cannot take a comment: then it goes to the end
    of the logical line.
    """
    place = statement_holding(doc, *doc.span(range_))
    line = range_.line
    read: list[Token] = []
    for token in tokens(doc, place):
        read.append(token)
        if token.type == tokenize.NEWLINE and doc.line_of(token.start) >= line:
            break
    else:
        if not read:
            raise EditError("no line to comment on")
    if line in _uncommentable(doc, read, line):
        line = doc.line_of(max(token.start for token in read if token.type != tokenize.ENDMARKER))
    comment = next((t for t in read if t.type == tokenize.COMMENT and doc.line_of(t.start) == line), None)
    for found in COMMENT.finditer(comment.text) if comment else ():
        if found[1]:
            continue
        if found[2] is None or code in [each.strip().upper() for each in found[2].split(",")]:
            raise EditError("silenced already")
        assert comment is not None
        at = comment.start + found.end(2)
        return [Splice(at, at, f", {code}" if found[2].strip() else code)]
    content = doc.line_text(line)
    at = doc.starts[line - 1] + len(content.rstrip())
    return [Splice(at, at, f"  # loopgrad: ignore[{code}]")]


def _uncommentable(doc: Document, read: list[Token], line: int) -> set[int]:
    """The lines among these tokens that end inside a string or by a backslash."""
    lines: set[int] = set()
    opened_at: list[int] = []
    for token in read:
        name = tokenize.tok_name[token.type]
        if name in ("FSTRING_START", "TSTRING_START"):
            opened_at.append(token.start)
        elif token.type == tokenize.STRING or name in ("FSTRING_END", "TSTRING_END"):
            start = opened_at.pop() if name.endswith("STRING_END") else token.start
            lines.update(range(doc.line_of(start), doc.line_of(token.end)))
    commented = any(t.type == tokenize.COMMENT and doc.line_of(t.start) == line for t in read)
    if not commented and doc.line_text(line).endswith("\\"):
        lines.add(line)
    return lines
