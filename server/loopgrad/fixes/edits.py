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
``undecorate``      take the decorator ``text`` off the function at ``range``
``delete``          take a statement out
``move_before``     move the statement at ``range`` in front of the one at ``other``
``move_after``      move it behind that one
``move_into_body``  move it to the start of that one's body
``suppress``        put ``# loopgrad: ignore[text]`` on the line
=================== ====================================================================================

All steps of a fix speak of the original text: a statement can be moved and have something inside it changed, in
one fix. Each is done on the libcst tree of the smallest statement that holds it: first those on expressions, then,
on what these made of the statements, those on statements. libcst is loaded with the first fix that is asked for.
An operation that does not fit raises ``EditError``, as does a statement that libcst cannot read, a result that is
not valid Python, or no change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from loopgrad.model import Edit, Step
from loopgrad.source.parse import read_tree

from .text import Document, EditError, Splice, apply, as_edits, document, merged, spliced

EXPRESSIONS = frozenset({"append", "replace", "assign", "strip_call", "delete_argument"})
STATEMENTS = frozenset(
    {"insert_before", "insert_after", "prepend_body", "append_body", "wrap", "decorate", "delete"}
    | {"undecorate", "move_before", "move_after", "move_into_body"}
)


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
    unknown = [step.op for step in steps if step.op not in EXPRESSIONS | STATEMENTS | {"suppress"}]
    if unknown:
        raise EditError(f"no such operation: {unknown[0]}")
    doc = document(text)
    try:
        splices = merged(_splices(doc, steps))
        read_tree(spliced(doc.text, splices))
    except (SyntaxError, ValueError) as error:
        raise EditError("the fix would not be valid Python") from error
    except (RecursionError, MemoryError) as error:
        raise EditError("a statement too deeply nested") from error
    if not splices:
        raise EditError("the fix changes nothing")
    return as_edits(path, doc, splices)


def _splices(doc: Document, steps: Sequence[Step]) -> list[Splice]:
    # libcst is loaded here and not before: a check without fixes has no use for it.
    from . import comments, expressions, rebuild, statements
    from .imports import with_torch

    _refuse_crossing(steps)
    said: list[Step] = []
    for step in with_torch(doc, steps):
        goes = expressions.strips_all(doc, step) if step.op == "strip_call" else None
        said.append(Step("delete", step.path, doc.range(goes.start, goes.end)) if goes else step)
    done = expressions.splices_of(doc, [step for step in said if step.op in EXPRESSIONS])
    for step in steps:
        if step.op == "suppress":
            done += comments.suppress(doc, step.range, step.text)
    plans = statements.plans_of(doc, [step for step in said if step.op in STATEMENTS])
    return rebuild.carried_out(doc, plans, done)


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


__all__ = ["EXPRESSIONS", "STATEMENTS", "EditError", "apply", "edits_of", "file_edits"]
