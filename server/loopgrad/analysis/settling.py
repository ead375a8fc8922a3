"""What of all that seemed to grow is growth, which only the end of a run tells."""

from __future__ import annotations

from typing import Any

from .growth import Candidate
from .lower.nodes import BACKWARDS, has_attribute
from .observation import iteration_in
from .sequences import walked_since
from .stories import crossing
from .tape import Pass, reachable
from .walked import is_walked
from .where import LoopRun


def behind(candidate: Candidate, other: Candidate) -> bool:
    """Whether a value only holds the growing graph through what ``other`` holds (``loss`` of a carried ``position``)."""
    if candidate.loop is not other.loop or other.place == candidate.place:
        return False
    if candidate.observation.facts["container"] and not _made_anew(candidate):
        return False
    links = _links(candidate)
    own, others = _name(candidate.apart) in links, _name(other.apart) in links
    if own != others:
        return others
    mine = {id(n) for n in candidate.nodes}
    theirs = {id(n) for n in other.nodes}
    if mine & theirs:
        # The same value under a name and in what outlives the iteration: the latter is what keeps it.
        return candidate.place[0] == "name" and other.place[0] != "name"
    if own:
        return False  # it goes from iteration to iteration by itself: a sum of what another one makes
    below = {id(n) for n in reachable(candidate.nodes)}
    return bool(theirs) and theirs <= below


def _made_anew(candidate: Candidate) -> bool:
    """Whether a container is assigned with what its loop's last iteration made: it collects nothing itself."""
    loop = candidate.loop
    newest = max((iteration_in(n.where, loop) or 0 for n in reachable(candidate.nodes)), default=0)
    return all(
        iteration_in(n.where, loop) == newest
        and any(s.kind == "name" and s.text == _name(candidate.apart) for s in n.stores or [])
        for n in candidate.nodes
    )


def _links(candidate: Candidate) -> set[str]:
    """The names that lead from one iteration's graph to the one before: what is carried, not what is made of it."""
    loop = candidate.loop
    newest = max((iteration_in(n.where, loop) or 0 for n in reachable(candidate.nodes)), default=0)
    edges = crossing(candidate.nodes, lambda n: 0 < (iteration_in(n.where, loop) or 0) < newest)
    return {
        store.text.rsplit(".", 1)[-1]
        for node, consumer in edges
        if consumer is not None
        for store in node.stores or []
        if store.kind in ("name", "nonlocal", "attribute")
    }


def _name(place: Any) -> str | None:
    """The name of the variable or attribute that holds a value, or the container that holds it."""
    return _name(place[1]) if place[0] == "in" else place[1] if place[0] in ("name", "attribute") else None


def within_a_step(candidate: Candidate) -> bool:
    """Whether the loop is a part of one training step: what it collects is dropped with the step.

    A loop over time steps or layers that runs no backward and no step, inside of a loop that itself does, would
    have to grow over the outer iterations to be growth, as a container that is not emptied with the step does.
    """
    loop, outer = candidate.loop, candidate.loop.parent
    return (
        loop.backwards == 0
        and not loop.trains
        and outer is not None
        and outer.direct > 0
        and bool(candidate.observation.facts["training"])
        and not candidate.observation.facts["outlives"]
    )


def _runs_in(where: Any, loop: LoopRun) -> bool:
    """Whether something ran in a loop's statement: in this run of it, or when an outer loop came to it again."""
    return any(link.loop is not None and link.loop.site.key == loop.site.key for link in where.chain())


def settle(rt: Any) -> None:
    """At the end of a run: keep the candidates that no later backward consumed.

    What looks like a sequence is one where its loop runs a backward on no path: that is told when all have run.
    """
    if rt.failed and not rt.passes and has_attribute(rt.shared.main.tree, BACKWARDS):
        rt.growth = []  # the path failed before the backward that may be meant for them
        return
    # The exception may have come before the backward that is meant for what a loop without one has gathered.
    if rt.fatal:
        rt.growth = [candidate for candidate in rt.growth if candidate.loop.backwards]
    rt.seen += [c.observation for c in _kept([c for c in rt.growth if not c.unrolled])]
    rt.unrolled = [(id(c.loop.site.node), c.observation) for c in _kept(rt.growth) if c.unrolled]
    rt.growth = []


def _kept(candidates: list[Candidate]) -> list[Candidate]:
    """Those that no later backward consumed, that are no part of a step, and that no other one explains."""
    # A loop over time that is a part of the training's step is no other thing where it is run once more alone.
    parts = {candidate.loop.site.key for candidate in candidates if within_a_step(candidate)}
    kept = []
    for candidate in candidates:
        outlives = candidate.observation.facts["outlives"]
        if candidate.loop.site.key in parts and not candidate.loop.backwards and not outlives:
            continue
        if any(other is not candidate and behind(candidate, other) for other in candidates):
            continue
        if within_a_step(candidate) or _consumed(candidate):
            continue
        if not walked_since(candidate.nodes, candidate.loop, candidate.index):
            kept.append(candidate)
    return kept


def _consumed(candidate: Candidate) -> bool:
    """Whether a later backward walked what grew, and did not retain it within the loop."""

    def later(run: Pass) -> bool:
        return run.index >= candidate.index and not (run.retain and _runs_in(run.where, candidate.loop))

    return is_walked(candidate, later)
