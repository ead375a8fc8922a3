"""Places in a program and moments in its execution.

A :class:`Site` is a place: an expression or statement of one file. A :class:`Where` is a moment: the
chain of calls and loop iterations that execution was inside of. Chains are persistent linked lists,
so remembering a moment costs one pointer, and two moments are compared by walking their chains.
"""

from __future__ import annotations

import ast
from typing import Any

#: The functions of sites that stand for a caller in no file: a framework's loop, and an entry point's.
FRAMEWORK, ENTRY = "<framework>", "<entry>"
_NOWHERE = frozenset({FRAMEWORK, ENTRY})
#: How often a loop of unknown length turns, for whoever asks what it costs.
TURNS = 4


class Site:
    """An expression or statement in a file, with the statement that holds it."""

    __slots__ = ("file", "func", "node", "stmt")

    def __init__(self, file: Any, node: ast.AST, stmt: ast.AST, func: str) -> None:
        self.file = file
        self.node = node
        self.stmt = stmt
        self.func = func

    @property
    def line(self) -> int:
        return getattr(self.node, "lineno", 1)

    @property
    def key(self) -> tuple[str, int, int, int, int]:
        n: Any = self.node
        return (
            self.file.path,
            getattr(n, "lineno", 1),
            getattr(n, "col_offset", 0),
            getattr(n, "end_lineno", 1) or 1,
            getattr(n, "end_col_offset", 0) or 0,
        )

    @property
    def statement(self) -> Site:
        return self if self.stmt is self.node else Site(self.file, self.stmt, self.stmt, self.func)


class Where:
    """One link of a moment: either a call (``loop`` is None) or iteration ``iteration`` of ``loop``."""

    __slots__ = ("depth", "frame", "iteration", "loop", "parent", "site")

    def __init__(
        self,
        parent: Where | None,
        site: Site | None,
        loop: LoopRun | None = None,
        iteration: int = 0,
        frame: int = 0,
    ) -> None:
        self.parent = parent
        self.site = site
        self.loop = loop
        self.iteration = iteration
        self.depth: int = parent.depth + 1 if parent is not None else 0
        self.frame = frame

    def chain(self) -> list[Where]:
        """The links from the outermost to this one."""
        links: list[Where] = []
        link: Where | None = self
        while link is not None:
            links.append(link)
            link = link.parent
        links.reverse()
        return links


class LoopRun:
    """One execution of a loop from its first iteration to its last. ``site`` is the loop statement."""

    __slots__ = (
        "backwards",
        "begun",
        "direct",
        "executed",
        "grads",
        "held",
        "implicit",
        "kind",
        "over",
        "parent",
        "seq",
        "site",
        "steps",
        "structural",
        "trains",
        "turns",
    )

    def __init__(self, site: Site, kind: str = "for", implicit: bool = False) -> None:
        self.site = site
        self.kind = kind
        self.implicit = implicit
        #: Backwards run inside of it, and those of which it is the innermost loop.
        self.backwards = 0
        self.direct = 0
        #: Calls of ``autograd.grad`` inside of it: passes that leave nothing in ``.grad``.
        self.grads = 0
        #: Whether it counts, or goes along one tensor: the steps of an input. No optimizer steps in it, and no
        #: batches are loaded.
        self.steps = False
        #: Whether an optimizer steps in it.
        self.trains = False
        #: Whether it goes over the parts of a model, not over data or time.
        self.structural = False
        self.parent: LoopRun | None = None
        #: The iterator that it goes over, which lives as long as the loop.
        self.over: Any = None
        #: How much was recorded when it began, where that was noted.
        self.seq = -1
        #: How often it turns at least, as far as it is planned.
        self.turns = TURNS
        #: The iterations that ran, in order; a jump leaves some out.
        self.executed: list[int] = []
        #: What each place held at the first look for growth: the iterations whose graphs were alive.
        self.held: dict[Any, set[Any]] | None = None
        #: The places that held some graph of its own before that; None where nobody looked.
        self.begun: set[Any] | None = None


class Parting:
    """How two moments relate: the loop that separates them, if one does.

    ``loop`` is the outermost loop run that both are inside of, in different iterations
    (``earlier`` and ``later``), or None. ``rest_a`` and ``rest_b`` are their links behind the common ones.
    """

    __slots__ = ("common", "earlier", "later", "loop", "rest_a", "rest_b")

    def __init__(self, a: Where, b: Where) -> None:
        ca, cb = a.chain(), b.chain()
        n = 0
        for x, y in zip(ca, cb):
            if x is not y:
                break
            n += 1
        self.common = n
        self.loop: LoopRun | None = None
        self.earlier = self.later = 0
        self.rest_a, self.rest_b = ca[n:], cb[n:]
        if self.rest_a and self.rest_b:
            x, y = self.rest_a[0], self.rest_b[0]
            if x.loop is not None and x.loop is y.loop:
                self.loop, self.earlier, self.later = x.loop, x.iteration, y.iteration


def lift(site: Site, where: Where, depth: int) -> Site:
    """The place in the caller's frame at chain depth ``depth`` through which ``site`` was reached.

    A graph that is built three calls down is reported where the frame that owns the loop calls.
    """
    for link in where.chain()[depth:]:
        if link.loop is None and link.site is not None and link.site.func not in _NOWHERE:
            return link.site
    return site


def loops_of(where: Where) -> list[Where]:
    """The loop iterations of a moment, innermost first."""
    found = []
    link: Where | None = where
    while link is not None:
        if link.loop is not None:
            found.append(link)
        link = link.parent
    return found
