"""Cutting what is carried from one iteration into the next.

One fix cuts all carriers of a finding, at one of these places:

* where they are stored, if this iteration's loss does not need what is stored there any more;
* at the end of the iteration, behind its backward;
* where the storing statement reads the old value: ``h = cell(x, h.detach())``;
* at the start of the next iteration, or of the method that stores;
* where the old value is used.

Which come first depends on whether the value is read between its store and the backward: cut there, it would
no longer train what it was computed with.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

from loopgrad.analysis.observation import Observation
from loopgrad.analysis.where import Site
from loopgrad.model import FixRequest, Message, Step

from ..context import Context
from ..syntax import Function, Loop, calls_in, method_name, names_read, targets_of, value_name
from ..words import names
from . import moves
from .edits import File, distinct, request
from .nograd import HEADER, wrap_all
from .shapes import cut_text
from .stores import Store, names_of, starts_as_none, starts_as_number, stores
from .summing import over_loop

Plan = tuple[str, list[Step]]


def requests(seen: Observation, context: Context) -> list[FixRequest]:
    found = detaching(seen, context)
    return distinct([*found[:4], *over_loop(seen, context), *found[4:]])


def detaching(seen: Observation, context: Context) -> list[FixRequest]:
    """The requests for an observation with carriers, also for growth and for a modified graph."""
    carriers = stores(seen.carriers, context)
    found: list[FixRequest] = []
    for group in (with_siblings(carriers, seen), carriers):
        for place, steps in plans(group, seen, context):
            found += request("detach", title(place, group), steps)
        if len(group) == len(carriers):
            break
    several = names(names_of(carriers))
    found += request("no_grad", Message.of("fix.no_grad.store", names=several), _no_grad(carriers))
    anew = Message.of("fix.recompute.uncached")
    for store in carriers:
        for steps in moves.uncached([store.site], context):
            found.insert(0, FixRequest("recompute", anew, tuple(steps)))
    again: list[Step] | None = None
    if carriers and all(asks_gradient(store) for store in carriers):
        again = behind_condition(carriers, seen, context, _AGAIN) or at_end(carriers, seen, context, _AGAIN)
    return [*found, *request("detach", Message.of("fix.detach.end-again", names=several), again)]


#: A leaf anew.
_AGAIN = ".detach().requires_grad_()"


def asks_gradient(store: Store) -> bool:
    """Whether gradients of the carrier itself are asked for, so that it has to be a leaf that requires one."""
    if any(method_name(call) == "grad" for call in calls_in(store.scope)):
        return True
    return any(
        isinstance(node, (ast.Assign, ast.Expr))
        and "requires_grad" in ast.unparse(node.value)
        and store.name in (*map(ast.unparse, targets_of(node)), value_name(node))
        for node in ast.walk(store.scope)
    )


def with_siblings(carriers: list[Store], seen: Observation) -> list[Store]:
    """The carriers, and the graphs that their statements store beside them for the next iteration: ``h`` and ``c``."""
    found = list(carriers)
    nesting = seen.facts.get("siblings") or {}
    for store in carriers:
        statement = store.statement
        if not isinstance(statement, ast.Assign) or store.kind == "append":
            continue
        for target in targets_of(statement):
            kept = isinstance(target, ast.Attribute) or ast.unparse(target) in names_read(statement.value)
            if kept and target in nesting and all(ast.unparse(target) != other.name for other in found):
                found.append(store.sibling(target, nesting[target]))
    return sorted(found, key=lambda store: (store.site.line, getattr(store.node, "col_offset", 0)))


def title(place: str, carriers: list[Store]) -> Message:
    """The title says where, and that the cut shortens backpropagation where a network passes its state on."""
    several = names_of(carriers)
    if not several:
        return Message.of(f"fix.detach.{place}.none")
    said = Message.of(f"fix.detach.{place}", names=names(several))
    if any(is_recurrent(store) for store in carriers):
        return Message.of("fix.detach.truncates", title=said)
    return said


def is_recurrent(store: Store) -> bool:
    """Whether a call computes the new value from the old one, as a recurrent cell does."""
    value = getattr(store.statement, "value", None)
    if not isinstance(value, ast.AST):
        return False
    return any(
        next(store.reads(argument), None) is not None
        for call in ast.walk(value)
        if isinstance(call, ast.Call)
        for argument in (*call.args, *(keyword.value for keyword in call.keywords))
    )


def plans(carriers: list[Store], seen: Observation, context: Context) -> Iterator[Plan]:
    """The places in order of preference, with the steps that cut all carriers there."""
    if not carriers:
        yield "use", _at_uses(carriers, seen, context)
        return
    ordered: list[Plan | None] = [("store", at_store(carriers) or []), ("store", at_given_value(carriers))]
    later = [
        ("end", at_end(carriers, seen, context) or []),
        ("end", behind_condition(carriers, seen, context)),
        ("own", at_own_use(carriers)),
        ("start", at_start(carriers, seen, context) or []),
    ]
    if any(needed_later(store, seen, context) for store in carriers):
        ordered = [*later, *ordered]
    else:
        ordered = [*ordered, *later]
    called = as_the_loop_calls(carriers, seen, context)
    ordered.append(("end", behind_condition(called, seen, context) or at_end(called, seen, context) or []))
    ordered.append(("use", _at_uses(carriers, seen, context)))
    for plan in ordered:
        if plan is not None and plan[1]:
            yield plan


def needed_later(store: Store, seen: Observation, context: Context) -> bool:
    """Whether the value is read after its store, before the backward that its own iteration runs."""
    statement, function = store.statement, store.scope
    if statement is None or function is None:
        return False
    end = getattr(statement, "end_lineno", 0) or 0
    raised = seen.raised
    stop: int | None = None
    if raised is not None and context.path(raised) == store.file.path:
        if store.file.tree.scope(raised.node) is function:
            stop = raised.line
    return any(each.lineno > end and (stop is None or each.lineno < stop) for each in store.reads(function))


# The places ----------------------------------------------------------------------------------------------


def at_store(carriers: list[Store]) -> list[Step] | None:
    """Behind the stored expression; below the statement where the value comes out of a larger one."""
    steps: list[Step] = []
    below: dict[int, tuple[Store, list[Store]]] = {}
    for store in carriers:
        here = store.cut_here()
        if here is not None:
            steps += here
        elif store.assignment() is not None and store.cut_below() is not None:
            below.setdefault(id(store.statement), (store, []))[1].append(store)
        else:
            return None
    for first, group in below.values():
        assert first.statement is not None
        steps.append(first.file.step("insert_after", first.statement, assignments(group)))
    return steps


def at_given_value(carriers: list[Store]) -> list[Step]:
    """Where a function stores what it is given, which may be None."""
    steps: list[Step] = []
    for store in carriers:
        value = store.value()
        if not isinstance(value, ast.Name) or not isinstance(store.function, Function):
            return []
        if all(each.arg != value.id for each in store.function.args.args):
            return []
        text = cut_text("{0}", store.shape, store.file)
        if text is None:
            return []
        steps.append(store.file.step("replace", value, f"{{0}} if {{0}} is None else {text}"))
    return steps


def assignments(group: list[Store], suffix: str = ".detach()") -> str:
    """The statements that cut a group of names: ``h, c = h.detach(), c.detach()`` where that is short."""
    lines = list(dict.fromkeys(line for store in group if (line := store.assignment(suffix)) is not None))
    pairs = [line.split(" = ", 1) for line in lines if " = " in line]
    if (
        len(pairs) == len(lines)
        and len(pairs) in (2, 3)
        and all(right == f"{left}.detach()" for left, right in pairs)
    ):
        joined = f"{', '.join(left for left, _ in pairs)} = {', '.join(right for _, right in pairs)}"
        if len(joined) <= 72:
            return joined
    return "\n".join(lines)


def at_end(
    carriers: list[Store], seen: Observation, context: Context, suffix: str = ".detach()"
) -> list[Step] | None:
    """Behind the backward: at the end of the loop's body if every iteration runs it, else right below it."""
    if not carriers or any(store.assignment() is None for store in carriers):
        return None
    text = assignments(carriers, suffix)
    raised = seen.raised if seen.raised is not None else _backward_in(seen, context)
    loop = _loop(seen, context)
    file = carriers[0].file
    if any(store.file.path != file.path for store in carriers):
        return None
    statement = None
    if raised is not None and context.path(raised) == file.path:
        statement = file.tree.statement(raised.node)
        if statement is not None and not all(reachable(store, statement) for store in carriers):
            statement = None
    if loop is not None and all(reachable(store, loop) for store in carriers):
        direct = statement is None or any(each is statement for each in loop.body)
        if direct and not _skips(loop):
            return [file.step("append_body", loop, text)]
    if statement is not None:
        return [file.step("insert_after", statement, text)]
    return None


