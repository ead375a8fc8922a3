"""Single calls: a ``requires_grad_()`` that goes, a ``detach()`` whose result is used after all."""

from __future__ import annotations

import ast

from loopgrad.analysis.observation import Observation
from loopgrad.model import FixRequest, Message

from ..context import Context
from ..syntax import method_name
from .edits import File, distinct, request


def stray(seen: Observation, context: Context) -> list[FixRequest]:
    """LG401: the call goes, or the argument of the call that makes the tensor."""
    file = File(context, context.path(seen.site))
    node = seen.site.node
    title = Message.of("fix.remove-requires-grad")
    if method_name(node) == "requires_grad_":
        return request("remove-requires-grad", title, [file.step("strip_call", node)])
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg == "requires_grad":
                return request(
                    "remove-requires-grad", title, [file.step("delete_argument", keyword, other=node)]
                )
    return []


def dropped(seen: Observation, context: Context) -> list[FixRequest]:
    """LG402: ``x = x.detach()``; or the statement goes, since it does nothing."""
    file = File(context, context.path(seen.site))
    node = seen.site.node
    statement = file.tree.statement(node)
    if not isinstance(statement, ast.Expr) or not isinstance(node, ast.Call):
        return []
    name = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    looped = _over_container(statement, node, file)
    if looped:
        return distinct(looped)
    assigned = request("detach", Message.of("fix.assign", name=name), [file.step("assign", statement)])
    removed = request(
        "keep-graph", Message.of("fix.remove-statement"), [file.step("strip_call", node)], preferable=False
    )
    return distinct([*assigned, *removed])


def _over_container(statement: ast.Expr, call: ast.Call, file: File) -> list[FixRequest]:
    """``for value in self.states.values(): value.detach()``: the loop's variable is not where the tensors are kept."""
    loop = file.tree.parent(statement)
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
    if (
        not isinstance(loop, ast.For)
        or not isinstance(receiver, ast.Name)
        or len(loop.body) != 1
        or loop.orelse
    ):
        return []
    source = loop.iter
    if not isinstance(loop.target, ast.Name) or loop.target.id != receiver.id:
        return []
    name = receiver.id
    if (
        method_name(source) == "values"
        and isinstance(source, ast.Call)
        and isinstance(source.func, ast.Attribute)
    ):
        kept = file.source(source.func.value)
        text = f"for key, {name} in {kept}.items():\n    {kept}[key] = {name}.detach()"
    elif isinstance(source, (ast.Name, ast.Attribute)):
        kept = file.source(source)
        text = f"{kept} = [{name}.detach() for {name} in {kept}]"
    else:
        return []
    title = Message.of("fix.assign", name=kept)
    return request("detach", title, [file.step("insert_before", loop, text), file.step("delete", loop)])
