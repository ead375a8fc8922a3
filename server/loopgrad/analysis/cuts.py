"""Why a value has no graph: where it was cut, found by re-reading how it was computed."""

from __future__ import annotations

from typing import Any

from .tape import Node, Tensor, reachable
from .values import LList, Sym


class Cut:
    """What took the graph away: ``kind`` (detach, no_grad, item, op, numpy, tensor, frozen) and where.

    ``also`` are further cuts behind the same value: each summand of a loss may have one of its own.
    """

    __slots__ = ("also", "kind", "site", "used", "what")

    def __init__(self, kind: str, site: Any, what: str, also: tuple[Cut, ...] = ()) -> None:
        self.kind = kind
        self.site = site
        self.what = what
        self.also = also
        #: Whether something was computed from what was cut: a number that is only shown takes nothing from a loss.
        self.used = False

    def all(self) -> tuple[Cut, ...]:
        return (self, *self.also)


#: How many cuts of one value are remembered.
_MOST = 4


def find(rt: Any, value: Tensor) -> Cut | None:
    """The cut that explains a graphless tensor, or None."""
    found = value.cut
    return found if isinstance(found, Cut) else None


def of(values: Any) -> Any:
    """What cut the operands, as one: the first cut, and the others behind it.

    A parameter that is frozen is the reason only where nothing else took a graph away.
    """
    found: list[Cut] = []
    _collect(values, found)
    for cut in found:
        cut.used = True
    if len(found) < 2:
        return found[0] if found else None
    found.sort(key=lambda cut: cut.kind == "frozen")
    first = found[0]
    several = {id(cut.site): cut for one in found for cut in one.all()}
    del several[id(first.site)]
    if not several or first.all() == (first, *several.values()):
        return first
    return Cut(first.kind, first.site, first.what, tuple(several.values())[: _MOST - 1])


def _collect(values: Any, found: list[Cut]) -> None:
    for value in values:
        kind = type(value)
        if kind is Tensor or kind is Sym:
            if value.cut is not None and value.cut not in found:
                found.append(value.cut)
        elif kind is LList or kind is tuple:
            _collect(value[:8], found)


def note(rt: Any, kind: str, site: Any, what: str, nodes: list[Node]) -> Cut | None:
    """A cut that took the graph ``nodes`` away; remembers which parameters were behind it."""
    if site is None:
        return None
    cut = Cut(kind, site, what)
    if not nodes:
        return cut
    mark = ("cut", id(site))
    times = rt.counts.get(mark, 0)
    if times < 4:
        rt.counts[mark] = times + 1
        leaves = {id(n.leaf) for n in reachable(nodes) if n.leaf is not None}
        rt.cut_events.append((cut, leaves))
    return cut
