"""The story of a failed or repeated walk: what was built, freed, carried and reached again.

Read from the tape at the moment of the walk; :mod:`loopgrad.analysis.observe` decides when.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from .observation import Carrier, Observation, Step, innermost, iteration_in
from .tape import NEVER, Node, Pass, Store, TapeError, Tensor, reachable
from .where import Parting, Site, Where, lift


def crossing(roots: Iterable[Node], old: Any) -> list[tuple[Node, Node | None]]:
    """The edges from new nodes to old ones: (old node, its new consumer or None for a root).

    Walks the new part only: what lies below the first old node is not entered.
    """
    found: list[tuple[Node, Node | None]] = []
    seen: set[int] = set()
    stack: list[tuple[Node, Node | None]] = [(r, None) for r in roots]
    while stack:
        node, consumer = stack.pop()
        if old(node):
            if node.leaf is None:
                found.append((node, consumer))
            continue
        if id(node) in seen:
            continue
        seen.add(id(node))
        stack.extend((child, node) for child in node.inputs)
    unique: dict[int, tuple[Node, Node | None]] = {}
    for node, consumer in found:
        unique.setdefault(id(node), (node, consumer))
    return list(unique.values())


def doubt(edges: Iterable[tuple[Node, Node | None]]) -> int:
    """How many guesses stand behind the edges: of the old graph, and of what leads to it (an element by chance)."""
    return max((max(n.guess, c.guess if c is not None else 0) for n, c in edges), default=0)


def stale_below(node: Node, run: Pass, any_node: bool = False) -> bool:
    """Whether a walk from here meets a node that an earlier pass freed and that saved something (or ``any_node``)."""
    return any(
        n.freed is not None and n.freed is not run and (any_node or n.saves != NEVER)
        for n in reachable([node])
    )


def last_store(node: Node, here: Where, before: Any = None) -> Store | None:
    """The statement that put the value where it lives on, of those that ``before`` accepts.

    An attribute or a container outlives calls; a name does while its function runs. Among what is left
    the last store counts; the name of a loop that only goes over what is held elsewhere comes last.
    """
    stores = [s for s in node.stores or [] if before is None or before(s)]
    if not stores:
        return None
    active = {id(link) for link in here.chain()}
    lives = [frame_of(s.where) in active or frame_of(s.where) is None for s in stores]
    alive = [s for s, lived in zip(stores, lives) if s.kind == "item" or lived]
    held = [s for s in alive if not passing(s)]
    lasting = [s for s in stores if s.kind in ("attribute", "append", "nonlocal", "layer")]
    if lasting:
        last = lasting[-1]
        at = stores.index(last)
        # A list of a call that is over, where what its function gave back was stored since.
        since = [s for s in held if stores.index(s) > at]
        local = last.kind == "append" and "." not in last.text and not lives[at]
        return since[-1] if local and since else last
    return (held or alive)[-1] if alive else None


def passing(store: Store) -> bool:
    """Whether it is the target of a ``for`` or of a comprehension."""
    loop = store.where.loop
    return store.kind == "name" and (
        isinstance(store.site.stmt, (ast.For, ast.AsyncFor))
        or loop is not None
        and loop.kind == "comprehension"
    )


def frame_of(where: Where) -> int | None:
    """The call that a moment is in, as an identity; None at module level."""
    link: Where | None = where
    while link is not None:
        if link.loop is None and link.site is not None:
            return id(link)
        link = link.parent
    return None


def second_backward(
    rt: Any,
    node: Node,
    freed: Pass,
    run: Pass,
    roots: list[Node],
    silent: bool = False,
) -> Observation:
    """A backward reached a node that an earlier one freed; ``silent`` where that node had saved nothing."""
    here = run.where
    apart = Parting(freed.where, here)
    loop, now = apart.loop, apart.later
    begun = next((link for link in apart.rest_b if link.loop is not None), None)
    if loop is None and silent and begun is not None:
        # Freed above a loop that goes on with it, though what it was computed from changes.
        loop, now = begun.loop, begun.iteration
    if loop is None:
        return shared(rt, node, freed, run, roots)

    def is_old(n: Node) -> bool:
        k = iteration_in(n.where, loop)
        return k is None or k < now

    edges = [(n, c) for n, c in crossing(roots, is_old) if stale_below(n, run, silent)]
    if not edges:
        return shared(rt, node, freed, run, roots)
    if iteration_in(node.where, loop) is not None:
        inside = [(n, c) for n, c in edges if iteration_in(n.where, loop) is not None]
        return carried(rt, inside or edges, node, freed, run, loop, now)

    # What was built outside may be larger than what is walked again: name the part that was freed.
    def stale(n: Node) -> bool:
        return n.freed is not None and n.freed is not run and (silent or n.saves != NEVER)

    return outside(rt, crossing(roots, stale) or edges, node, freed, run, loop, now, roots)


def _raise_step(run: Pass, iteration: int | None, key: str) -> Step:
    return Step("reached", run.site, iteration, key)


def carried(
    rt: Any,
    edges: list[tuple[Node, Node | None]],
    stale: Node,
    freed: Pass,
    run: Pass,
    loop: Any,
    now: int,
) -> Observation:
    """LG101: built in one iteration, reached by the backward of a later one."""
    carriers: list[Carrier] = []
    pairs: list[tuple[Store | None, Node]] = []
    for node, _ in edges:
        store = last_store(node, run.where, lambda s: (iteration_in(s.where, loop) or 0) < now)
        pairs.append((store, node))
        # `self.h, self.c = state` stores two outputs of one node in one statement.
        for other in node.stores or []:
            if (
                store is not None
                and other is not store
                and other.where is store.where
                and other.kind == store.kind
            ):
                if other.site.stmt is store.site.stmt:
                    pairs.append((other, node))
    named = [(s, n) for s, n in pairs if s is not None]
    named.sort(key=lambda p: (p[0].site.line, p[0].text))
    for store, _ in named:
        assert store is not None
        if all((c.text, c.site.key) != (store.text, store.site.key) for c in carriers):
            carriers.append(Carrier(store.text, store.site, store.shape, store.kind))
    first_node = named[0][1] if named else edges[0][0]
    site = (
        carriers[0].site.statement
        if carriers
        else lift(first_node.site or run.site, first_node.where, _depth_of(first_node.where, loop))
    )
    seen = Observation("carried", "second-backward", site)
    seen.carriers = carriers
    seen.iteration, seen.loop = now, loop.site
    if loop.implicit:
        seen.loop, seen.iteration = innermost(run.where)
    seen.raised = run.site
    _story(seen, stale, freed, run, loop, now)
    for c in carriers:
        key = "carried-layer" if c.kind == "layer" else "carried"
        seen.steps.insert(-1, Step("carried", c.site, iteration_in(first_node.where, loop), key, name=c.text))
    seen.guess = doubt(edges)
    seen.facts.update(
        uses=[c.site for _, c in edges if c is not None and c.site is not None],
        freed=freed.site,
        implicit=loop.implicit,
        loop_site=loop.site,
    )
    return seen


def _story(seen: Observation, stale: Node, freed: Pass, run: Pass, loop: Any, now: int) -> None:
    """Built, freed, reached again: the steps that every carry has."""
    built = lift(stale.site or run.site, stale.where, _depth_of(stale.where, loop))
    start = iteration_in(stale.where, loop)
    seen.steps.append(Step("built", built, start, "built", op=stale.op))
    seen.steps.append(Step("freed", freed.site, iteration_in(freed.where, loop), "freed"))
    seen.steps.append(_raise_step(run, now, "reached"))


def _depth_of(where: Where, loop: Any) -> int:
    """The depth in a moment's chain just below ``loop``'s iteration; for one outside, where it leaves the loop's own chain."""
    for k, link in enumerate(where.chain()):
        if link.loop is loop:
            return k + 1
    return 0


