"""Regions: the statements of one block, on lines of their own, that an edit has to read.

A statement usually has its lines to itself. It does not in ``a; b`` (then both are read) and in ``if x: a``
(then the ``if`` is). The comments directly above a region are part of it, and those that end the block below.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from .locate import Statement
from .text import Document, EditError


@dataclass(frozen=True)
class Region:
    """The statements from ``first`` to ``last`` of a block."""

    first: Statement
    last: Statement

    @property
    def nodes(self) -> list[ast.stmt]:
        return list(self.first.block[self.first.index : self.last.index + 1])

    @property
    def indent(self) -> str:
        return self.first.doc.indentation(self.first.doc.line_of(self.first.start))

    @property
    def start(self) -> int:
        """Where the comment lines directly above start; those from a file's first line on are the file's."""
        doc, floor = self.first.doc, _end_before(self.first)
        own = line = doc.line_of(self.first.start)
        while line > 1 and doc.starts[line - 2] >= floor and _comment(doc, line - 1) == self.indent:
            line -= 1
        return doc.starts[(own if line == 1 else line) - 1]

    @property
    def end(self) -> int:
        """Where the lines end, or those of the comments below that are indented as the inside of the block is."""
        doc = self.first.doc
        lowest = len(self.indent) + (self.last.index + 1 < len(self.last.block))
        line = last = doc.line_of(self.last.end)
        while line < len(doc.starts):
            line += 1
            comment = _comment(doc, line)
            if comment is not None and len(comment) >= lowest:
                last = line
            elif doc.line_text(line).strip():
                break
        return doc.starts[last] if last < len(doc.starts) else len(doc.text)


def region(first: Statement, last: Statement) -> Region:
    """The region that holds two statements of one block."""
    while first.is_elif or first.shares_header:
        assert first.outer is not None
        first = last = first.outer
    while first.follows_on_line:
        first = first.sibling(first.index - 1)
    while last.index + 1 < len(last.block) and last.sibling(last.index + 1).follows_on_line:
        last = last.sibling(last.index + 1)
    return Region(first, last)


def united(regions: Iterable[Region]) -> list[Region]:
    """As few regions that do not overlap, in the order of the text."""
    found: list[Region] = []
    for each in sorted(regions, key=lambda each: each.start):
        while found and each.start < found[-1].end:
            each = _holding(found.pop(), each)
        found.append(each)
    return found


def _holding(left: Region, right: Region) -> Region:
    """The smallest region that holds two."""
    for one in (left.first, *left.first.outers):
        for two in (right.first, *right.first.outers):
            if one.block is two.block:
                ends = [
                    left.last.index if one is left.first else one.index,
                    right.last.index if two is right.first else two.index,
                ]
                return region(one.sibling(min(one.index, two.index)), one.sibling(max(ends)))
    raise EditError("statements of two trees")


def _comment(doc: Document, line: int) -> str | None:
    """The indentation of a line that is nothing but a comment."""
    return doc.indentation(line) if doc.line_text(line).lstrip(" \t\f").startswith("#") else None


def _end_before(place: Statement) -> int:
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
