"""Turns the steps of a fix into edits: from plain data to text.

A ``Step`` names one of these operations. ``range`` is where, in the original text; ``text`` what to write.

=================== ====================================================================================
``append``          put ``text`` (``.detach()``, ``.item()``) behind an expression
``replace``         replace an expression by ``text``; ``{0}`` in it is what was there
``assign``          make ``x.detach()`` on its own ``x = x.detach()``
``strip_call``      take the last method call off an expression; a statement that says nothing then goes
``delete_argument`` take the argument at ``range`` out of the call at ``other``
``insert_before``   put statement lines ``text`` in front of a statement
``insert_after``    put them behind it
``prepend_body``    put them at the start of a loop's or function's body
``append_body``     put them at the end of it
``wrap``            indent the statements from ``range`` to ``other`` under the header ``text``
``decorate``        put a decorator ``text`` on the function at ``range``
``delete``          take a statement out
``move_before``     move the statement at ``range`` in front of the one at ``other``
``move_after``      move it behind that one
``move_into_body``  move it to the start of that one's body
``suppress``        put ``# loopgrad: ignore[text]`` on the line
=================== ====================================================================================

All steps of a fix speak of the original text. Operations on expressions are done first, all at once, then
those on statements: so a statement can be moved and have something inside it changed, in one fix. An
operation that does not fit raises ``EditError``, as does a result that is not valid Python or no change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from loopgrad.model import Edit, Range, Step

from . import expressions, statements
from .imports import with_torch
from .locate import parses
from .text import Document, Draft, EditError, Splice, apply, as_edits, document, shifted

Operation = Callable[[Document, Step], list[Splice]]

EXPRESSIONS: dict[str, Operation] = {
    "append": lambda doc, step: expressions.append(doc, step.range, step.text),
    "replace": lambda doc, step: expressions.replace(doc, step.range, step.text),
    "assign": lambda doc, step: expressions.assign(doc, step.range),
    "strip_call": lambda doc, step: expressions.strip_call(doc, step.range),
    "delete_argument": lambda doc, step: expressions.delete_argument(doc, step.range, step.other),
}

STATEMENTS: dict[str, Operation] = {
    "insert_before": lambda doc, step: statements.insert_before(doc, step.range, step.text),
    "insert_after": lambda doc, step: statements.insert_after(doc, step.range, step.text),
    "prepend_body": lambda doc, step: statements.prepend_body(doc, step.range, step.text),
    "append_body": lambda doc, step: statements.append_body(doc, step.range, step.text),
    "wrap": lambda doc, step: statements.wrap(doc, step.range, step.other, step.text),
    "decorate": lambda doc, step: statements.decorate(doc, step.range, step.text),
    "delete": lambda doc, step: statements.delete(doc, step.range),
    "move_before": lambda doc, step: statements.move(doc, step.range, step.other, "before"),
    "move_after": lambda doc, step: statements.move(doc, step.range, step.other, "after"),
    "move_into_body": lambda doc, step: statements.move(doc, step.range, step.other, "into"),
    "suppress": lambda doc, step: statements.suppress(doc, step.range, step.text),
}


def edits_of(steps: Iterable[Step], text_of: Callable[[str], str]) -> tuple[Edit, ...]:
    """The edits that a fix's steps make, in every file they name."""
    by_path: dict[str, list[Step]] = {}
    for step in steps:
        by_path.setdefault(step.path, []).append(step)
    edits: list[Edit] = []
    for path, its_steps in by_path.items():
        edits += file_edits(path, text_of(path), its_steps)
    if not edits:
        raise EditError("a fix without an edit")
    return tuple(edits)


def file_edits(path: str, text: str, steps: Sequence[Step]) -> tuple[Edit, ...]:
    """The edits of one file: minimal, in order, not overlapping, and valid Python once applied."""
    unknown = [step.op for step in steps if step.op not in EXPRESSIONS and step.op not in STATEMENTS]
    if unknown:
        raise EditError(f"no such operation: {unknown[0]}")
    doc = document(text)
    draft = Draft(doc)
    done = _round(draft, doc, [step for step in steps if step.op in EXPRESSIONS], EXPRESSIONS)
    later = [step for step in steps if step.op in STATEMENTS]
    if later:
        _refuse_crossing(later)
        current = document(draft.text)
        moved = [_carried(step, doc, current, done) for step in later]
        _round(draft, current, moved, STATEMENTS)
    edits = as_edits(path, doc, draft.splices())
    if not edits:
        raise EditError("the fix changes nothing")
    if not parses(draft.text):
        raise EditError("the fix would not be valid Python")
    return edits


def _refuse_crossing(steps: Sequence[Step]) -> None:
    """One statement cannot be wrapped and moved, or moved twice: the order would decide what that means."""
    taking = [step for step in steps if step.op in ("wrap", "delete") or step.op.startswith("move_")]
    extents = []
    for step in taking:
        last = step.other if step.op == "wrap" and step.other else step.range
        extents.append(((step.range.line, step.range.column), (last.end_line, last.end_column)))
    extents.sort()
    if any(right[0] < left[1] for left, right in pairwise(extents)):
        raise EditError("steps that take the same statement")


def _round(
    draft: Draft, doc: Document, steps: Sequence[Step], operations: dict[str, Operation]
) -> list[Splice]:
    splices: list[Splice] = []
    for step in steps:
        text, imported = with_torch(doc, step.range, step.text)
        said = Step(step.op, step.path, step.range, text, step.other)
        splices += [*imported, *operations[step.op](doc, said)]
    return draft.apply(splices)


def _carried(step: Step, old: Document, new: Document, done: Sequence[Splice]) -> Step:
    """The step with its ranges as they are after the first round."""

    def carry(range_: Range) -> Range:
        start, end = old.span(range_)
        return new.range(shifted(done, start, after=False), shifted(done, end, after=True))

    return Step(step.op, step.path, carry(step.range), step.text, step.other and carry(step.other))


__all__ = ["EXPRESSIONS", "STATEMENTS", "EditError", "apply", "edits_of", "file_edits"]