def store_above(node: Node, run: Pass, roots: list[Node], loop: Any) -> Store | None:
    """The statement outside of ``loop`` that keeps a value: of the node itself, or of what was made of it on the way up."""
    parents: dict[int, list[Node]] = {}
    for n in reachable(roots):
        for child in n.inputs:
            parents.setdefault(id(child), []).append(n)
    level, seen = [node], {id(node)}
    while level:
        for n in level:
            store = last_store(n, run.where, lambda s: iteration_in(s.where, loop) is None)
            if store is not None:
                return store
        above = [
            p for n in level for p in parents.get(id(n), ()) if p.freed is not None and p.freed is not run
        ]
        level = [p for p in above if not (id(p) in seen or seen.add(id(p)))]  # type: ignore[func-returns-value]
    return last_store(node, run.where)


def outside(
    rt: Any,
    edges: list[tuple[Node, Node | None]],
    stale: Node,
    freed: Pass,
    run: Pass,
    loop: Any,
    now: int,
    roots: list[Node],
) -> Observation:
    """LG102: built before the loop, reached by every iteration's backward."""
    places: list[tuple[Site, Node]] = []
    for node, _ in edges:
        store = store_above(node, run, roots, loop)
        # The call, in the frame that keeps the value, through which it was built.
        depth = Parting(node.where, store.where if store is not None else run.where).common
        places.append((lift(node.site or run.site, node.where, depth), node))
    places.sort(key=lambda p: p[1].seq)
    site, first = places[0]
    seen = Observation("outside", "second-backward", site)
    seen.iteration, seen.loop = now, loop.site
    if loop.implicit:
        seen.loop, seen.iteration = innermost(run.where)
    seen.raised = run.site
    for _, node in places:
        store = store_above(node, run, roots, loop)
        if store is not None and all(c.text != store.text for c in seen.carriers):
            seen.carriers.append(Carrier(store.text, store.site, store.shape, store.kind))
    leaves = {id(n.leaf): n.leaf for n in reachable([n for _, n in places]) if n.leaf is not None}
    held = [leaf for leaf in leaves.values() if leaf.held]
    seen.steps.append(Step("built", site, None, "built-outside", op=first.op))
    for c in seen.carriers:
        seen.steps.append(Step("stored", c.site, None, "stored", name=c.text))
    seen.steps.append(Step("freed", freed.site, iteration_in(freed.where, loop), "freed"))
    seen.steps.append(_raise_step(run, now, "reached"))
    seen.guess = doubt(edges)
    seen.facts.update(
        held=bool(held),
        places=[p for p, _ in places],
        uses=[c.site for _, c in edges if c is not None and c.site],
        freed=freed.site,
        evaluating=_in_eval(rt, leaves.values()),
        loop_site=loop.site,
        implicit=loop.implicit,
        deep=[n.site for _, n in places if n.site is not None],
        beside=[
            lift(n.site, n.where, Parting(n.where, run.where).common) for _, n in places if n.site is not None
        ],
        made=_statements([n for _, n in places], run),
        leaves=[
            lift(leaf.site, leaf.where, Parting(leaf.where, run.where).common)
            for leaf in leaves.values()
            if leaf.site is not None and leaf.where is not None
        ],
    )
    return seen


