"""``random``: what is drawn from a list is one of its elements by chance."""

from __future__ import annotations

from typing import Any

from ..semantics.calls import arg
from ..tape import NEVER, Tensor
from ..values import LDict, LList, Sym, tensors_in
from ..where import Site
from .registry import native


@native("random.choice")
def _choice(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    items, _ = rt.shared.objects.listed(rt, args[0], site)
    return drawn(rt, items, site) if items else rt.fresh(site)


@native("random.sample", "random.choices")
def _sample(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    items, more = rt.shared.objects.listed(rt, args[0], site)
    count = arg(args, kwargs, 1, "k", 1)
    if type(count) is int and count >= len(items):
        return LList(items if len(items) == 1 else [perhaps(rt, item, site) for item in items], more)
    if type(count) is not int or not items:
        return LList(items, True)
    return LList([drawn(rt, items, site) for _ in range(min(count, 8))], count > 8)


def drawn(rt: Any, items: list, site: Site) -> Any:
    """An element by chance: the newest and the oldest alternate, so that both are seen, and neither is certain.

    Which comes when decides what a backward meets, an element that was walked before or one whose weights have
    changed since: other runs begin with the oldest, or draw that one always (``reruns.drawn_otherwise``).
    """
    n = rt.counts.get(("drawn", id(site)), 0)
    rt.counts[("drawn", id(site))] = n + 1
    rt.draws = True
    return perhaps(rt, items[-1] if rt.newest[n % 2] else items[0], site)


def perhaps(rt: Any, value: Any, site: Site, depth: int = 3) -> Any:
    """A value of which it is not certain that it is this one: what follows from its graph is possible."""
    kind = type(value)
    if kind is Tensor or kind is Sym:
        if value.node is None or value.node.guess:
            return value
        return Sym(
            ("perhaps", value.node.seq, id(site)),
            "tensor",
            node=rt.record("clone", (value.node,), NEVER, site, guess=1),
        )
    if (
        depth
        and kind in (tuple, LList, LDict)
        and not any(t.node is not None for t in tensors_in(value, depth))
    ):
        return value  # the container itself, which may be filled later
    if depth and kind is tuple:
        return tuple(perhaps(rt, part, site, depth - 1) for part in value)
    if depth and kind is LList:
        return LList([perhaps(rt, part, site, depth - 1) for part in value], value.open, value.bounded)
    if depth and kind is LDict:
        return LDict({key: perhaps(rt, part, site, depth - 1) for key, part in value.items()}, value.open)
    return value


@native("random.shuffle")
def _shuffle(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    items = args[0] if args else None
    if type(items) is LList and len(items) > 1:
        rt.note_list(items)
        items[:] = [perhaps(rt, item, site) for item in items]
