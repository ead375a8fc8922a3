"""At the end of a run: what can only be said when the whole path is known."""

from __future__ import annotations

from typing import Any

from . import settling
from .observation import Observation, Step, innermost, witness_of
from .tape import Tensor
from .torch_model.nn import label_of
from .torch_model.optim import held
from .where import Parting


def trained_names(rt: Any) -> set[str]:
    """The parameters that an optimizer (or a hand-written update) steps and that a backward reached."""
    return {t.label or label_of(rt, t.site, "tensor") for t in rt.reached.values() if t.held}


def finish(rt: Any) -> None:
    """Settle what was pending: growth, retained graphs, stray requires_grad, optimizers cut off."""
    settling.settle(rt)
    retained(rt)
    requires(rt)
    evaluations(rt)
    cut_off(rt)
    made_leaves(rt)
    for seen in rt.seen:
        siblings(rt, seen)


def siblings(rt: Any, seen: Observation) -> None:
    """The targets in which the carriers' statements store other graphs, with the nesting of what they store."""
    statements = {id(carrier.site.stmt) for carrier in seen.carriers}
    if statements:
        seen.facts["siblings"] = {
            site.node: shape for site, shape in rt.stored_at.items() if id(site.stmt) in statements
        }


def made_leaves(rt: Any) -> None:
    """LG304: a loss that was made a leaf, where a parameter of an optimizer is reached by no backward at all."""
    wanted = [t for optimizer in rt.optimizers for t in _held_by(optimizer) if t.leaf_grad and not t.guess]
    if all(id(t) in rt.reached for t in wanted):
        return
    for seen in rt.made_leaves:
        seen.witness = witness_of(rt, rt.where)
        rt.seen.append(seen)


def _held_by(optimizer: Any) -> list[Tensor]:
    return [t for inner in _groups(optimizer) for t in inner if type(t) is Tensor]


def _groups(optimizer: Any) -> list[Any]:
    """The contents of an optimizer's groups; a group has none where something else was put in its place."""
    groups = optimizer.attrs.get("param_groups")
    inner = [
        group.get("params") if isinstance(group, dict) else None
        for group in (groups if isinstance(groups, (list, tuple)) else ())
    ]
    return [each if isinstance(each, (list, tuple)) else () for each in inner]


def retained(rt: Any) -> None:
    """LG202: ``retain_graph=True`` that nothing needed, or that hides a graph carried between iterations."""
    by_site: dict[tuple, list[Any]] = {}
    for run, _ in rt.retained:
        by_site.setdefault(run.site.key, []).append(run)
    for runs in by_site.values():
        needed = any(run.needed for run in runs)
        hides = False
        for run in runs:
            for user in run.users:
                if Parting(run.where, user.where).loop is None or not stepped_between(rt, run, user):
                    needed = True
                else:
                    hides = True
        if needed:
            continue
        seen = Observation("retain", "none", runs[0].site)
        seen.facts["hides"] = hides
        seen.guess = 0
        rt.seen.append(seen)


def stepped_between(rt: Any, first: Any, second: Any) -> bool:
    """Whether some optimizer stepped between two backwards: without one they are two parts of one pass."""
    return any(first.index < at <= second.index for at in rt.step_marks)


def cut_off(rt: Any) -> None:
    """LG302: an optimizer (or a group of it) of whose parameters a cut left none for any backward to reach."""
    if any(run.opaque for run in rt.passes):
        return
    judged: set[int] = set()
    for optimizer in rt.stepped:
        if id(optimizer) in judged:
            continue
        judged.add(id(optimizer))
        groups = _groups(optimizer)
        for k, inner in enumerate(groups):
            wanted = [t for t in inner if type(t) is Tensor and t.leaf_grad]
            if (
                not wanted
                or getattr(inner, "open", False)
                or any(id(t) in rt.reached or t.guess for t in wanted)
            ):
                continue
            ids = {id(t) for t in wanted}
            cut = next(
                (c for c, leaves in rt.cut_events if leaves & ids and (c.used or c.kind != "item")), None
            )
            if cut is None or not rt.passes:
                continue
            seen = Observation("cut-off", "not-trained", cut.site)
            seen.steps.append(Step("cut", cut.site, None, "cut-" + cut.kind, what=cut.what))
            seen.steps.append(Step("stored", optimizer.site or cut.site, None, "optimizer"))
            seen.facts.update(cut=cut.kind, what=cut.what, cuts=[(cut.kind, cut.site)])
            seen.facts.update(group=k if len(groups) > 1 else None)
            rt.seen.append(seen)


def evaluations(rt: Any) -> None:
    """LG204: a module in eval() mode was called with recording on, and no backward ever walked what it recorded."""
    by_site: dict[tuple, list[Any]] = {}
    for site, node, where in rt.evaluated:
        by_site.setdefault(site.key, []).append((site, node, where))
    for calls in by_site.values():
        if any(node.consumed is not None for _, node, _ in calls):
            continue
        seen = Observation("eval-records", "none", calls[0][0])
        seen.loop, _ = innermost(calls[0][2])
        seen.steps.append(Step("built", calls[0][0], None, "built"))
        rt.seen.append(seen)


def requires(rt: Any) -> None:
    """LG401: ``requires_grad_()`` on a value that nothing optimises and whose gradient nobody reads."""
    if not rt.passes:
        return
    used = {site.key for t, site, *_ in rt.requires if t.held or t.used_grad}
    for t, site, where, assigned, graph in rt.requires:
        if site.key in used or t.held or t.used_grad or t.is_param or assigned or t.guess:
            continue
        seen = Observation("stray", "none", site)
        seen.facts.update(graph=graph)
        seen.loop, _ = innermost(where)
        seen.steps.append(Step("stored", site, None, "stray"))
        rt.seen.append(seen)


__all__ = ["finish", "held", "trained_names"]
