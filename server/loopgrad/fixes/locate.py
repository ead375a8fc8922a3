"""Finding the statement or the expression that a range means, without walking the whole tree.

A range of the data model is matched with the nodes of ``ast``. A statement may be given by any stretch inside
of it. An expression is given by its own stretch, with or without the parentheses around it; it must mean by
itself what it means in its place. The walk goes only into nodes whose lines hold the range, so that a large
file costs little.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loopgrad.model import Range

from .text import Document, EditError

Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_SAME_LINE = re.compile(r"[ \t\f]*;(?:[ \t\f]|\\(?:\r\n|\n|\r))*\Z")


@dataclass(frozen=True)
class Statement:
    """A statement in its block: ``block[index]`` of ``owner``, which is (a clause of) the statement ``outer``."""

    doc: Document
    node: ast.stmt
    owner: ast.AST
    block: Sequence[ast.stmt]
    index: int
    outer: Statement | None

    @property
    def start(self) -> int:
        """Where the statement starts, at its first decorator's ``@`` if it has any."""
        return statement_start(self.doc, self.node)

    @property
    def end(self) -> int:
        return self.doc.node_span(self.node)[1]

    @property
    def outers(self) -> Iterator[Statement]:
        """The statements around it, inner ones first."""
        outer = self.outer
        while outer is not None:
            yield outer
            outer = outer.outer

    @property
    def is_elif(self) -> bool:
        return isinstance(self.node, ast.If) and self.doc.text.startswith("elif", self.start)

    @property
    def follows_on_line(self) -> bool:
        """Whether a sibling stands before it on its line: it is ``b`` of ``a; b``."""
        if self.index == 0:
            return False
        return _SAME_LINE.match(self.doc.text[self.sibling(self.index - 1).end : self.start]) is not None

    @property
    def shares_header(self) -> bool:
        """Whether its block stands on the line of its header: ``if x: a``."""
        first = statement_start(self.doc, self.block[0])
        line_start = self.doc.line_start(first)
        joined = self.doc.text[:line_start].rstrip("\r\n").endswith("\\")
        return self.outer is not None and (joined or bool(self.doc.text[line_start:first].strip()))

    def sibling(self, index: int) -> Statement:
        return Statement(self.doc, self.block[index], self.owner, self.block, index, self.outer)

    def inside(self, owner: ast.AST, block: Sequence[ast.stmt], index: int) -> Statement:
        """A statement in one of its own blocks."""
        return Statement(self.doc, block[index], owner, block, index, self)


@dataclass(frozen=True)
class Expression:
    """An expression in the statement that holds it; the stretch may have parentheses of its own."""

    place: Statement
    node: ast.expr
    parent: ast.AST
    start: int
    end: int


def statement_start(doc: Document, node: ast.AST) -> int:
    decorators = getattr(node, "decorator_list", None)
    if not decorators:
        return doc.node_span(node)[0]
    return doc.text.rindex("@", 0, doc.node_span(decorators[0])[0])


def blocks(node: ast.AST) -> Iterator[tuple[ast.AST, list[ast.stmt]]]:
    """The blocks of a statement in the order of the text, each with the node that has it."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        part = getattr(node, name, None)
        if not isinstance(part, list) or not part:
            continue
        if isinstance(part[0], ast.stmt):
            yield node, part
        else:
            for clause in part:
                yield from blocks(clause)


def statement_holding(doc: Document, start: int, end: int) -> Statement:
    """The innermost statement that holds the stretch."""
    line, end_line = doc.line_of(start), doc.line_of(end)
    found: Statement | None = None
    node: ast.AST = doc.tree

    def holds(each: ast.stmt) -> bool:
        decorators = getattr(each, "decorator_list", None)
        first = min(each.lineno, decorators[0].lineno) if decorators else each.lineno
        if not first <= line or not end_line <= (each.end_lineno or first):
            return False
        return statement_start(doc, each) <= start and end <= doc.node_span(each)[1]

    while True:
        inner = next(
            (
                Statement(doc, each, owner, block, index, found)
                for owner, block in blocks(node)
                for index, each in enumerate(block)
                if holds(each)
            ),
            None,
        )
        if inner is None:
            break
        found, node = inner, inner.node
    if found is None:
        raise EditError("no statement at this range")
    return found


def statement(doc: Document, range_: Range, *, exact: bool = False) -> Statement:
    """The statement at a range, or the one around it unless it has to be ``exact``."""
    start, end = doc.span(range_)
    found = statement_holding(doc, start, end)
    if exact and (end != found.end or start not in (found.start, doc.node_span(found.node)[0])):
        raise EditError("the range is not a whole statement")
    if found.is_elif:
        raise EditError("an elif is no statement of its own")
    return found


def expression(doc: Document, range_: Range) -> Expression:
    """The expression at this range; a target, a slice or half an expression is refused."""
    start, end = doc.span(range_)
    place = statement_holding(doc, start, end)
    wanted = ast.dump(expression_in(doc.text[start:end]))
    for node, parent in _within(doc, place.node, start, end):
        # Inside f-strings some versions of Python miscount: the text at a node's place may be another one.
        if ast.dump(node) == wanted:
            return Expression(place, node, parent, start, end)
    raise EditError("no expression at this range")


def _within(doc: Document, node: ast.AST, start: int, end: int) -> Iterator[tuple[ast.expr, ast.AST]]:
    """The expressions of a statement that lie in a stretch, outer ones first, each with its parent."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            continue
        if isinstance(child, ast.expr):
            first, last = doc.node_span(child)
            if start <= first and last <= end:
                yield child, node
        yield from _within(doc, child, start, end)


def expression_in(text: str) -> ast.expr:
    """The expression that a piece of text is, read as if inside parentheses."""
    try:
        return ast.parse(f"({text}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise EditError(f"not an expression: {text!r}") from error
