"""For a loss or an optimizer that lost its graph: take the cut away, where the cut is a statement of its own.

A ``detach()`` goes, a ``no_grad`` block is dissolved, ``item()`` goes. What has no gradient in itself
(``argmax``, rounding, numpy) has no edit that is right.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from loopgrad.analysis.observation import Observation
from loopgrad.analysis.where import Site
from loopgrad.model import FixRequest, Message, Step

from ..context import Context
from ..syntax import Function, calls_in, method_name, names_read, targets_of
from .edits import File, distinct, request
from .moves import dissolved

_STRIPPED = ("detach", "item", "tolist", "detach_")


def requests(seen: Observation, context: Context) -> list[FixRequest]:
    found: list[FixRequest] = []
    ways = [list(removals(kind, site, context)) for kind, site in seen.facts.get("cuts") or ()]
    if len(ways) > 1 and all(ways):
        # Each summand has a cut of its own: the loss is whole again when all of them are gone.
        title = ways[0][0][0] if len({title for title, _ in (way[0] for way in ways)}) == 1 else None
        together = [step for way in ways for step in way[0][1]]
        found += request("keep-graph", title or Message.of("fix.keep-graph.several"), together)
    inside = _function_records(seen, context)
    if not any(way for way in ways):
        found += inside
    for title, steps in (each for way in ways for each in way):
        found += request("keep-graph", title, steps)
    found += inside
    for site in (site for kind, site in seen.facts.get("cuts") or () if kind == "frozen"):
        found += request("reorder", Message.of("fix.reorder.freeze"), _frozen_first(site, seen, context))
    return distinct(found)


def _function_records(seen: Observation, context: Context) -> list[FixRequest]:
    """``@torch.enable_grad()`` on the function with the backward, where its caller has switched gradients off."""
    raised = seen.raised
    away = [site for kind, site in seen.facts.get("cuts") or () if kind == "no_grad"]
    if raised is None or not away:
        return []
    file = File(context, context.path(raised))
    function = file.tree.function(raised.node)
    if not isinstance(function, ast.FunctionDef) or any(
        context.path(site) == file.path and file.tree.scope(site.node) is function for site in away
    ):
        return []
    title = Message.of("fix.keep-graph.function", function=function.name)
    return request("keep-graph", title, [file.step("decorate", function, _ON)])


def _frozen_first(site: Site, seen: Observation, context: Context) -> list[Step]:
    """``freeze(model)`` moved above the statement that gives the model a new part, which is to be trained.

    The freezing statement stands beside the assignment, or the call that leads to it does.
    """
    for file, statement in _ways_to(site, context):
        block = file.tree.block(statement)
        at = next((i for i, each in enumerate(block) if each is statement), 0)
        for above in reversed(block[:at]):
            if isinstance(above, ast.Assign) and isinstance(above.targets[0], (ast.Attribute, ast.Subscript)):
                return [file.step("move_before", statement, other=above)]
    return []


def _ways_to(site: Site, context: Context) -> Iterator[tuple[File, ast.stmt]]:
    """The statement at a site, those around it, and the calls of its function in the same file."""
    file = File(context, context.path(site))
    statement = file.tree.statement(site.node)
    while statement is not None:
        yield file, statement
        parent = file.tree.parent(statement)
        if isinstance(parent, Function):
            for call in calls_in(file.tree.tree):
                outer = file.tree.statement(call)
                if method_name(call) == parent.name and isinstance(outer, ast.Expr):
                    yield file, outer
            return
        statement = parent if isinstance(parent, ast.stmt) else None


def loss_requests(seen: Observation, context: Context) -> list[FixRequest]:
    """LG304: the cut and the statement that made the loss a leaf go together."""
    cut = next((step.site for step in seen.steps if step.role == "cut"), None)
    made = _made_leaf(seen.site, context)
    if cut is None or made is None:
        return []
    found: list[FixRequest] = []
    for title, steps in removals(seen.facts.get("cut"), cut, context):
        found += request("keep-graph", Message.of("fix.keep-graph.and-leaf", title=title), [*steps, made])
    return distinct(found)


def removals(kind: object, site: Site, context: Context) -> list[tuple[Message, list[Step]]]:
    """The ways to take a cut away."""
    file = File(context, context.path(site))
    if kind == "no_grad":
        return _no_grad(site, file)
    if kind in ("detach", "item"):
        steps = _stripped(site, file)
        if not steps:
            return []
        stacked = _stacked(site, file) if kind == "item" else []
        if stacked:
            return [(Message.of("fix.keep-graph.stack"), [*steps, *stacked])]
        return [(Message.of("fix.keep-graph.call", what=str(kind)), steps)]
    if kind == "tensor" and isinstance(site.node, ast.Call):
        stacked = _as_stack(site.node, file)
        return [(Message.of("fix.keep-graph.stack"), stacked)] if stacked else []
    return []


def _stripped(site: Site, file: File) -> list[Step]:
    node = site.node
    if isinstance(node, ast.Call) and method_name(node) in _STRIPPED:
        return [file.step("strip_call", node)]
    if isinstance(node, ast.Attribute) and node.attr == "data":
        return [file.step("replace", node, file.source(node.value))]
    calls = [call for call in calls_in(node) if method_name(call) in _STRIPPED]
    return [file.step("strip_call", calls[0])] if len(calls) == 1 else []


def _stacked(site: Site, file: File) -> list[Step]:
    """``torch.tensor(losses)`` of the same function that is made of the number, which has to keep its graph too."""
    statement = file.tree.statement(site.node)
    function = file.tree.function(site.node) or file.tree.tree
    fed = _fed_by(statement, function) if statement is not None else set()
    for call in calls_in(function):
        if ast.unparse(call.func) != "torch.tensor" or call.lineno < site.line or not call.args:
            continue
        if fed & names_read(call.args[0]) or any(each is site.node for each in ast.walk(call)):
            return _as_stack(call, file)
    return []


def _fed_by(first: ast.stmt, function: ast.AST) -> set[str]:
    """The names that a statement of a function gives a value, and those that are filled from them."""
    names: set[str] = set()
    taken = [first]
    while taken:
        names.update(*(_given(each) for each in taken))
        taken = [
            each
            for each in ast.walk(function)
            if isinstance(each, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr))
            and names & names_read(each)
            and not names.issuperset(_given(each))
        ]
    return names


def _given(statement: ast.stmt) -> set[str]:
    """The names that a statement gives a value, or fills (``losses.append(loss.item())``)."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        return {ast.unparse(call.func.value)}
    return {ast.unparse(target).split("[")[0] for target in targets_of(statement)}


