"""Whether backwards have walked what grew: then it was collected for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .observation import iteration_in
from .tape import Pass, reachable
from .where import LoopRun

if TYPE_CHECKING:
    from .growth import Candidate

#: Of so many iterations the graphs may be left over: of the newest state, of what was left out of a loss.
MOST_LEFT = 2


def passes_behind(rt: Any, loop: LoopRun) -> set[Pass]:
    """The passes of a loop's last iteration, where no other has run one (``if t == T - 1:``).

    They might as well stand behind the loop. A gradient that has a graph is a part of the computation.
    """
    found: set[Pass] = set()
    for run in rt.passes:
        iteration = None if run.create else iteration_in(run.where, loop)
        if iteration == loop.executed[-1]:
            found.add(run)
        elif iteration is not None:
            return set()
    return {run for run in found if not run.retain}


def is_walked(candidate: Candidate, counts: Callable[[Pass], bool]) -> bool:
    """Whether passes that count have walked what grew, but for that of one iteration or two."""
    kept: set[int] = set()
    walked: set[int] = set()
    for node in reachable(candidate.nodes):
        k = iteration_in(node.where, candidate.loop)
        if k is not None:
            run = node.consumed
            (walked if run is not None and counts(run) else kept).add(k)
    return bool(walked) and len(kept - walked) <= MOST_LEFT
