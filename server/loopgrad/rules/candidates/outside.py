"""For a graph that is built once: do not record it, build it anew each time, or cut it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from loopgrad.analysis.observation import Observation
from loopgrad.analysis.where import Site
from loopgrad.model import FixRequest, Message, Step

from ..context import Context
from ..syntax import calls_method, targets_of
from ..words import names
from . import moves, nograd
from .carried import at_store
from .edits import File, distinct, request
from .stores import Store, names_of, stores
from .summing import over_loop


def requests(seen: Observation, context: Context) -> list[FixRequest]:
    found = anew_or_never(seen, context)
    # A loss that is itself built once is the same in each iteration: there is nothing to add up.
    added = [] if _is_the_loss(seen) else over_loop(seen, context)
    return distinct([*found[:3], *added, *found[3:]])


def _is_the_loss(seen: Observation) -> bool:
    node = seen.raised.node if seen.raised is not None else None
    receiver = (
        node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    )
    return receiver is not None and ast.unparse(receiver) in {carrier.text for carrier in seen.carriers}


def anew_or_never(seen: Observation, context: Context) -> list[FixRequest]:
    """Where no optimizer steps what is behind the graph, the graph is not wanted; else it is wanted anew.

    To compute much anew comes last: what is computed from batches of data belongs where it is.
    """
    never = _not_recorded(seen, context)
    anew = _computed_anew(seen, context)
    cut = _cut(seen, context)
    if not seen.facts.get("held", True):
        return [*never, *anew[:1], *cut, *anew[1:]]
    if _is_added(seen):
        # A penalty: as a constant it would do nothing at all.
        never, cut = ([replace(each, preferable=False) for each in some] for some in (never, cut))
    # eval() shows that no gradient is meant; else the smaller edit comes first.
    less = [*never, *cut] if seen.facts.get("evaluating") else [*cut, *never]
    return [*anew[:1], *less, *anew[1:]]


_LOSS = re.compile(r"loss|cost|total|objective", re.IGNORECASE)


def _is_added(seen: Observation) -> bool:
    """Whether the value is a summand of the loss, alone or times a number."""
    said = {carrier.text for carrier in seen.carriers}
    for site in seen.facts.get("uses") or ():
        targets = [ast.unparse(target) for target in targets_of(site.stmt)] if site.stmt is not None else []
        if any(_LOSS.search(target) for target in targets) and said & set(_summands(site.stmt)):
            return True
    return False


def _summands(statement: ast.AST) -> Iterator[str]:
    """What a statement adds up, numbers in front of it left aside."""
    stack = [getattr(statement, "value", statement)]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            stack += [node.left, node.right]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            stack += [side for side in (node.left, node.right) if not isinstance(side, ast.Constant)]
        else:
            yield ast.unparse(node)


def _places(seen: Observation, context: Context) -> list[Site]:
    """Where the graph is built, as seen from the frames that keep it, and where exactly."""
    return context.sites([seen.site, *context.sites(seen.facts.get("places"))])


def _named(seen: Observation, site: Site) -> Message:
    carriers = [carrier.text for carrier in seen.carriers]
    if not carriers and isinstance(site.stmt, ast.Assign):
        carriers = [ast.unparse(target) for target in site.stmt.targets]
    return names(carriers) if carriers else Message.of("fix.this")


def _not_recorded(seen: Observation, context: Context) -> list[FixRequest]:
    steps = nograd.wrap_buildings(_places(seen, context), context)
    title = Message.of("fix.no_grad.build", names=_named(seen, seen.site))
    found = request("no_grad", title, steps)
    function = context.tree_of(seen.site).function(seen.site.node)
    if function is not None and not calls_method(function, "backward", "step", "zero_grad"):
        title = Message.of("fix.no_grad.function", name=function.name)
        if function.name != "forward":
            found += request("no_grad", title, nograd.decorate(seen.site, context))
    return found


def _computed_anew(seen: Observation, context: Context) -> list[FixRequest]:
    found: list[FixRequest] = []
    loop = seen.facts.get("loop_site")
    title = Message.of("fix.move-into-loop", names=_named(seen, seen.site))
    places = _places(seen, context)
    # A place may lie in a constructor: the statement to move is the one that calls it, beside the loop.
    above = context.sites(seen.facts.get("beside"))
    graph, once = context.sites(seen.facts.get("made")), context.sites(seen.facts.get("leaves"))
    at = loop if isinstance(loop, Site) else None
    for steps in moves.into_loop([*above, *places], at, context, graph, once):
        found += request("move-into-loop", title, steps)
    recompute = Message.of("fix.recompute.property", names=_named(seen, seen.site))
    stored = context.sites([*places, *(carrier.site for carrier in seen.carriers)])
    kept = [moves.as_property(site, context) for site in stored]
    # A loss that reads several of them needs them all anew.
    for steps in ([step for each in kept for step in each], *kept):
        found += request("recompute", recompute, steps)
    deep = context.sites([*places, *context.sites(seen.facts.get("deep"))])
    for steps in moves.uncached(deep, context):
        found += request("recompute", Message.of("fix.recompute.uncached"), steps)
    return found


def _cut(seen: Observation, context: Context) -> list[FixRequest]:
    """``.detach()`` where the value is stored, or behind the expression that builds it."""
    carriers = stores(seen.carriers, context)
    if carriers:
        title = Message.of("fix.detach.store", names=names(names_of(carriers)))
        found = request("detach", title, at_store(carriers))
        return [*found, *_at_reads(seen, carriers, context)]
    node, statement = seen.site.node, seen.site.stmt
    file = File(context, context.path(seen.site))
    if isinstance(statement, ast.Assign) and statement.value is node:
        return request("detach", Message.of("fix.detach.build"), [file.append(node, ".detach()")])
    return []


def _at_reads(seen: Observation, carriers: list[Store], context: Context) -> list[FixRequest]:
    """Where the engine saw the value used; else where the function with the backward reads it."""
    title = Message.of("fix.detach.use", names=names(names_of(carriers)))
    places = [(context.path(site), site.node) for site in context.sites(seen.facts.get("uses"))]
    found = request("detach", title, _reads(carriers, places))
    if not found and seen.raised is not None:
        function = context.tree_of(seen.raised).function(seen.raised.node)
        if function is not None:
            found = request("detach", title, _reads(carriers, [(context.path(seen.raised), function)]))
    return found


def _reads(carriers: list[Store], places: list[tuple[str, ast.AST]]) -> list[Step]:
    return [
        step
        for path, node in places
        for store in carriers
        if store.file.path == path
        for step in store.cut_reads(node)
    ]
