"""Why a value has no graph: where it was cut, found by re-reading how it was computed."""

from __future__ import annotations

from typing import Any

from .tape import Node, Tensor, reachable
from .values import LList, Sym


class Cut:
    """What took the graph away: ``kind`` (detach, no_grad, item, argmax, numpy, tensor, frozen) and where."""

    __slots__ = ("kind", "site", "what")

    def __init__(self, kind: str, site: Any, what: str) -> None:
        self.kind = kind
        self.site = site
        self.what = what


def find(rt: Any, value: Tensor) -> Cut | None:
    """The cut that explains a graphless tensor, or None."""
    found = value.cut
    return found if isinstance(found, Cut) else None


def of(values: Any) -> Any:
    """The first cut that some operand brings along."""
    for value in values:
        kind = type(value)
        if kind is Tensor or kind is Sym:
            if value.cut is not None:
                return value.cut
        elif kind is LList or kind is tuple:
            found = of(value[:8])
            if found is not None:
                return found
    return None


def note(rt: Any, kind: str, site: Any, what: str, nodes: list[Node]) -> Cut | None:
    """A cut that took the graph ``nodes`` away; remembers which parameters were behind it."""
    if site is None:
        return None
    cut = Cut(kind, site, what)
    mark = ("cut", id(site))
    times = rt.counts.get(mark, 0)
    if times < 4:
        rt.counts[mark] = times + 1
        leaves = {id(n.leaf) for n in reachable(nodes) if n.leaf is not None}
        rt.cut_events.append((cut, leaves))
    return cut
