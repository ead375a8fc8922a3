"""Operations on expressions: append, replace, strip_call, delete_argument, assign.

The smallest statement that holds them is read with a name in the place of each expression, the expression is
read by itself, changed, and put where the name was. So several can be changed in one statement, one inside
the other, and comments and line breaks stay with the nodes that they belong to.

libcst writes a tree as it is told to: where an expression needs parentheses is ours to say. They are put
around whatever might need them, and left out again where the statement means the same without.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar, cast

import libcst as cst

from loopgrad.model import Step

from .arguments import ending_like, has_comment, without_argument
from .locate import Expression, Statement, expression, statement, statement_holding
from .snippet import Snippet, folds, in_lines_of
from .text import Document, EditError, Splice, spliced


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
            [Splice(s.start - self.start, s.end - self.start, s.text) for s in _splices(self.inner)],
        )
        node = filled(read(text, first_indentation(self.place)), self.inner, parentheses)
        for change in self.changes:
            node = change(node, around, parentheses)
        return node.with_changes(lpar=[*around.lpar, *node.lpar], rpar=[*node.rpar, *around.rpar])


def first_indentation(place: Statement) -> str:
    """The indentation of the line that a statement starts on."""
    return place.doc.indentation(place.doc.line_of(place.start))


def _splices(holes: Iterable[Hole]) -> list[Splice]:
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
    fill = _Fill({hole.name: partial(hole.filled, parentheses=parentheses) for hole in holes})
    changed = node.visit(fill)
    if fill.missing:
        raise EditError("no expression at this range")
    return cast(_Node, changed)


class _Fill(cst.CSTTransformer):
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


# -- the changes


def appended(text: str) -> Change:
    """``a - b`` and ``.detach()`` make ``(a - b).detach()``; parentheses that are there serve."""
    template = read(f"{_OLD}{text}")

    def change(node: cst.BaseExpression, around: Around, parentheses: Parentheses) -> cst.BaseExpression:
        if around.lpar and not node.lpar:
            node = node.with_changes(lpar=[around.lpar.pop()], rpar=[around.rpar.pop(0)])
        return parentheses.within(_with_old(template, lambda: parentheses.within(node)))

    return change


def replaced(text: str) -> Change:
    """``{0}`` in the text stands for what was there, as often as it is said."""
    template = read(text.replace("{0}", _OLD))

    def change(node: cst.BaseExpression, around: Around, parentheses: Parentheses) -> cst.BaseExpression:
        bare = node.with_changes(lpar=[], rpar=[])
        lpar, rpar = node.lpar or [cst.LeftParen()], node.rpar or [cst.RightParen()]
        new = _with_old(template, lambda: parentheses.around(bare, lpar, rpar))
        return new if around.lpar else parentheses.within(new)

    return change


_OLD = "_loopgrad_old_"


def _with_old(template: cst.BaseExpression, old: Callable[[], cst.BaseExpression]) -> cst.BaseExpression:
    def put(name: cst.Name) -> cst.BaseExpression:
        node = old()
        return node.with_changes(lpar=[*name.lpar, *node.lpar], rpar=[*node.rpar, *name.rpar])

    return cast(cst.BaseExpression, template.visit(_Fill({_OLD: put})))


def without_call(node: cst.BaseExpression, around: Around, _: Parentheses) -> cst.BaseExpression:
    """``x.detach()`` becomes ``x``; a comment in front of the dot stays, in front of a parenthesis."""
    if not (isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute)):
        raise EditError("not a method call")
    value, blanks = node.func.value, node.func.dot.whitespace_before
    lpar, rpar = [*node.lpar, *value.lpar], list(node.rpar)
    if has_comment(blanks):
        closing = rpar or around.rpar
        if not closing or has_comment(closing[0].whitespace_before):
            lpar.insert(len(node.lpar), cst.LeftParen())
            rpar.insert(0, cst.RightParen(blanks))
        else:
            closing[0] = cst.RightParen(ending_like(blanks, closing[0].whitespace_before))
    return value.with_changes(lpar=lpar, rpar=[*value.rpar, *rpar])


def argument_deleted(index: int) -> Change:
    def change(node: cst.BaseExpression, _: Around, __: Parentheses) -> cst.BaseExpression:
        return without_argument(cst.ensure_type(node, cst.Call), index)

    return change


# -- from steps to splices


def splices_of(doc: Document, steps: Iterable[Step]) -> list[Splice]:
    """What steps on expressions do, each statement's in one."""
    holes: dict[tuple[int, int], Hole] = {}
    places: dict[int, tuple[Statement, list[Hole], list[cst.BaseExpression]]] = {}
    for step in steps:
        if step.op == "assign":
            place = statement(doc, step.range, exact=True)
            _of(places, place)[2].append(_target(place))
            continue
        found, change = _CHANGES[step.op](doc, step)
        start, end = found.start, found.end
        if _lends_parentheses(doc, found):
            start, end = start + 1, end - 1
        if (start, end) not in holes:
            holes[start, end] = Hole(found.place, start, end)
            _of(places, found.place)[1].append(holes[start, end])
        holes[start, end].changes.append(change)
    return [
        splice
        for place, its_holes, targets in places.values()
        for splice in _changed(place, nested(its_holes), targets)
    ]


_Places = dict[int, tuple[Statement, list[Hole], list[cst.BaseExpression]]]


def _of(places: _Places, place: Statement) -> tuple[Statement, list[Hole], list[cst.BaseExpression]]:
    return places.setdefault(id(place.node), (place, [], []))


