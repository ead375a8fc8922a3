"""Holes: expressions in the tree of a statement that are to change.

A statement is read with a name in the place of each. The expression is read by itself, changed, and put where the
name was. So several can be changed in one statement, one inside the other, and comments and line breaks stay with
the nodes that they belong to.

libcst writes a tree as it is told to: where an expression needs parentheses is ours to say. They are put around
whatever might need them, and left out again where the statement means the same without (see ``expressions``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar, cast

import libcst as cst

from .locate import Statement
from .text import EditError, Splice, spliced


class Parentheses:
    """Puts parentheses around expressions, but for those whose number is among ``bare``."""

    def __init__(self, bare: frozenset[int] = frozenset()) -> None:
        self.bare = bare
        self.count = 0

    def around(
        self,
        node: cst.BaseExpression,
        left: Sequence[cst.LeftParen] = (cst.LeftParen(),),
        right: Sequence[cst.RightParen] = (cst.RightParen(),),
    ) -> cst.BaseExpression:
        number, self.count = self.count, self.count + 1
        return node if number in self.bare else node.with_changes(lpar=left, rpar=right)

    def within(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """The expression in parentheses, unless it is already."""
        return node if node.lpar else self.around(node)


@dataclass
class Around:
    """The parentheses that the user has around an expression, outer ones first."""

    lpar: list[cst.LeftParen]
    rpar: list[cst.RightParen]


Change = Callable[[cst.BaseExpression, Around, Parentheses], cst.BaseExpression]


@dataclass
class Hole:
    """An expression to change, and the changes. Holes inside of it are filled first."""

    place: Statement
    start: int
    end: int
    changes: list[Change] = field(default_factory=list)
    inner: list[Hole] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.place.doc.unused}{self.start}_{self.end}_"

    @property
    def touched(self) -> bool:
        """Whether letters next to it would make another name of what stands in for it."""
        text = self.place.doc.text
        around = text[max(self.start - 1, 0) : self.start] + text[self.end : self.end + 1]
        return any(sign.isalnum() or sign == "_" for sign in around)

    @property
    def splice(self) -> Splice:
        return Splice(self.start, self.end, f"({self.name})" if self.touched else self.name)

    def filled(self, named: cst.Name, parentheses: Parentheses) -> cst.BaseExpression:
        own = int(self.touched and bool(named.lpar))
        around = Around(list(named.lpar)[: len(named.lpar) - own], list(named.rpar)[own:])
        text = spliced(
            self.place.doc.text[self.start : self.end],
            [Splice(s.start - self.start, s.end - self.start, s.text) for s in names_in(self.inner)],
        )
        node = filled(read(text, first_indentation(self.place)), self.inner, parentheses)
        for change in self.changes:
            node = change(node, around, parentheses)
        return node.with_changes(lpar=[*around.lpar, *node.lpar], rpar=[*node.rpar, *around.rpar])


def first_indentation(place: Statement) -> str:
    """The indentation of the line that a statement starts on."""
    return place.doc.indentation(place.doc.line_of(place.start))


def names_in(holes: Iterable[Hole]) -> list[Splice]:
    """What puts the names in the place of the expressions."""
    return [hole.splice for hole in holes]


def read(text: str, indent: str = "") -> cst.BaseExpression:
    """The expression that a text is inside of parentheses; ``indent`` is that of its statement."""
    try:
        if indent:
            statement_ = cst.parse_module(f"if 1:\n{indent}({text}\n)\n").body[0]
            block = cst.ensure_type(cst.ensure_type(statement_, cst.If).body, cst.IndentedBlock)
            line = cst.ensure_type(block.body[0], cst.SimpleStatementLine)
            node = cst.ensure_type(line.body[0], cst.Expr).value
        else:
            node = cst.parse_expression(f"({text}\n)")
    except (cst.ParserSyntaxError, UnicodeError) as error:
        raise EditError(f"libcst cannot read {text!r}") from error
    return node.with_changes(lpar=node.lpar[1:], rpar=node.rpar[:-1])


_Node = TypeVar("_Node", bound=cst.CSTNode)


def filled(node: _Node, holes: Sequence[Hole], parentheses: Parentheses) -> _Node:
    """The tree with what each hole's name stands for."""
    fill = Fill({hole.name: partial(hole.filled, parentheses=parentheses) for hole in holes})
    changed = node.visit(fill)
    if fill.missing:
        raise EditError("no expression at this range")
    return cast(_Node, changed)


class Fill(cst.CSTTransformer):
    def __init__(self, values: Mapping[str, Callable[[cst.Name], cst.BaseExpression]]) -> None:
        super().__init__()
        self.values = values
        self.missing = set(values)

    def on_visit(self, node: cst.CSTNode) -> bool:
        return not isinstance(node, (cst.BaseParenthesizableWhitespace, cst.TrailingWhitespace))

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        value = self.values.get(original_node.value)
        if value is None:
            return updated_node
        self.missing.discard(original_node.value)
        return value(updated_node)


def nested(holes: Iterable[Hole]) -> list[Hole]:
    """The outermost holes, each with those inside of it."""
    outer: list[Hole] = []
    for hole in sorted(holes, key=lambda hole: (hole.start, -hole.end)):
        if outer and hole.end <= outer[-1].end:
            outer[-1].inner = nested([*outer[-1].inner, hole])
        else:
            outer.append(hole)
    return outer
