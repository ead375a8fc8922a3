"""Finding the node that a range means, without walking the whole tree.

A range of the data model is matched with the nodes of ``ast``. An expression must match exactly (parentheses
around it may be part of the range); a statement may be given by any stretch inside of it. The walk goes only
into nodes whose lines hold the range, so that a large file costs little.

``ast`` says nothing of parentheses and comments: for these the tokens of the one statement are read.
"""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loopgrad.model import Range
from loopgrad.source.parse import read_tree

from .text import Document, EditError

Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_INSIDE_STRINGS = (ast.JoinedStr,)
_LAYOUT = {
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.COMMENT,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def first_line(node: ast.AST) -> int | None:
    """The line on which a node starts, its decorators included."""
    decorators = getattr(node, "decorator_list", None)
    line: int | None = getattr(node, "lineno", None)
    return min(line, decorators[0].lineno) if decorators and line else line


@dataclass(frozen=True)
class Expression:
    """An expression with the nodes that hold it, outermost first."""

    doc: Document
    node: ast.expr
    chain: tuple[ast.AST, ...]

    @property
    def parent(self) -> ast.AST:
        return self.chain[-1]

    @property
    def span(self) -> tuple[int, int]:
        return self.doc.node_span(self.node)


@dataclass(frozen=True)
class Statement:
    """A statement in its block: ``block[index]`` of ``owner``."""

    doc: Document
    node: ast.stmt
    chain: tuple[ast.AST, ...]
    block: Sequence[ast.stmt]
    index: int

    @property
    def owner(self) -> ast.AST:
        return self.chain[-1]

    @property
    def start(self) -> int:
        """Where the statement starts, at its first decorator's ``@`` if it has any."""
        return statement_start(self.doc, self.node)

    @property
    def end(self) -> int:
        return self.doc.node_span(self.node)[1]

    def sibling(self, index: int) -> Statement:
        return Statement(self.doc, self.block[index], self.chain, self.block, index)


def statement_start(doc: Document, node: ast.AST) -> int:
    decorators = getattr(node, "decorator_list", None)
    if not decorators:
        return doc.node_span(node)[0]
    return doc.text.rindex("@", 0, doc.node_span(decorators[0])[0])


def _holding(doc: Document, start: int, end: int) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    """Every node whose stretch holds ``[start, end)``, with its ancestors, outer ones first."""
    line, end_line = doc.line_of(start), doc.line_of(end)

    def visit(node: ast.AST, chain: tuple[ast.AST, ...]) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
        inner = (*chain, node)
        for child in ast.iter_child_nodes(node):
            first, last = first_line(child), getattr(child, "end_lineno", None)
            if first is not None and last is not None:
                if not (first <= line and end_line <= last):
                    continue
                node_end = doc.node_span(child)[1]
                if statement_start(doc, child) <= start and end <= node_end:
                    yield child, inner
            yield from visit(child, inner)

    yield from visit(doc.tree, ())


def expression(doc: Document, range_: Range) -> Expression:
    """The expression at exactly this range (or inside the parentheses that it consists of)."""
    start, end = doc.span(range_)
    for _ in range(8):
        for node, chain in _holding(doc, start, end):
            if isinstance(node, ast.expr) and doc.node_span(node) == (start, end):
                if any(isinstance(outer, _INSIDE_STRINGS) for outer in chain) and not _as_written(doc, node):
                    continue
                return Expression(doc, node, chain)
        text = doc.text[start:end]
        if not (text.startswith("(") and text.endswith(")")):
            break
        inside = _inside_parentheses(doc, start, end)
        if inside is None:
            break
        start, end = inside
    raise EditError("no expression at this range")


def _as_written(doc: Document, node: ast.expr) -> bool:
    """Whether the text at a node's place is that node: inside f-strings some versions miscount."""
    try:
        written = ast.parse(f"({doc.source(node)}\n)", mode="eval").body
    except (SyntaxError, ValueError, EditError):
        return False
    return ast.dump(written) == ast.dump(node)


def _inside_parentheses(doc: Document, start: int, end: int) -> tuple[int, int] | None:
    """The stretch from the first to the last token between the parentheses at both ends."""
    significant = [
        token
        for token in tokens(doc, statement_holding(doc, start, end), stop=end)
        if start < token.start and token.end < end and token.type not in _LAYOUT
    ]
    return (significant[0].start, significant[-1].end) if significant else None


def statement_holding(doc: Document, start: int, end: int) -> Statement:
    """The innermost statement that holds the stretch."""
    found: Statement | None = None
    for node, chain in _holding(doc, start, end):
        if not isinstance(node, ast.stmt):
            continue
        for name in ("body", "orelse", "finalbody"):
            block = getattr(chain[-1], name, None)
            if isinstance(block, list) and any(node is each for each in block):
                index = next(i for i, each in enumerate(block) if each is node)
                found = Statement(doc, node, chain, block, index)
    if found is None:
        raise EditError("no statement at this range")
    return found


def statement(doc: Document, range_: Range, *, exact: bool = False) -> Statement:
    """The statement at a range, or the one around it unless it has to be ``exact``."""
    start, end = doc.span(range_)
    found = statement_holding(doc, start, end)
    if exact and (end != found.end or start not in (found.start, doc.node_span(found.node)[0])):
        raise EditError("the range is not a whole statement")
    if isinstance(found.node, ast.If) and doc.text.startswith("elif", found.start):
        raise EditError("an elif is no statement of its own")
    return found


# -- tokens


@dataclass(frozen=True)
class Token:
    type: int
    text: str
    start: int
    end: int


def tokens(doc: Document, place: Statement, stop: int | None = None) -> Iterator[Token]:
    """The tokens from the start of a statement on, to the first that begins at or after ``stop``.

    What comes before the statement on its line is stood in for by semicolons, what comes before that by a
    line for each level of indentation: so the tokenizer knows the levels that later lines return to.
    Tokens are produced as they are asked for: only as much is read as is needed.
    """
    begin = doc.line_start(place.start)
    first = doc.line_of(begin)
    before = doc.text[begin : place.start]
    levels = _levels(doc, place)
    prelude = [f"{level};\n" for level in levels]
    if before.strip():
        # As if the line went on from one that has the indentation.
        before = ";" * len(before)
        prelude[-1] = f"{levels[-1]};\\\n"
    lifted = len(levels)

    def lines() -> Iterator[str]:
        yield from prelude
        for number in range(first, len(doc.starts) + 1):
            line = doc.line_text(number)
            yield (before + line[place.start - begin :] if number == first else line) + "\n"

    reader = lines()
    try:
        for token in tokenize.generate_tokens(lambda: next(reader, "")):
            line, end_line = first + token.start[0] - 1 - lifted, first + token.end[0] - 1 - lifted
            if line > len(doc.starts):
                return
            if line < first or doc.starts[line - 1] + token.start[1] < place.start:
                continue
            start = doc.starts[line - 1] + token.start[1]
            end_start = doc.starts[end_line - 1] if end_line <= len(doc.starts) else len(doc.text)
            yield Token(token.type, token.string, start, end_start + token.end[1])
            if stop is not None and start >= stop and token.type not in _LAYOUT:
                return
    except (tokenize.TokenError, IndentationError, SyntaxError) as error:
        raise EditError(f"cannot be read as tokens: {error}") from error


def _levels(doc: Document, place: Statement) -> list[str]:
    """The indentations around a statement, outer ones first."""
    found = [""]
    for node in place.chain[1:]:
        line = first_line(node) or first_line(getattr(node, "pattern", node))
        if line and len(doc.indentation(line)) > len(found[-1]):
            found.append(doc.indentation(line))
    return found


def grouping(found: Expression) -> tuple[int, int] | None:
    """The innermost pair of parentheses that belong to the expression itself, or None.

    Those of ``f(x)`` are the call's, those of ``class A(B)`` the class's; those of ``f((x))`` are of both.
    """
    if any(isinstance(outer, _INSIDE_STRINGS) for outer in found.chain):
        return None
    start, end = found.span
    place = statement_holding(found.doc, start, end)
    before: list[Token] = []
    after: list[Token] = []
    # A decorator stands in front of its statement's own line: the statement is read from the first one.
    for token in tokens(found.doc, place):
        if token.type in _LAYOUT and token.type != tokenize.NEWLINE:
            continue
        if token.end <= start:
            before.append(token)
        elif token.start >= end:
            if token.text != ")":
                break
            after.append(token)
    layers: list[tuple[int, int]] = []
    for opening, closing in zip(reversed(before), after):
        if opening.text != "(":
            break
        layers.append((opening.start, closing.end))
    parent = found.parent
    if isinstance(parent, ast.Call) and found.node is not parent.func:
        ends = found.doc.node_span(parent)[1]
        layers = [layer for layer in layers if layer[1] < ends]
    elif isinstance(parent, ast.ClassDef) and found.node in parent.bases:
        layers = layers[:-1]
    return layers[0] if layers else None


def string_lines(doc: Document, place: Statement, end: int) -> set[int]:
    """The lines up to ``end`` that begin inside a string: their blanks are part of its value."""
    inside: set[int] = set()
    opened: list[int] = []
    for token in tokens(doc, place, stop=end):
        if token.start >= end:
            break
        name = tokenize.tok_name[token.type]
        if name in ("FSTRING_START", "TSTRING_START"):
            opened.append(token.start)
        elif token.type == tokenize.STRING or name in ("FSTRING_END", "TSTRING_END"):
            start = opened.pop() if name.endswith("STRING_END") else token.start
            inside.update(range(doc.line_of(start) + 1, doc.line_of(token.end) + 1))
    return inside


def parses(text: str) -> bool:
    try:
        read_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def expression_in(text: str) -> ast.expr:
    """The expression that a piece of text is, read as if inside parentheses."""
    try:
        return ast.parse(f"({text}\n)", mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise EditError(f"not an expression: {text!r}") from error
