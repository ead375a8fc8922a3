"""Operations on statements: insert, wrap, decorate, delete, move.

Each says in a ``Plan`` what is to become of a statement. The plans of a fix are then carried out together, on
the smallest regions that hold them (see ``regions`` and ``rebuild``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from loopgrad.model import Range, Step

from .locate import Function, Statement, statement, statement_holding
from .text import Document, EditError

_LEAVES = (ast.Return, ast.Raise, ast.Break)


#: What is put somewhere: the text of statements, or a statement that moves there.
Put = str | Statement


@dataclass
class Plan:
    """What is to become of a statement and of the lines around it."""

    place: Statement
    before: list[Put] = field(default_factory=list)
    after: list[Put] = field(default_factory=list)
    #: Behind the comments that end the block.
    at_end: list[Put] = field(default_factory=list)
    decorators: list[str] = field(default_factory=list)
    #: The places of decorators that go, counted from the top.
    undecorated: set[int] = field(default_factory=set)
    #: A header for the statements from this one to the one of the plan, which knows that it is the last.
    header: tuple[str, Plan] | None = None
    is_last: bool = False
    gone: bool = False
    moved: bool = False
    #: It was all that its block had: ``pass`` takes its place.
    leaves_pass: bool = False

    @property
    def ends(self) -> tuple[Statement, Statement]:
        """The first and the last statement to read: a ``with`` above may take in what goes under another."""
        if self.header is None:
            return self.place, self.place
        index = self.place.index
        above = index > 0 and isinstance(self.place.block[index - 1], ast.With)
        return self.place.sibling(index - above), self.header[1].place


class Plans:
    """The plans of a fix, by statement."""

    def __init__(self) -> None:
        self._plans: dict[int, Plan] = {}
        #: The ids of statements that are read as they are: those that move, or go under a header.
        self.whole: set[int] = set()

    def __iter__(self) -> Iterator[Plan]:
        return iter(self._plans.values())

    def at(self, place: Statement) -> Plan:
        return self._plans.setdefault(id(place.node), Plan(place))

    def of(self, node: ast.stmt) -> Plan | None:
        return self._plans.get(id(node))


def plans_of(doc: Document, steps: Iterable[Step]) -> Plans:
    """The plans that a fix's steps on statements make, refused where the order would decide what they mean."""
    plans = Plans()
    for step in steps:
        OPERATIONS[step.op](doc, step, plans)
    for plan in plans:
        if any((outer := plans.of(each.node)) and outer.gone for each in plan.place.outers):
            raise EditError("a step inside a statement that goes")
        siblings = [plans.of(each) for each in plan.place.block]
        if plan.place.outer and not any(
            each is None or not each.gone or each.before or each.after or each.at_end for each in siblings
        ):
            plan.leaves_pass = plan is siblings[-1]
    return plans


def _insert_before(doc: Document, step: Step, plans: Plans) -> None:
    plans.at(statement(doc, step.range)).before.append(step.text)


def _insert_after(doc: Document, step: Step, plans: Plans) -> None:
    plans.at(statement(doc, step.range)).after.append(step.text)


def _body(doc: Document, range_: Range) -> list[Statement]:
    place = statement_holding(doc, *doc.span(range_))
    block = getattr(place.node, "body", None)
    if not isinstance(block, list):
        raise EditError("not a statement with a body")
    return [place.inside(place.node, block, index) for index in range(len(block))]


def _append_body(doc: Document, step: Step, plans: Plans) -> None:
    """At the end of a loop's body, where control still gets there."""
    last = _body(doc, step.range)[-1]
    if isinstance(last.node, ast.Continue):
        plans.at(last).before.append(step.text)
    elif isinstance(last.node, _LEAVES):
        raise EditError("the end of the body is never reached")
    else:
        plans.at(last).at_end.append(step.text)


def _prepend_body(doc: Document, step: Step, plans: Plans) -> None:
    _at_start(plans, _body(doc, step.range), step.text)


def _at_start(plans: Plans, body: Sequence[Statement], put: Put) -> None:
    """At the start of a body, behind its docstring."""
    first = body[1] if _is_docstring(body[0]) and len(body) > 1 else body[0]
    plan = plans.at(first)
    (plan.after if _is_docstring(first) else plan.before).append(put)


def _is_docstring(place: Statement) -> bool:
    return (
        place.index == 0
        and isinstance(place.owner, (*Function, ast.ClassDef))
        and ast.get_docstring(place.owner, clean=False) is not None
    )


def _wrap(doc: Document, step: Step, plans: Plans) -> None:
    """The statements from one to the other under a header such as ``with torch.no_grad():``."""
    first = statement(doc, step.range)
    last = statement(doc, step.other) if step.other else first
    if first.block is not last.block or last.index < first.index:
        raise EditError("not consecutive statements of one block")
    plans.at(first).header = (step.text, plans.at(last))
    plans.at(last).is_last = True
    plans.whole.update(id(each) for each in first.block[first.index : last.index + 1])


def _decorate(doc: Document, step: Step, plans: Plans) -> None:
    """A decorator directly above the ``def``, innermost: below ``@staticmethod`` and its like."""
    place = statement(doc, step.range)
    name = step.text.strip().removeprefix("@")
    if not isinstance(place.node, Function):
        raise EditError("not a function")
    if any(doc.source(decorator) == name for decorator in place.node.decorator_list):
        raise EditError("decorated so already")
    plans.at(place).decorators.append(name)


def _undecorate(doc: Document, step: Step, plans: Plans) -> None:
    """Takes the decorator ``text`` off the ``def``."""
    place = statement(doc, step.range)
    if not isinstance(place.node, Function):
        raise EditError("not a function")
    found = [i for i, each in enumerate(place.node.decorator_list) if doc.source(each) == step.text]
    if not found:
        raise EditError("not decorated so")
    plans.at(place).undecorated.update(found)


def _delete(doc: Document, step: Step, plans: Plans) -> None:
    plans.at(statement(doc, step.range, exact=True)).gone = True


def _move(where: str) -> Operation:
    """Moves a statement, with the comments directly above it, ``before``, ``after`` or ``into`` another."""

    def move(doc: Document, step: Step, plans: Plans) -> None:
        place = statement(doc, step.range, exact=True)
        if step.other is None:
            raise EditError("nowhere to move to")
        body = _body(doc, step.other) if where == "into" else [statement(doc, step.other)]
        goal = body[0]
        if where == "into" and _is_docstring(goal) and len(body) > 1:
            goal = body[1]
        if place.node is goal.node or any(place.node is each.node for each in goal.outers):
            raise EditError("a statement cannot be moved into itself")
        if place.block is goal.block and place.index - goal.index == (1 if where == "after" else -1):
            raise EditError("the statement is there already")
        if where == "into":
            _at_start(plans, body, place)
        else:
            getattr(plans.at(goal), where).append(place)
        plan = plans.at(place)
        plan.gone = plan.moved = True
        plans.whole.add(id(place.node))

    return move


Operation = Callable[[Document, Step, Plans], None]

OPERATIONS: dict[str, Operation] = {
    "insert_before": _insert_before,
    "insert_after": _insert_after,
    "prepend_body": _prepend_body,
    "append_body": _append_body,
    "wrap": _wrap,
    "decorate": _decorate,
    "undecorate": _undecorate,
    "delete": _delete,
    "move_before": _move("before"),
    "move_after": _move("after"),
    "move_into_body": _move("into"),
}