def as_the_loop_calls(carriers: list[Store], seen: Observation, context: Context) -> list[Store]:
    """Carriers that a function stores, under the names that the loop has for them; none where they are its own."""
    loop = _loop(seen, context)
    if loop is None or all(reachable(store, loop) for store in carriers):
        return []
    found = [store if reachable(store, loop) else store.as_seen_from(loop) for store in carriers]
    return [store for store in found if store is not None] if None not in found else []


def behind_condition(
    carriers: list[Store], seen: Observation, context: Context, suffix: str = ".detach()"
) -> list[Step]:
    """Behind the ``if`` that decides on the backward for the whole loop: without the backward it grows."""
    raised, loop = seen.raised, _loop(seen, context)
    if (
        not carriers
        or raised is None
        or loop is None
        or any(store.assignment() is None for store in carriers)
    ):
        return []
    file = carriers[0].file
    if any(path != file.path for path in (context.path(raised), *(store.file.path for store in carriers))):
        return []
    condition = file.tree.parent(file.tree.statement(raised.node) or raised.node)
    if not isinstance(condition, ast.If) or not all(reachable(store, condition) for store in carriers):
        return []
    if all(each is not loop for each in file.tree.up(condition)):
        return []
    above = file.tree.parent(condition)
    if isinstance(above, ast.If) and above.orelse == [condition]:
        return []  # an elif
    changed = {
        each.id for each in ast.walk(loop) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    if any(isinstance(each, ast.Name) and each.id in changed for each in ast.walk(condition.test)):
        return []
    return [file.step("insert_after", condition, assignments(carriers, suffix))]


def at_start(carriers: list[Store], seen: Observation, context: Context) -> list[Step] | None:
    """At the start of the loop's body, or of the method that stores an attribute."""
    steps: list[Step] = []
    loop = _loop(seen, context)
    for store in carriers:
        line = store.assignment()
        if line is None:
            return None
        if starts_as_number(store):
            return None
        if starts_as_none(store):
            line = f"if {store.name} is not None:\n{textwrap.indent(line, '    ')}"
        if loop is not None and reachable(store, loop) and _made_before(store, loop):
            steps.append(store.file.step("prepend_body", loop, line))
        elif isinstance(store.function, Function) and store.name.startswith("self."):
            if store.function.name == "__init__":
                return None
            steps.append(store.file.step("prepend_body", store.function, line))
        else:
            return None
    return steps


def at_own_use(carriers: list[Store]) -> list[Step]:
    """Where the storing statements read what they stored an iteration ago."""
    steps: list[Step] = []
    for store in carriers:
        value = getattr(store.statement, "value", None)
        if isinstance(value, ast.AST) and store.kind != "append":
            steps += store.cut_reads(value)
    return list(dict.fromkeys(steps))


def _at_uses(carriers: list[Store], seen: Observation, context: Context) -> list[Step]:
    """Where the engine saw the old value go into the new graph."""
    steps: list[Step] = []
    for site in context.sites(seen.facts.get("uses")):
        file = File(context, context.path(site))
        found: list[Step] = []
        for store in carriers:
            if store.file.path == file.path:
                found += store.cut_reads(site.node)
        if not found and not carriers and isinstance(site.node, ast.expr):
            found = _operands(site.node, file)
        steps += found
    return list(dict.fromkeys(steps))


def _operands(node: ast.expr, file: File) -> list[Step]:
    """The single name that an operation reads, where there is just one."""
    plain = [
        each
        for each in ast.iter_child_nodes(node)
        if isinstance(each, (ast.Name, ast.Attribute))
        and not (isinstance(node, ast.Call) and each is node.func)
    ]
    return [file.append(plain[0], ".detach()")] if len(plain) == 1 else []


def _no_grad(carriers: list[Store]) -> list[Step]:
    found = [(store.file, store.statement) for store in carriers if store.statement is not None]
    plain = [(file, each) for file, each in found if isinstance(each, (ast.Assign, ast.AugAssign, ast.Expr))]
    return wrap_all(plain, HEADER) if plain and len(plain) == len(carriers) else []


# What is where -------------------------------------------------------------------------------------------


def reachable(store: Store, at: ast.AST) -> bool:
    """Whether the carrier's name means the same thing at another node: same scope, or same ``self``."""
    tree = store.file.tree
    if tree.scope(at) is store.scope:
        return True
    if store.name.startswith("self.") or store.name == "self":
        cls = tree.class_of(at)
        return cls is not None and cls is tree.class_of(store.node) and tree.function(at) is not None
    return False


def _loop(seen: Observation, context: Context) -> ast.For | ast.AsyncFor | ast.While | None:
    site = seen.facts.get("loop_site")
    if isinstance(site, Site) and isinstance(site.node, Loop):
        return site.node
    return None


def _backward_in(seen: Observation, context: Context) -> Site | None:
    freed = seen.facts.get("freed") or seen.facts.get("retained")
    return freed if isinstance(freed, Site) else None


def _skips(loop: ast.For | ast.AsyncFor | ast.While) -> bool:
    """Whether a ``continue`` of this loop may go past the end of its body."""
    stack: list[ast.AST] = list(loop.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Continue):
            return True
        if not isinstance(node, (*Loop, *Function, ast.ClassDef, ast.Lambda)):
            stack.extend(ast.iter_child_nodes(node))
    return False


def _made_before(store: Store, loop: ast.AST) -> bool:
    """Whether the name has a value when the loop starts."""
    if not isinstance(ast.parse(store.name, mode="eval").body, ast.Name):
        return True
    line = getattr(loop, "lineno", 0)
    return any(
        isinstance(each, ast.Name)
        and each.id == store.name
        and isinstance(each.ctx, (ast.Store, ast.Param))
        and each.lineno < line
        for each in ast.walk(store.scope)
    ) or any(isinstance(each, ast.arg) and each.arg == store.name for each in ast.walk(store.scope))
