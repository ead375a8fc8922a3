"""For a graph whose saved values have changed: cut what carries it, or put build, step and backward in order."""

from __future__ import annotations

import ast
from dataclasses import replace

from loopgrad.analysis.observation import Observation
from loopgrad.analysis.where import Site
from loopgrad.model import FixRequest, Message, Step

from ..context import Context
from ..syntax import Loop
from ..words import names
from . import moves, nograd, outside, retain
from .carried import at_store, detaching
from .edits import File, distinct, request
from .shared import first_reads, summed
from .stores import stores


def requests(seen: Observation, context: Context) -> list[FixRequest]:
    plain = _out_of_place(seen, context)
    carried = bool(seen.facts.get("loop_run")) and not seen.facts.get("outside")
    if plain and not carried:
        return distinct(plain)
    if seen.facts.get("outside"):
        found = outside.anew_or_never(seen, context)
    elif carried:
        # What is saved may be a weight, which an update by hand has to change in place: then the carrier is cut.
        found = [*plain, *detaching(seen, context)]
    else:
        moved, rest = _reordered(seen, context), _within(seen, context)
        anew = _computed_again(seen, context)
        anew = [*released(anew, seen, context), *anew]
        later = _group_later(seen, context)
        return distinct([*moved[:1], *later, *anew, *moved[1:], *rest])
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


_OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@", ast.Pow: "**", ast.Mod: "%",
    ast.FloorDiv: "//",
}  # fmt: skip


def _out_of_place(seen: Observation, context: Context) -> list[FixRequest]:
    """``x = x + f(x)`` for the ``x += f(x)`` that changes what is saved; and for all of them in its function."""
    change = seen.facts.get("modified")
    if not isinstance(change, Site):
        return []
    file = File(context, context.path(change))
    statement = file.tree.statement(change.node)
    text = _written_out(statement, file)
    if statement is None or text is None:
        return _without_underscore(change, statement, file)
    one = [file.step("insert_before", statement, text), file.step("delete", statement)]
    steps = list(one)
    function = file.tree.function(statement) or file.tree.tree
    for each in ast.walk(function):
        if isinstance(each, ast.AugAssign) and each is not statement:
            other = _written_out(each, file)
            if other is not None and ast.dump(each.target) == ast.dump(statement.target):  # type: ignore[attr-defined]
                steps += [file.step("insert_before", each, other), file.step("delete", each)]
    title = Message.of("fix.out-of-place", names=names([file.source(statement.target)]))  # type: ignore[attr-defined]
    return [*request("out-of-place", title, one), *request("out-of-place", title, steps)]


def _without_underscore(change: Site, statement: ast.stmt | None, file: File) -> list[FixRequest]:
    """``x.sub(a).div(b)`` for ``x.sub_(a).div_(b)``; ``x = x.sub(a)`` where that was all that the statement did."""
    call = change.node
    if not isinstance(call, ast.Call) or not _in_place(call):
        return []
    names_of, top = [], call
    parent, above = file.tree.parent(call), None
    while isinstance(parent, ast.Attribute) and isinstance(above := file.tree.parent(parent), ast.Call):
        top, parent = above, file.tree.parent(above)
    inner: ast.expr = top
    while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
        names_of += [inner.func.attr] if _in_place(inner) else []
        inner = inner.func.value
    text = file.source(top)
    for name in names_of:
        text = text.replace(f".{name}(", f".{name[:-1]}(")
    if isinstance(statement, ast.Expr) and statement.value is top:
        if not isinstance(inner, ast.Name) or not _is_computed(inner.id, file.tree.scope(top)):
            return []
        text = f"{inner.id} = {text}"
    title = Message.of("fix.out-of-place", names=names([file.source(inner)]))
    return request("out-of-place", title, [file.step("replace", top, text)])


