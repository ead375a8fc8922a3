"""What a finding is made of: an observation, its carriers and the steps of its story. Plain places and numbers."""

from __future__ import annotations

from typing import Any

from .where import Site, Where, loops_of


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
        "witness",
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
        #: The unknown conditions as this run decided them, and the loops around with their iteration:
        #: (kind, site, result or iteration), what came first first.
        self.witness: list[tuple[str, Site, int]] = []

    @property
    def key(self) -> tuple:
        return (self.what, self.site.key)


def witness_of(rt: Any, where: Where) -> list[tuple[str, Site, int]]:
    """How this run came to a moment: ("condition", site, result) and ("loop", site, iteration)."""
    found = [
        ("condition", each.site, int(each.result))
        for each in rt.trace
        if each.site is not None and each.result is not None
    ]
    loops = [
        ("loop", link.loop.site, link.iteration)
        for link in loops_of(where)
        if link.loop is not None and not link.loop.implicit and link.loop.kind != "comprehension"
    ]
    return [*found, *reversed(loops)]


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


def in_a_later_call(where: Where) -> bool:
    """Whether a solver's closure runs again: it does not where the first gradient is zero already."""
    return any(
        link.loop is not None and link.loop.kind == "closure" and link.iteration > 1
        for link in loops_of(where)
    )
