"""For two losses over one graph: cut the shared value in the loss that must not train it, or add the losses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from loopgrad.analysis.observation import Observation
from loopgrad.analysis.where import Site
from loopgrad.model import FixRequest, Message, Step

from ..context import Context
from ..syntax import calls_in, method_name
from ..words import names
from . import nograd
from .carried import at_store
from .edits import File, distinct, request
from .stores import Store, stores
from .summing import over_loop


def requests(seen: Observation, context: Context) -> list[FixRequest]:
    carriers = stores(seen.carriers, context)[:1]
    found: list[FixRequest] = []
    for store in carriers:
        found += _kept(store, seen, context)
        for steps in first_reads(store, seen, context):
            found += request("detach", Message.of("fix.detach.first-loss", names=names([store.name])), steps)
        found += _second_reads(store, seen, context)
    found += _whole_uses(seen, context)
    if not carriers:
        found += _at_uses(seen, context)
    found += _retained(seen, context)
    for store in carriers:
        found += _computed_again(store, seen, context)
    added = [*summed(seen, context), *over_loop(seen, context)]
    # With no step between the two calls both losses are meant for the same step: then they are added.
    together = any(each.preferable for each in added)
    return distinct([*added, *found] if together else [*found, *added])


def first_reads(store: Store, seen: Observation, context: Context) -> Iterator[list[Step]]:
    """Where the shared value goes into the first loss: its reads above the first backward, all or one."""
    freed = seen.facts.get("freed")
    statement = store.statement
    if not isinstance(freed, Site) or statement is None:
        return
    function = store.scope
    tree = store.file.tree
    first = statement.end_lineno or statement.lineno
    stop = None
    if context.path(freed) == store.file.path and tree.scope(freed.node) is function:
        stop = freed.line
    second = {id(node) for site in context.sites(seen.facts.get("uses")) for node in ast.walk(site.node)}
    reads = [
        each
        for each in store.reads(function)
        if each.lineno > first and (stop is None or each.lineno <= stop) and id(each) not in second
    ]
    cuts = [steps for each in reads if (steps := store.cut_reads(each))]
    if not cuts:
        return
    if len(cuts) > 1:
        yield [step for steps in cuts for step in steps]
    yield from cuts[:3]


def _second_reads(store: Store, seen: Observation, context: Context) -> list[FixRequest]:
    steps: list[Step] = []
    for site in context.sites(seen.facts.get("uses")):
        if context.path(site) == store.file.path:
            steps += store.cut_reads(site.node)
    return request("detach", Message.of("fix.detach.second-loss", names=names([store.name])), steps)


def _at_uses(seen: Observation, context: Context) -> list[FixRequest]:
    """Without a name for the shared value: cut the operands of its use that can be cut."""
    found: list[FixRequest] = []
    for site in context.sites(seen.facts.get("uses"))[:2]:
        file = File(context, context.path(site))
        for node in ast.iter_child_nodes(site.node):
            if isinstance(node, ast.Name) and not (
                isinstance(site.node, ast.Call) and site.node.func is node
            ):
                title = Message.of("fix.detach.second-loss", names=names([node.id]))
                found += request("detach", title, [file.append(node, ".detach()")])
    return found


def _kept(store: Store, seen: Observation, context: Context) -> list[FixRequest]:
    """For what an object keeps from one pass to the other: cut at the store, or nothing recorded in its function."""
    if store.kind != "attribute":
        return []
    title = Message.of("fix.detach.store", names=names([store.name]))
    found = request("detach", title, at_store([store]))
    function = store.function
    if isinstance(function, ast.FunctionDef) and function.name != "forward":
        title = Message.of("fix.no_grad.function", name=function.name)
        found += request("no_grad", title, nograd.decorate(store.site, context))
    return found


def _whole_uses(seen: Observation, context: Context) -> list[FixRequest]:
    """``(q - v).detach()``: what the shared values go into, where the second loss takes it for a number."""
    found: list[FixRequest] = []
    for site in context.sites(seen.facts.get("uses"))[:1]:
        if isinstance(site.node, ast.BinOp):
            file = File(context, context.path(site))
            title = Message.of("fix.detach.use-whole", text=file.source(site.node))
            found += request("detach", title, [file.append(site.node, ".detach()")])
    return found


def _retained(seen: Observation, context: Context) -> list[FixRequest]:
    """``retain_graph=True`` at the first of two calls over one pass, where they cannot become one."""
    freed, raised = seen.facts.get("freed"), seen.raised
    if not isinstance(freed, Site) or raised is None or freed.key == raised.key:
        return []
    file = File(context, context.path(freed))
    first, second = file.tree.statement(freed.node), file.tree.statement(raised.node)
    call = _backward(first) if first is not None else None
    if call is None or call.keywords or second is None or file.path != context.path(raised):
        return []
    if file.tree.scope(call) is not file.tree.scope(second):
        return []
    title = Message.of("fix.keep-graph.retain", line=context.line(raised))
    text = f"{file.source(call.func)}(retain_graph=True)"
    return request("keep-graph", title, [file.step("replace", call, text)])


def _computed_again(store: Store, seen: Observation, context: Context) -> list[FixRequest]:
    """The shared value computed a second time, in front of the statement that uses it for the second loss."""
    build = store.statement
    site = next(iter(context.sites(seen.facts.get("uses"))), None)
    if not isinstance(build, ast.Assign) or site is None or context.path(site) != store.file.path:
        return []
    file = store.file
    use = file.tree.statement(site.node)
    pair = file.tree.common_block(build, use) if use is not None else None
    if pair is None or pair[0] is not build or pair[1] is build or build.lineno > pair[1].lineno:
        return []
    title = Message.of("fix.recompute.second", names=names([store.name]))
    step = file.step("insert_before", pair[1], file.source(build))
    return request("recompute", title, [step], preferable=False)


# One backward over the sum -------------------------------------------------------------------------------


def summed(seen: Observation, context: Context) -> list[FixRequest]:
    """One backward over the sum of both losses, where both calls stand in one block."""
    freed, raised = seen.facts.get("freed"), seen.raised
    if not isinstance(freed, Site) or raised is None or context.path(freed) != context.path(raised):
        return []
    file = File(context, context.path(raised))
    first, second = file.tree.statement(freed.node), file.tree.statement(raised.node)
    if first is None or second is None or first is second or not _same_block(file, first, second):
        return []
    one, two = _backward(first), _backward(second)
    if one is None or two is None:
        return []
    receiver, other = _receiver(one), _receiver(two)
    if receiver is None or other is None or ast.dump(receiver) == ast.dump(other):
        return []
    text = f"{_operand(file, receiver)} + {{0}}"
    steps = [file.step("replace", other, text), file.step("delete", first)]
    block = file.tree.block(first)
    between = block[block.index(first) + 1 : block.index(second)]
    steps_between = [
        statement
        for statement in between
        if any(method_name(call) in ("step", "update") for call in calls_in(statement))
    ]
    steps += [file.step("move_after", statement, other=second) for statement in steps_between]
    title = Message.of("fix.sum-losses", first=file.source(receiver), second=file.source(other))
    return request("sum-losses", title, steps, preferable=not steps_between)


def _same_block(file: File, first: ast.stmt, second: ast.stmt) -> bool:
    block = file.tree.block(first)
    places = [i for i, each in enumerate(block) if each is first or each is second]
    return len(places) == 2 and block[places[0]] is first


def _backward(statement: ast.stmt) -> ast.Call | None:
    value = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(value, ast.Call) and method_name(value) == "backward" and not value.args:
        if all(keyword.arg in ("retain_graph",) for keyword in value.keywords):
            return value
    return None


def _receiver(call: ast.Call) -> ast.expr | None:
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def _operand(file: File, node: ast.expr) -> str:
    text = file.source(node)
    simple = isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    return text if simple else f"({text})"