def _in_place(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return name.endswith("_") and not name.endswith("__") and len(name) > 1


def _is_computed(name: str, scope: ast.AST) -> bool:
    """Whether a function computes what it calls so: then nothing but it can miss the change in place."""
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, (ast.Call, ast.BinOp))
        and any(ast.unparse(target) == name for target in node.targets)
        for node in ast.walk(scope)
    )


def _written_out(statement: ast.stmt | None, file: File) -> str | None:
    """``x = x + (value)`` as text, for an augmented assignment to a name or an attribute."""
    if not isinstance(statement, ast.AugAssign) or not isinstance(
        statement.target, (ast.Name, ast.Attribute)
    ):
        return None
    sign = _OPERATORS.get(type(statement.op))
    if sign is None:
        return None
    target, value = file.source(statement.target), file.source(statement.value)
    simple = isinstance(statement.value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant))
    return f"{target} = {target} {sign} {value if simple else f'({value})'}"


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


def _group_later(seen: Observation, context: Context) -> list[FixRequest]:
    """``opt.zero_grad(); loss.backward(); opt.step()`` as a whole behind the other optimizer's step.

    Its own zero_grad clears what the other loss leaves in the gradients, so both steps stay what they were.
    """
    change, raised = seen.facts.get("modified"), seen.raised
    if not isinstance(change, Site) or raised is None or context.path(change) != context.path(raised):
        return []
    file = File(context, context.path(change))
    step, backward = file.tree.statement(change.node), file.tree.statement(raised.node)
    pair = file.tree.common_block(step, backward) if step is not None and backward is not None else None
    if step is None or pair is None or pair[0] is not step or not _before(file, step, pair[1]):
        return []
    backward = pair[1]
    block = file.tree.block(step)
    own = _receiver_of(step, "step")
    at, then = (next(i for i, each in enumerate(block) if each is one) for one in (step, backward))
    last = next((i for i in range(then + 1, len(block)) if _receiver_of(block[i], "step")), None)
    if own is None or last is None:
        return []
    first = next((i for i in range(at - 1, -1, -1) if _receiver_of(block[i], "zero_grad") == own), None)
    earlier = _group_earlier(file, block, first, at, then, last)
    moved: list[Step] = []
    if first is None:
        # It is cleared elsewhere: here once more, behind the other loss.
        first = next((i for i in range(at - 1, -1, -1) if _runs_backward(block[i])), None)
        moved.append(file.step("insert_after", block[last], f"{own}.zero_grad()"))
    if first is None or not all(
        isinstance(each, ast.Expr) or _runs_backward(each) for each in block[first : at + 1]
    ):
        return earlier
    title = Message.of("fix.reorder.group", first=step.lineno, second=block[last].lineno)
    moved += [file.step("move_after", each, other=block[last]) for each in block[first : at + 1]]
    return [*request("reorder", title, moved), *earlier]


def _group_earlier(
    file: File, block: list[ast.stmt], first: int | None, at: int, then: int, last: int
) -> list[FixRequest]:
    """The other optimizer's ``zero_grad``, backward and step, as a whole in front of the first group, at ``first``."""
    other = _receiver_of(block[last], "step")
    start = next((i for i in range(then, at, -1) if _receiver_of(block[i], "zero_grad") == other), None)
    if first is None or start is None:
        return []
    group = block[start : last + 1]
    if not all(isinstance(each, ast.Expr) for each in group):
        return []
    title = Message.of("fix.reorder.group-earlier", first=block[last].lineno, second=block[at].lineno)
    return request("reorder", title, [file.step("move_before", each, other=block[first]) for each in group])


def _runs_backward(statement: ast.stmt) -> bool:
    """``loss.backward()``, alone or as all that an ``if`` does."""
    if isinstance(statement, ast.If):
        return not statement.orelse and all(map(_runs_backward, statement.body))
    return _receiver_of(statement, "backward") is not None


def _receiver_of(statement: ast.stmt, method: str) -> str | None:
    """``opt`` of the statement ``opt.step()``."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == method:
        return ast.unparse(value.func.value)
    return None


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
