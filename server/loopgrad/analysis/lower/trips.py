"""Which iterations of a loop are executed.

A loop that records nothing on the tape runs on as Python would. One that does is cut after a few; before that
it runs on, or jumps, to the iterations at which something that was seen in the body turns: a counter predicate
(``i % 30 == 0``), a limit that a counter or a length comes to (``i >= 5``, ``len(buffer) > 8``, ``losses[-6:]``).
"""

from __future__ import annotations

import ast
import math
from typing import Any

from ..where import TURNS, LoopRun

#: Iterations of a loop of unknown length, by how many loops are around it (see :func:`depth_in`).
UNKNOWN_TRIPS = (4, 4, 3, 2)
#: For so many iterations that did nothing it runs once more.
MOST_SKIPS = 4
#: A loop of known length runs in full up to this many iterations, by depth.
FULL_TRIPS = (8, 8, 8, 6, 4)
#: A loop that records nothing runs on up to here, and while it has cost little (in steps and library calls).
LIGHT_TRIPS = 256
LIGHT_WORK = 512
#: Turns up to here are run up to; those above are jumped to, where the elements can be had in any order.
NEAR = 12
#: A predicate ``i % n == k`` with ``n`` up to here is run through several times.
SMALL = 6

#: A length that comes to a limit cannot be jumped to; up to here it is run up to, if that costs no more than this.
LONG = 64
LONG_STEPS = 4_000

#: A name for one of these numbers may be how often a loop runs; a run with more steps takes it so many times.
COUNTS = range(4, 13)
LONGER = 2

#: So often a loop is looked at for turns where it would be cut.
MOST_LOOKS = 2

#: What turned: ("every", n) for ``% n``, ("from", n) for a counter's limit, ("length", n) for a length's.
Turn = tuple[str, int]


def through(turn: Turn) -> int:
    """How many iterations show what comes of a turn: a predicate true twice or thrice, a limit and what follows."""
    kind, n = turn
    if kind != "every":
        return n + 4
    return 3 * n if n <= 4 else 2 * n + 1 if n <= SMALL else n + 2


def is_count(node: ast.Assign) -> bool:
    """Whether an assignment gives a name to what may be a number of iterations, few enough to run them all."""
    value = node.value
    return (
        isinstance(node.targets[0], ast.Name)
        and isinstance(value, ast.Constant)
        and type(value.value) is int
        and value.value in COUNTS
    )


def depth_in(loops: list[LoopRun]) -> int:
    """How many loops are around, where those that turn a few times (two times two) count as one of unknown length."""
    turns = math.prod(loop.turns for loop in loops)
    depth = 0
    while depth < len(loops) and TURNS**depth < turns:
        depth += 1
    return depth


class Plan:
    """Which iterations of a loop to execute."""

    __slots__ = (
        "base",
        "begun",
        "depth",
        "finite",
        "full",
        "jumped",
        "jumps",
        "looks",
        "random",
        "rt",
        "seen",
        "seq",
        "skips",
        "told",
    )

    def __init__(
        self,
        rt: Any,
        length: int | None,
        random: bool,
        items: bool = False,
        finite: bool = False,
    ) -> None:
        self.finite = finite
        self.rt = rt
        self.depth = depth = depth_in(rt.loops)
        pick = UNKNOWN_TRIPS[min(depth, len(UNKNOWN_TRIPS) - 1)]
        full = FULL_TRIPS[min(depth, len(FULL_TRIPS) - 1)] * rt.times
        self.full = max(full, 40 if items and depth < 3 else full)
        self.base = pick
        if length is None:
            rt.open_loops = True
            self.base += rt.longer + pick * (rt.times - 1)
        elif length <= self.full:
            self.base = length
        self.random = random
        self.jumps: list[int] = []
        self.jumped = False
        #: How often it was looked for turns, and how many there were: behind a limit others may stand.
        self.looks = self.told = 0
        self.skips = 0
        self.seq = rt.seq
        self.begun = rt.steps + rt.work
        self.seen = dict(rt.turns)

    def _turned(self) -> list[Turn]:
        """What turned since the loop began; deep inside other loops nothing is waited for."""
        return [] if self.depth >= 2 else self._since()

    def _since(self) -> list[Turn]:
        return [turn for turn, count in self.rt.turns.items() if count > self.seen.get(turn, 0)]

    def light(self) -> bool:
        """Whether the loop has recorded nothing so far, for little."""
        rt = self.rt
        if rt.seq != self.seq or rt.trying:
            return False
        return rt.prints is not None or rt.steps + rt.work - self.begun < LIGHT_WORK

    def most(self, known: bool | None, endless: bool) -> int:
        """How often a ``while`` runs whose test is true for sure (or unknown, None; ``endless``: ``while True``)."""
        if known is None:
            return self.base
        if self.light():
            return LIGHT_TRIPS
        usual = self.base if endless else self.full
        if endless and self.depth >= 2:
            # The limit that a counter comes to may be its end: then it is as long as a loop of known length.
            turned = self._since()
            usual = max([usual, *(n + 1 for kind, n in turned if kind == "from" and n < self.full)])
        return max([usual, *(through(turn) for turn in self._turned() if turn[1] <= NEAR)])

    def skipped(self, length: int | None) -> bool:
        """Whether a loop of unknown length runs once more for an iteration that did nothing (``continue``)."""
        if length is not None or self.skips >= MOST_SKIPS:
            return False
        self.skips += 1
        self.base += 1
        return True

    def next(self, i: int, length: int | None) -> int | None:
        """The iteration (from 0) to run after iteration ``i``; None where the loop is cut."""
        following = i + 1
        if length is not None and following >= length:
            return following
        if following < self.base:
            return following
        if (length is not None or self.finite) and self.light():
            return following if following < LIGHT_TRIPS else None
        if not self.jumps and self.looks < MOST_LOOKS and len(turned := self._turned()) > self.told:
            self.looks += 1
            self.told = len(turned)
            near = max((self._through(t) for t in turned if self._near(t, following)), default=0)
            self.jumps = self._far(turned, max(near, following)) if self.random and not self.jumped else []
            self.jumped = self.jumped or bool(self.jumps)
            if near > following:
                self.base = near
                return following
        while self.jumps:
            jump = self.jumps.pop(0)
            if jump >= following and (length is None or jump < length):
                return jump
        return None

    def _through(self, turn: Turn) -> int:
        """How many iterations are run for a turn; with more steps once more, as what it does may leave out the first
        (``i > 0 and i % 3 == 0``)."""
        return through(turn) + (turn[1] if turn[0] == "every" and self.rt.times > 1 else 0)

    def _near(self, turn: Turn, following: int) -> bool:
        """Whether a turn is run up to, not jumped to."""
        kind, n = turn
        if kind == "length" and n <= LONG:
            return (self.rt.steps + self.rt.work - self.begun) * (n + 4) < LONG_STEPS * following
        return n <= (SMALL if self.random else NEAR)

    @staticmethod
    def _far(turned: list[Turn], following: int) -> list[int]:
        """The iterations around the first turns that are too far to run up to."""
        found: set[int] = set()
        far = [turn for turn in turned if turn[0] != "length" and turn[1] > SMALL]
        for kind, n in sorted(far, key=lambda turn: turn[1])[:2]:
            every = (n - 1, n, n + 1, 2 * n - 1, 2 * n, 3 * n - 1, 3 * n)
            found.update(every if kind == "every" else range(n - 1, n + 4))
        return sorted(jump for jump in found if jump >= following)