def _statements(roots: list[Node], run: Pass) -> list[Site]:
    """Where all of a graph was built, as seen beside the loop: one site for each statement."""
    found: dict[Any, Site] = {}
    for node in reachable(roots):
        if node.site is not None and node.leaf is None:
            site = lift(node.site, node.where, Parting(node.where, run.where).common)
            found.setdefault(id(site.stmt), site)
    return list(found.values())


def _in_eval(rt: Any, leaves: Iterable[Tensor]) -> bool:
    """Whether the modules that own these parameters are in eval() mode."""
    owners = [rt.owners.get(id(leaf)) for leaf in leaves]
    found = [o for o in owners if o is not None]
    return bool(found) and all(o.attrs.get("training") is False for o in found)


def shared(rt: Any, node: Node, freed: Pass, run: Pass, roots: list[Node]) -> Observation:
    """LG103: two backwards of one pass share a part."""
    edges = crossing(roots, lambda n: n.freed is not None and n.freed is not run)
    edges = [(n, c) for n, c in edges if stale_below(n, run)] or edges
    edges.sort(key=lambda e: e[0].seq)
    top, use = edges[0] if edges else (node, None)
    depth = Parting(freed.where, run.where).common
    kept = last_store(top, run.where)
    site = run.site
    if use is not None and use.site is not None:
        # The use as seen from the frame of the second backward, or from the one that keeps the value if deeper.
        level = Parting(use.where, run.where).common
        if top.stores:
            level = max(level, *(Parting(use.where, s.where).common for s in top.stores))
        site = lift(use.site, use.where, level)
    seen = Observation("shared", "second-backward", site)
    seen.loop, seen.iteration = innermost(run.where)
    seen.raised = run.site
    built = lift(top.site or run.site, top.where, min(depth, Parting(top.where, run.where).common))
    seen.steps.append(Step("built", built, seen.iteration, "built", op=top.op))
    seen.steps.append(Step("freed", freed.site, seen.iteration, "freed"))
    store = kept or (top.stores[-1] if top.stores else None)
    if store is not None:
        seen.carriers.append(Carrier(store.text, store.site, store.shape, store.kind))
        seen.steps.append(Step("stored", store.site, seen.iteration, "stored", name=store.text))
    if use is not None and use.site is not None:
        seen.steps.append(Step("stored", site, seen.iteration, "used-again"))
    seen.steps.append(_raise_step(run, seen.iteration, "reached"))
    seen.guess = doubt(edges)
    seen.facts.update(
        freed=freed.site,
        uses=[c.site for _, c in edges if c is not None and c.site is not None],
        same=freed.site.key == run.site.key,
        places=[built],
        root=use is None,
    )
    return seen


