"""What the engine saw: the raw material of findings.

An :class:`Observation` is made at the moment something goes wrong, while the tape can still be read, and
holds plain places and numbers only. The rules turn observations into findings; they do not look at values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .runtime import Raised
from .semantics.classes import EXCEPTIONS
from .tape import ALWAYS, NEVER, Node, Pass, Store, TapeError, Tensor, reachable
from .values import Obj
from .where import Parting, Site, Where, lift, loops_of


class Carrier:
    """A variable, attribute or container that carries a graph, and the statement that stores it."""

    __slots__ = ("kind", "shape", "site", "text")

    def __init__(self, text: str, site: Site, shape: Any, kind: str) -> None:
        self.text = text
        self.site = site
        self.shape = shape
        self.kind = kind


class Step:
    """One moment of the story."""

    __slots__ = ("args", "iteration", "key", "role", "site")

    def __init__(self, role: str, site: Site, iteration: int | None, key: str, **args: Any) -> None:
        self.role = role
        self.site = site
        self.iteration = iteration
        self.key = key
        self.args = args


class Observation:
    """One thing that PyTorch would show, with its place and story. ``what`` is the kind a rule reads."""

    __slots__ = (
        "carriers",
        "facts",
        "guess",
        "iteration",
        "loop",
        "outcome",
        "raised",
        "site",
        "steps",
        "what",
    )

    def __init__(self, what: str, outcome: str, site: Site) -> None:
        self.what = what
        self.outcome = outcome
        self.site = site
        self.iteration: int | None = None
        self.loop: Site | None = None
        self.carriers: list[Carrier] = []
        self.steps: list[Step] = []
        self.raised: Site | None = None
        self.guess = 0
        self.facts: dict[str, Any] = {}

    @property
    def key(self) -> tuple:
        return (self.what, self.site.key)


MESSAGES = {
    "second-backward": "Trying to backward through the graph a second time",
    "inplace-version": "one of the variables needed for gradient computation has been modified by an inplace operation",
    "no-grad-fn": "element 0 of tensors does not require grad and does not have a grad_fn",
    "leaf-inplace": "a leaf Variable that requires grad is being used in an in-place operation.",
}


def fail(rt: Any, seen: Observation) -> None:
    """Raise torch's RuntimeError; the observation counts if nothing in the program catches it."""
    if rt.trying:
        rt.happen()
    error = Obj(EXCEPTIONS["RuntimeError"], (MESSAGES[seen.outcome],))
    error.attrs["args"] = error.data
    raised = Raised("RuntimeError", error)
    raised.observation = seen  # type: ignore[attr-defined]
    error.attrs["__observation__"] = seen
    raise raised


def trained(rt: Any, leaf: Tensor) -> None:
    rt.reached[id(leaf)] = leaf


def innermost(where: Where) -> tuple[Site | None, int | None]:
    """The innermost loop around a moment and its iteration there."""
    for link in loops_of(where):
        assert link.loop is not None
        if link.loop.kind != "comprehension" and not link.loop.implicit:
            return link.loop.site, link.iteration
    return None, None


def iteration_in(where: Where, loop: Any) -> int | None:
    """The iteration of ``loop`` that a moment is in, or None."""
    for link in loops_of(where):
        if link.loop is loop:
            return link.iteration
    return None


def tape_error(rt: Any, error: TapeError, roots: list[Node]) -> None:
    """A backward failed: find what carried the old graph to it."""
    if error.outcome == "second-backward":
        seen = second_backward(rt, error.node, error.culprit, error.run, roots)
    else:
        seen = version_error(rt, error, roots)
    fail(rt, seen)


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


def stale_below(node: Node, run: Pass, any_node: bool = False) -> bool:
    """Whether a walk from here meets a node that an earlier pass freed and that saved something (or ``any_node``)."""
    return any(
        n.freed is not None and n.freed is not run and (any_node or n.saves != NEVER)
        for n in reachable([node])
    )


