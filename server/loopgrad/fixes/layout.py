"""How statements lie on their lines: which share one, where their indentation and comments are.

A statement usually has its lines to itself. It does not in ``a; b`` (then an edit between the two breaks the
line) and in ``if x: a`` (then the suite is opened up: each of its lines goes on a line of its own). Comment
lines directly above a statement are about it and stay with it.
"""

from __future__ import annotations

import ast
import re

from .locate import Statement, statement_start, string_lines
from .text import Document, EditError, Splice

_JOINED = re.compile(r"[ \t\f]*;(?:[ \t\f]|\\(?:\r\n|\n|\r))*\Z")
_TAIL = re.compile(r"[ \t\f]*(?:;[ \t\f]*)?(#[^\r\n]*)?")
_BLANKS = " \t\f"


def _back(text: str, offset: int) -> int:
    """Backwards over blanks and joined (backslash) line ends."""
    while True:
        while offset and text[offset - 1] in _BLANKS:
            offset -= 1
        joined = re.search(r"\\(\r\n|\n|\r)\Z", text[max(0, offset - 3) : offset])
        if not joined:
            return offset
        offset -= len(joined.group())


def suite_colon(place: Statement) -> int | None:
    """Behind the colon that the statement's block follows on one line, None for a block on its own lines."""
    doc = place.doc
    if isinstance(place.owner, ast.Module):
        return None
    offset = _back(doc.text, statement_start(doc, place.block[0]))
    line = doc.text[doc.line_start(offset) : offset]
    return offset if line.endswith(":") and not line.lstrip().startswith("#") else None


def follows_on_line(place: Statement) -> bool:
    """Whether a sibling stands before it on its line: it is ``b`` of ``a; b``."""
    if place.index == 0:
        return False
    previous = place.sibling(place.index - 1)
    return _JOINED.match(place.doc.text[previous.end : place.start]) is not None


def next_on_line(place: Statement) -> Statement | None:
    if place.index + 1 == len(place.block):
        return None
    following = place.sibling(place.index + 1)
    return following if follows_on_line(following) else None


def starts_line(place: Statement) -> bool:
    return not follows_on_line(place) and (place.index > 0 or suite_colon(place) is None)


def indentation(place: Statement) -> str:
    """The indentation of the statement's block, of the one it would have if it is a one-line suite."""
    doc = place.doc
    colon = suite_colon(place)
    if colon is None:
        return doc.indentation(doc.line_of(statement_start(doc, place.block[0])))
    # The header may span lines; the clause starts with the owner, or is an ``else`` on the colon's line.
    owner = place.owner
    body = getattr(owner, "body", None)
    if body is place.block and hasattr(owner, "lineno"):
        line = owner.lineno
    else:
        line = doc.line_of(colon)
    return doc.indentation(line) + doc.unit


def opened(place: Statement) -> list[Splice]:
    """What puts a one-line suite's first statement on its own line (asked for by several, done once)."""
    colon = suite_colon(place)
    if colon is None:
        return []
    first = statement_start(place.doc, place.block[0])
    return [Splice(colon, first, place.doc.newline + indentation(place), once=True)]


def line_tail(place: Statement) -> int:
    """The end of the line on which the statement, the last one there, ends: behind its comment."""
    doc = place.doc
    match = _TAIL.match(doc.text, place.end)
    end = match.end() if match else place.end
    if end < len(doc.text) and doc.text[end] not in "\r\n":
        raise EditError("something follows the statement on its line")
    return end


def after_comments(place: Statement, at_least: int) -> int:
    """The line tail, or that of the comments below that are indented as the block's inside is."""
    doc = place.doc
    end = line_tail(place)
    line = doc.line_of(end) + 1
    while line <= len(doc.starts):
        text = doc.line_text(line)
        blanks = len(text) - len(text.lstrip(_BLANKS))
        if text.lstrip().startswith("#") and blanks >= at_least:
            end = doc.starts[line - 1] + len(text)
        elif text.strip():
            break
        line += 1
    return end


def lead(place: Statement) -> int:
    """The start of the lines that belong to the statement: comment lines directly above it included.

    Comments from the first line of the file on are the file's (a shebang, a licence) and are left out.
    """
    doc = place.doc
    own = doc.line_of(place.start)
    floor = _ends_before(place)
    indent = doc.indentation(own)
    line = own
    while line > 1:
        text = doc.line_text(line - 1)
        if not text.lstrip().startswith("#") or doc.indentation(line - 1) != indent:
            break
        if doc.starts[line - 2] < floor:
            break
        line -= 1
    return doc.starts[(own if line == 1 else line) - 1]


def _ends_before(place: Statement) -> int:
    """Where whatever comes before the statement ends: its sibling, or its owner's header."""
    doc = place.doc
    if place.index:
        return place.sibling(place.index - 1).end
    best = 0
    pending = [place.owner]
    while pending:
        for child in ast.iter_child_nodes(pending.pop()):
            if not hasattr(child, "end_lineno"):
                pending.append(child)
                continue
            end = doc.node_span(child)[1]
            if end <= place.start:
                best = max(best, end)
    return best


def laid_out(doc: Document, text: str, indent: str) -> str:
    """A snippet's lines at an indentation; its own, of four blanks a level, becomes the file's."""
    lines = []
    for line in text.replace("\r\n", "\n").strip("\n").split("\n"):
        bare = line.lstrip(" ")
        depth, odd = divmod(len(line) - len(bare), 4)
        lines.append(indent + doc.unit * depth + " " * odd + bare if bare else "")
    return doc.newline.join(lines)


def reindented(place: Statement, start: int, end: int, indent: str) -> str:
    """The text of ``[start, end)`` moved to another indentation, the insides of strings left alone."""
    doc = place.doc
    frozen = string_lines(doc, place, place.end)
    old = doc.indentation(doc.line_of(place.start)) if starts_line(place) else indentation(place)
    first, last = doc.line_of(start), doc.line_of(end)
    parts = []
    for line in range(first, last + 1):
        begin = max(start, doc.starts[line - 1])
        stop = min(end, doc.starts[line]) if line < len(doc.starts) else end
        text = doc.text[begin:stop]
        if line not in frozen and begin == doc.starts[line - 1] and text.strip():
            if text.startswith(old):
                text = indent + text[len(old) :]
        elif line == first:
            text = indent + text
        parts.append(text)
    return "".join(parts)