def nested(holes: Iterable[Hole]) -> list[Hole]:
    """The outermost holes, each with those inside of it."""
    outer: list[Hole] = []
    for hole in sorted(holes, key=lambda hole: (hole.start, -hole.end)):
        if outer and hole.end <= outer[-1].end:
            outer[-1].inner = nested([*outer[-1].inner, hole])
        else:
            outer.append(hole)
    return outer


def _changed(place: Statement, holes: Sequence[Hole], targets: Sequence[cst.BaseExpression]) -> list[Splice]:
    """What becomes of the statement, with as few parentheses as mean the same."""
    doc = place.doc
    # What follows an ``el`` is an ``if``.
    start = place.start + 2 * place.is_elif
    snippet = Snippet(
        doc,
        start,
        place.end,
        first_indentation(place),
        stand_ins=[fold for _, fold in folds(doc, [place.node], ())],
        done=_splices(holes),
        within_line=True,
    )

    def attempt(bare: frozenset[int]) -> tuple[cst.Module, int, str]:
        parentheses = Parentheses(bare)
        try:
            module = filled(snippet.module, holes, parentheses)
            for target in targets:
                module = cst.ensure_type(module.visit(_Assign(parentheses.within(target))), cst.Module)
            return module, parentheses.count, _meaning(module.code)
        except (SyntaxError, ValueError) as error:  # libcst says the former, too
            raise EditError("the new expression does not fit") from error

    bare: frozenset[int] = frozenset()
    module, count, meaning = attempt(bare)
    number = 0
    while number < count:
        try:
            without = attempt(bare | {number})
        except EditError:
            number += 1
            continue
        if without[2] == meaning:
            # What stands bare may need another pair further out, which then comes next.
            bare |= {number}
            module, count, _ = without
        number += 1
    return snippet.splices(module)


def _meaning(code: str) -> str:
    """The syntax tree, without what an f-string like ``f"{x=}"`` says of the source."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            node.values = [value for value in node.values if not isinstance(value, ast.Constant)]
    return ast.dump(tree)


class _Assign(cst.CSTTransformer):
    def __init__(self, target: cst.BaseExpression) -> None:
        super().__init__()
        self.target = target

    def leave_Expr(self, original_node: cst.Expr, updated_node: cst.Expr) -> cst.BaseSmallStatement:
        target = cast(cst.BaseAssignTargetExpression, self.target)
        return cst.Assign([cst.AssignTarget(target)], updated_node.value, semicolon=updated_node.semicolon)


def _target(place: Statement) -> cst.BaseExpression:
    """``x`` of the statement ``x.detach()``."""
    node = place.node
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        raise EditError("not a call on its own")
    function = node.value.func
    if not isinstance(function, ast.Attribute):
        raise EditError("not a method call")
    if any(isinstance(inner, (ast.Call, ast.Await, ast.NamedExpr)) for inner in ast.walk(function.value)):
        raise EditError("assigning would evaluate a call twice")
    if not isinstance(function.value, (ast.Name, ast.Attribute, ast.Subscript)):
        raise EditError("not something that can be assigned to")
    return read(place.doc.source(function.value))


def _lends_parentheses(doc: Document, found: Expression) -> bool:
    """Whether this is the generator of ``f(x for x in y)``, whose parentheses are the call's."""
    node, parent = found.node, found.parent
    if not (isinstance(node, ast.GeneratorExp) and isinstance(parent, ast.Call) and parent.args == [node]):
        return False
    # ``f((x for x in y))`` has both pairs, and then the call ends later.
    return found.end == doc.node_span(parent)[1]


def _append(doc: Document, step: Step) -> tuple[Expression, Change]:
    start, end = doc.span(step.range)
    stars = len(re.match(r"\**\s*", doc.text[start:end])[0])  # type: ignore[index]
    return expression(doc, doc.range(start + stars, end)), appended(step.text)


def _replace(doc: Document, step: Step) -> tuple[Expression, Change]:
    return expression(doc, step.range), replaced(in_lines_of(doc, step.text))


def _strip_call(doc: Document, step: Step) -> tuple[Expression, Change]:
    return expression(doc, step.range), without_call


def _delete_argument(doc: Document, step: Step) -> tuple[Expression, Change]:
    span = doc.span(step.range)
    call = expression(doc, step.other) if step.other else _call_with(doc, span)
    if not isinstance(call.node, ast.Call):
        raise EditError("not a call")
    spans = sorted(doc.node_span(each) for each in (*call.node.args, *call.node.keywords))
    if span not in spans:
        raise EditError("not an argument of this call")
    return call, argument_deleted(spans.index(span))


def _call_with(doc: Document, span: tuple[int, int]) -> Expression:
    """The call that has this argument."""
    place = statement_holding(doc, *span)
    for node in ast.walk(place.node):
        if isinstance(node, ast.Call):
            if span in [doc.node_span(argument) for argument in (*node.args, *node.keywords)]:
                return expression(doc, doc.range(*doc.node_span(node)))
    raise EditError("not an argument")


_CHANGES: dict[str, Callable[[Document, Step], tuple[Expression, Change]]] = {
    "append": _append,
    "replace": _replace,
    "strip_call": _strip_call,
    "delete_argument": _delete_argument,
}


def strips_all(doc: Document, step: Step) -> Statement | None:
    """The statement that says nothing without the call: a lone ``x``, or ``x = x``."""
    found = expression(doc, step.range)
    call, node = found.node, found.place.node
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return None
    value = call.func.value
    effects = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
    if any(isinstance(inner, effects) for inner in ast.walk(value)):
        return None
    if isinstance(node, ast.Expr):
        says_nothing = node.value is call
    else:
        says_nothing = (
            isinstance(node, ast.Assign)
            and node.value is call
            and [ast.unparse(target) for target in node.targets] == [ast.unparse(value)]
        )
    return found.place if says_nothing else None
