"""One backward over a sum, in place of a backward in every round of a loop that takes no step itself.

``for loss in losses: loss.backward()`` walks what the losses share once for each of them. Where the loop does
nothing else it becomes a sum; else the losses are collected, and their sum is walked behind the loop.
"""

from __future__ import annotations

import ast

from loopgrad.analysis.observation import Observation
from loopgrad.analysis.where import Site
from loopgrad.model import FixRequest, Message, Step

from ..context import Context
from ..syntax import Function, calls_in, method_name
from .edits import File, request

#: What makes a loop a training loop of its own: its backward calls are not for one step.
_STEPS = ("step", "zero_grad", "update", "clip_grad_norm_", "zero_", "optimize")


def over_loop(seen: Observation, context: Context) -> list[FixRequest]:
    """The request, where the backward that frees and the one that fails are one call of one loop."""
    raised = seen.raised or seen.facts.get("retained")
    if not isinstance(raised, Site):
        return []
    file = File(context, context.path(raised))
    statement = file.tree.statement(raised.node)
    call = _backward(statement)
    loop = _loop_around(statement, file)
    if call is None or loop is None or statement is None or loop.orelse:
        return []
    if any(method_name(each) in _STEPS for each in calls_in(loop)) or _leaves(loop):
        return []
    if sum(method_name(each) in ("backward", "grad") for each in calls_in(loop)) != 1:
        return []
    if not _step_behind(loop, file):
        return []
    assert isinstance(call.func, ast.Attribute)
    loss = file.source(call.func.value)
    title = Message.of("fix.sum-losses.loop", loss=loss)
    steps = _as_sum(loop, statement, loss, file) or _collected(loop, statement, call, file)
    return request("sum-losses", title, steps)


def _backward(statement: ast.stmt | None) -> ast.Call | None:
    value = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(value, ast.Call) and method_name(value) == "backward" and not value.args:
        if isinstance(value.func, ast.Attribute) and all(
            each.arg == "retain_graph" for each in value.keywords
        ):
            return value
    return None


def _loop_around(statement: ast.stmt | None, file: File) -> ast.For | ast.While | None:
    node: ast.AST | None = statement
    while node is not None and not isinstance(node, Function):
        node = file.tree.parent(node)
        if isinstance(node, (ast.For, ast.While)):
            return node
    return None


def _leaves(loop: ast.For | ast.While) -> bool:
    """Whether the loop may be left by a return, or gives values out in between."""
    return any(isinstance(each, (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)) for each in ast.walk(loop))


def _step_behind(loop: ast.For | ast.While, file: File) -> bool:
    """Whether a step follows the loop, or is not in this function at all (the caller's): not above it alone."""
    function = file.tree.function(loop) or file.tree.tree
    steps = [each for each in calls_in(function) if method_name(each) == "step"]
    end = loop.end_lineno or loop.lineno
    return not steps or any(each.lineno > end for each in steps)


def _as_sum(loop: ast.For | ast.While, statement: ast.stmt, loss: str, file: File) -> list[Step]:
    """``sum(loss for loss in losses if wanted).backward()`` in place of a loop that does just this."""
    if not isinstance(loop, ast.For) or len(loop.body) != 1:
        return []
    inner, condition = loop.body[0], ""
    if isinstance(inner, ast.If) and not inner.orelse and len(inner.body) == 1:
        condition = f" if {file.source(inner.test)}"
        inner = inner.body[0]
    if inner is not statement:
        return []
    each = f"{loss} for {file.source(loop.target)} in {file.source(loop.iter)}{condition}"
    return [file.step("insert_before", loop, f"sum({each}).backward()"), file.step("delete", loop)]


def _collected(loop: ast.For | ast.While, statement: ast.stmt, call: ast.Call, file: File) -> list[Step]:
    """``losses.append(loss)`` in the loop, and their sum's backward behind it."""
    used = {each.id for each in ast.walk(file.tree.tree) if isinstance(each, ast.Name)}
    name = next(
        each
        for each in ("losses", "step_losses", "collected_losses", "losses_")
        if each not in used or each == "losses_"
    )
    assert isinstance(call.func, ast.Attribute)
    return [
        file.step("insert_before", loop, f"{name} = []"),
        file.step("replace", call, f"{name}.append({file.source(call.func.value)})"),
        file.step("insert_after", loop, f"sum({name}).backward()"),
    ]