def _as_stack(call: ast.Call, file: File) -> list[Step]:
    if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Constant):
        return []
    if ast.unparse(call.func).split(".")[-1] != "tensor":
        return []
    if not _a_list(call.args[0], call, file):
        return []  # torch.stack wants several; of one value nothing can be made here
    return [file.step("replace", call.func, "torch.stack")]


def _a_list(value: ast.expr, call: ast.Call, file: File) -> bool:
    """Whether an argument is plainly a list: written out, or a name that only lists are assigned to."""
    literal = (ast.List, ast.Tuple, ast.ListComp)
    if isinstance(value, literal):
        return not any(isinstance(each, ast.Constant) for each in getattr(value, "elts", ()))
    if not isinstance(value, ast.Name):
        return False
    function = file.tree.function(call) or file.tree.tree
    stored = [
        each.value
        for each in ast.walk(function)
        if isinstance(each, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == value.id for target in each.targets)
    ]
    return bool(stored) and all(isinstance(each, literal) for each in stored)


# A block or a decorator ----------------------------------------------------------------------------------


def _no_grad(site: Site, file: File) -> list[tuple[Message, list[Step]]]:
    """The ``with`` dissolved or the decorator taken off; else turned round, where a caller has switched gradients off too."""
    node: ast.AST = site.node
    if not isinstance(node, (ast.With, *Function)):
        node = next((each for each in file.tree.up(node) if isinstance(each, (ast.With, *Function))), node)
    found: list[tuple[Message, list[Step]]] = []
    if isinstance(node, ast.With):
        steps = _dissolved(node, file)
        if steps:
            found.append((Message.of("fix.keep-graph.block"), steps))
        found.append(
            (Message.of("fix.keep-graph.enable"), [file.step("replace", node.items[0].context_expr, _ON)])
        )
    elif isinstance(node, Function):
        for decorator in node.decorator_list:
            if "no_grad" in ast.unparse(decorator) or "inference_mode" in ast.unparse(decorator):
                title = Message.of(
                    "fix.keep-graph.undecorate", what=file.source(decorator), function=node.name
                )
                found.append((title, [file.step("undecorate", node, file.source(decorator))]))
                found.append((Message.of("fix.keep-graph.enable"), [file.step("replace", decorator, _ON)]))
    return found


_ON = "torch.enable_grad()"


def _dissolved(node: ast.With, file: File) -> list[Step]:
    """The body in place of the block."""
    if len(node.items) != 1 or node.items[0].optional_vars is not None:
        return []
    text = dissolved(node, file)
    return [] if text is None else [file.step("insert_before", node, text), file.step("delete", node)]


def _made_leaf(site: Site, context: Context) -> Step | None:
    """The statement ``loss.requires_grad = True`` or ``loss.requires_grad_()`` deleted."""
    file = File(context, context.path(site))
    statement = file.tree.statement(site.node)
    if isinstance(statement, ast.Expr) or (
        isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]).endswith(".requires_grad")
    ):
        return file.step("delete", statement)
    return None