def version_error(rt: Any, error: TapeError, roots: list[Node]) -> Observation:
    """LG104: a backward reached a graph whose saved tensors have changed since."""
    storage, _ = error.culprit
    node, run = error.node, error.run
    modified = storage.modified
    apart = Parting(node.where, run.where)
    seq = modified[3] if modified is not None else node.seq
    edges = crossing(roots, lambda n: n.seq <= seq)
    pairs = [(last_store(n, run.where), n, c) for n, c in edges if any(m is node for m in reachable([n]))]
    named = [p for p in pairs if p[0] is not None]
    if named:
        store = named[0][0]
        assert store is not None
        site = store.site.statement
        carriers = [Carrier(store.text, store.site, store.shape, store.kind)]
    else:
        top = pairs[0][1] if pairs else node
        site = lift(top.site or run.site, top.where, Parting(top.where, run.where).common)
        carriers = []
    seen = Observation("modified", "inplace-version", site)
    seen.carriers = carriers
    if apart.loop is not None:
        seen.loop, seen.iteration = apart.loop.site, apart.later
    else:
        seen.loop, seen.iteration = innermost(run.where)
    seen.raised = run.site
    built = lift(node.site or run.site, node.where, apart.common)
    seen.steps.append(Step("built", built, apart.earlier or seen.iteration, "built", op=node.op))
    if node.retained is not None:
        seen.steps.append(
            Step("retained", node.retained.site, iteration_of(node.retained.where, apart, seen), "retained")
        )
    for c in carriers:
        seen.steps.append(Step("carried", c.site, apart.earlier or seen.iteration, "carried", name=c.text))
    if modified is not None and modified[0] is not None:
        seen.steps.append(
            Step(
                "modified", modified[0], iteration_of(modified[1], apart, seen), "modified", what=modified[2]
            )
        )
    seen.steps.append(_raise_step(run, seen.iteration, "reached-changed"))
    seen.guess = doubt(edges) if edges else node.guess
    below = {id(n.leaf): n.leaf for n in reachable([e for _, e, _ in pairs] or [node]) if n.leaf is not None}
    seen.facts.update(
        held=any(leaf.held for leaf in below.values()),
        modified=modified[0] if modified is not None else None,
        uses=[c.site for _, c in edges if c is not None and c.site],
        places=[built],
        loop_run=apart.loop is not None,
        retained=node.retained.site if node.retained is not None else None,
        what=modified[2] if modified is not None else "",
        loop_site=apart.loop.site if apart.loop is not None else None,
        outside=apart.loop is not None and iteration_in(node.where, apart.loop) is None,
    )
    return seen


def iteration_of(where: Where, apart: Parting, seen: Observation) -> int | None:
    if apart.loop is not None:
        return iteration_in(where, apart.loop) or seen.iteration
    return seen.iteration