def last_store(node: Node, here: Where, before: Any = None) -> Store | None:
    """The statement that put the value where it lives on, of those that ``before`` accepts.

    An attribute or a container outlives calls; a name does while its function runs. Among what is left
    the last store counts.
    """
    stores = [s for s in node.stores or [] if before is None or before(s)]
    if not stores:
        return None
    lasting = [s for s in stores if s.kind in ("attribute", "append", "nonlocal")]
    if lasting:
        return lasting[-1]
    active = {id(link) for link in here.chain()}
    alive = [
        s for s in stores if s.kind == "item" or frame_of(s.where) in active or frame_of(s.where) is None
    ]
    return alive[-1] if alive else None


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
    loop = apart.loop
    if loop is None:
        return shared(rt, node, freed, run, roots)
    now = apart.later

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
        seen.steps.insert(
            -1, Step("carried", c.site, iteration_in(first_node.where, loop), "carried", name=c.text)
        )
    seen.guess = max(n.guess for n, _ in edges)
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
    seen.guess = max(n.guess for n, _ in edges)
    seen.facts.update(
        held=bool(held),
        places=[p for p, _ in places],
        uses=[c.site for _, c in edges if c is not None and c.site],
        freed=freed.site,
        evaluating=_in_eval(rt, leaves.values()),
        loop_site=loop.site,
        implicit=loop.implicit,
        deep=[n.site for _, n in places if n.site is not None],
    )
    return seen


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
    seen.guess = max((n.guess for n, _ in edges), default=0)
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
    seen.steps.append(_raise_step(run, seen.iteration, "reached"))
    seen.guess = max((n.guess for n, _ in edges), default=node.guess)
    seen.facts.update(
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


def backward(rt: Any, run: Pass, roots: list[Node]) -> None:
    """A backward went through. Did it walk freed nodes again, and was its retain_graph needed?"""
    if run.revisited:
        real = [(n, p) for n, p in run.revisited if not n.view and n.op != "clone"]
        stale = [(n, p) for n, p in real if _changed_below(n, p, run)]
        if stale:
            node, freed = stale[0]
            seen = second_backward(rt, node, freed, run, roots, silent=True)
            if seen.what in ("carried", "outside"):
                seen.outcome = "silent"
                seen.steps[-1].key = "reached-silently"
                if any(n.guess or n.saves != NEVER for n, _ in stale):
                    seen.guess = max(seen.guess, 2)
                rt.observe(seen)
    cells = rt.shared.cell_of
    if cells is not None and run.site.file is rt.shared.main:
        rerun(rt, run, roots, cells)
    if run.retain and run.retain_arg:
        rt.retained.append((run, list(roots)))


def rerun(rt: Any, run: Pass, roots: list[Node], cells: Any) -> None:
    """LG205: what this backward freed was built in another notebook cell, so its own cell cannot run twice."""
    here = cells(lift(run.site, run.where, 0).line)
    for node in reachable(roots):
        if node.freed is run and node.saves == ALWAYS and node.site is not None:
            if node.site.file is rt.shared.main and cells(lift(node.site, node.where, 0).line) != here:
                seen = Observation("rerun", "second-backward", run.site)
                seen.steps.append(Step("built", lift(node.site, node.where, 0), None, "built", op=node.op))
                rt.observe(seen)
                return


def _changed_below(node: Node, freed: Pass, run: Pass) -> bool:
    """Whether what the old graph was computed from has changed since it was built."""
    for n in reachable([node]):
        if n.leaf is not None:
            modified = n.leaf.storage.modified
            if modified is not None and modified[3] >= node.seq:
                return True
    return False


def no_grad_fn(rt: Any, value: Tensor, site: Site) -> None:
    """``backward()`` on something that has no graph."""
    seen = Observation("no-graph", "no-grad-fn", site)
    seen.raised = site
    seen.loop, seen.iteration = innermost(rt.where)
    cut = rt.shared.cuts.find(rt, value)
    if cut is not None:
        seen.site = cut.site
        seen.steps.append(Step("cut", cut.site, seen.iteration, "cut-" + cut.kind, what=cut.what))
        seen.facts.update(cut=cut.kind, what=cut.what)
    seen.steps.append(_raise_step_no_graph(site, seen.iteration))
    fail(rt, seen)


def _raise_step_no_graph(site: Site, iteration: int | None) -> Step:
    return Step("reached", site, iteration, "no-graph")


def rootless(rt: Any, value: Tensor, site: Site) -> None:
    """``backward()`` on a leaf that was told to require grad: the exception goes, and nothing trains."""
    if not value.leaf_grad or value.held or value.is_param or not rt.optimizers:
        return
    told = next(((s, w) for t, s, w, _, _ in rt.requires if t is value), None)
    place = told[0] if told is not None else value.site
    if place is None:
        return
    seen = Observation("made-leaf", "not-trained", place)
    seen.loop, seen.iteration = innermost(rt.where)
    cut = rt.shared.cuts.find(rt, value)
    if cut is not None:
        seen.steps.append(Step("cut", cut.site, seen.iteration, "cut-" + cut.kind, what=cut.what))
        seen.facts.update(cut=cut.kind, what=cut.what)
    seen.steps.append(Step("modified", place, seen.iteration, "made-leaf"))
    seen.steps.append(Step("reached", site, seen.iteration, "leaf-backward"))
    value.used_grad = True
    rt.observe(seen)


def grad_input(rt: Any, t: Tensor, site: Site) -> None:
    raise Raised("RuntimeError")


def leaf_inplace(rt: Any, t: Tensor, site: Site | None, name: str) -> None:
    """An in-place operation on a leaf that requires grad."""
    assert site is not None
    seen = Observation("leaf", "leaf-inplace", site)
    seen.raised = site
    seen.loop, seen.iteration = innermost(rt.where)
    seen.guess = t.guess
    if t.site is not None:
        seen.steps.append(Step("built", t.site, None, "leaf-made"))
    seen.steps.append(Step("modified", site, seen.iteration, "leaf-modified", what=name))
    fail(rt, seen)


def requires_grad(rt: Any, t: Tensor, site: Site, assigned: bool, graph: bool) -> None:
    """``requires_grad_()`` or ``requires_grad = True`` on a tensor."""
    if not rt.trying:
        rt.requires.append((t, site, rt.where, assigned, graph))


def dropped_detach(rt: Any, t: Tensor, site: Site) -> None:
    seen = Observation("dropped", "none", site)
    seen.facts["graph"] = t.requires_grad
    rt.observe(seen)


def updated(rt: Any, t: Tensor, site: Site) -> None:
    if t.leaf_grad:
        t.held = True


__all__ = ["ALWAYS", "Carrier", "Observation", "Step", "fail", "tape_error"]
