"""For a graph whose saved values have changed: cut what carries it, or put build, step and backward in order."""

from __future__ import annotations

import ast
from dataclasses import replace

from loopgrad.analysis.observation import Observation
from loopgrad.analysis.where import Site
from loopgrad.model import FixRequest, Message

from ..context import Context
from ..syntax import Loop
from ..words import names
from . import moves, nograd, outside, retain
from .carried import at_store, detaching
from .edits import File, distinct, request
from .shared import first_reads, summed
from .stores import stores


def requests(seen: Observation, context: Context) -> list[FixRequest]:
    if seen.facts.get("outside"):
        found = outside.anew_or_never(seen, context)
    elif seen.facts.get("loop_run"):
        found = detaching(seen, context)
    else:
        moved, rest = _reordered(seen, context), _within(seen, context)
        anew = _computed_again(seen, context)
        anew = released(anew, seen, context) or anew
        return distinct([*moved[:1], *anew, *moved[1:], *rest])
    return distinct([*released(found, seen, context), *found])


def released(found: list[FixRequest], seen: Observation, context: Context) -> list[FixRequest]:
    """The same fixes with ``retain_graph=True`` taken away, which is of no use then."""
    retained = seen.facts.get("retained")
    removed = retain.step(retained, context) if isinstance(retained, Site) else None
    if removed is None:
        return []
    return [
        replace(
            each,
            title=Message.of("fix.and-remove-retain-graph", title=each.title),
            steps=(*each.steps, removed),
        )
        for each in found[:5]
    ]


def _reordered(seen: Observation, context: Context) -> list[FixRequest]:
    """The loss built after the step that changes its weights, or the step after the loss's backward."""
    change, raised = seen.facts.get("modified"), seen.raised
    if not isinstance(change, Site) or raised is None or context.path(change) != context.path(raised):
        return []
    file = File(context, context.path(change))
    step, backward = file.tree.statement(change.node), file.tree.statement(raised.node)
    if step is None or backward is None:
        return []
    found: list[FixRequest] = []
    build = file.tree.statement(seen.site.node) if context.path(seen.site) == file.path else None
    if isinstance(build, ast.Assign) and _before(file, build, step):
        what = names([carrier.text for carrier in seen.carriers]) if seen.carriers else Message.of("fix.this")
        title = Message.of("fix.reorder.build", names=what, line=step.lineno)
        found += request("reorder", title, [file.step("move_after", build, other=step)])
    if isinstance(step, ast.Expr) and _before(file, step, backward):
        # The step then also takes what the second loss leaves in the gradients: offered, never applied unasked.
        title = Message.of("fix.reorder.step", line=backward.lineno)
        moved = [file.step("move_after", step, other=backward)]
        found += request("reorder", title, moved, preferable=False)
    return found


def _computed_again(seen: Observation, context: Context) -> list[FixRequest]:
    """The value computed a second time after the step, for what is used on both sides of it."""
    what = names([carrier.text for carrier in seen.carriers])
    recompute = Message.of("fix.recompute.property", names=what)
    found = request("recompute", recompute, moves.as_property(seen.site, context))
    change = seen.facts.get("modified")
    if not isinstance(change, Site) or context.path(change) != context.path(seen.site):
        return found
    file = File(context, context.path(change))
    step, build = file.tree.statement(change.node), file.tree.statement(seen.site.node)
    if step is None or not isinstance(build, ast.Assign):
        return found
    pair = file.tree.common_block(build, step)
    if pair is None or pair[0] is not build or not _before(file, build, pair[1]):
        return found
    title = Message.of("fix.recompute.again", names=what, line=step.lineno)
    again = file.source(build)
    if isinstance(
        pair[1], Loop
    ):  # the loop steps in every iteration, so the value is computed in every iteration
        return found + request("recompute", title, [file.step("prepend_body", pair[1], again)])
    return found + request("recompute", title, [file.step("insert_after", pair[1], again)])


def _before(file: File, one: ast.stmt, other: ast.stmt) -> bool:
    block = file.tree.block(one)
    return any(each is other for each in block) and one.lineno < other.lineno


def _within(seen: Observation, context: Context) -> list[FixRequest]:
    """Two losses of one pass: cut the shared value in the first one, or add them up."""
    several = names([carrier.text for carrier in seen.carriers])
    wrapped = nograd.wrap_building(seen.site, context)
    # Where an optimizer steps what is behind it, a cut takes a gradient away that may be meant.
    unwanted = seen.facts.get("held") is False
    title = Message.of("fix.no_grad.build", names=several)
    found = request("no_grad", title, wrapped, preferable=unwanted)
    carriers = stores(seen.carriers, context)
    title = Message.of("fix.detach.store", names=several)
    found += request("detach", title, at_store(carriers), preferable=unwanted)
    for store in carriers[:1]:
        for steps in first_reads(store, seen, context):
            found += request("detach", Message.of("fix.detach.first-loss", names=names([store.name])), steps)
    return [*found, *summed(seen, context)]
