"""Operations on expressions: append, replace, strip_call, delete_argument, assign.

The smallest statement that holds them is read once, and all that change in it are changed together.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from typing import cast

import libcst as cst

from loopgrad.model import Step

from .changes import appended, argument_deleted, replaced, without_call
from .holes import Change, Hole, Parentheses, filled, first_indentation, names_in, nested, read
from .locate import Expression, Statement, expression, statement, statement_holding
from .snippet import Snippet, folds, in_lines_of
from .text import Document, EditError, Splice

#: A statement by its id, with the expressions in it that change, and what it is to be assigned to.
_Places = dict[int, tuple[Statement, list[Hole], list[cst.BaseExpression]]]


def splices_of(doc: Document, steps: Iterable[Step]) -> list[Splice]:
    """What steps on expressions do, each statement's in one."""
    holes: dict[tuple[int, int], Hole] = {}
    places: _Places = {}
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


def _of(places: _Places, place: Statement) -> tuple[Statement, list[Hole], list[cst.BaseExpression]]:
    return places.setdefault(id(place.node), (place, [], []))


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
        done=names_in(holes),
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
