"""What a backward that raised tells: which old graph it met, who carried it there, what built and freed it."""

from __future__ import annotations

from dataclasses import dataclass, field

from .graph import FREED, NAMES, Node, is_leaf, is_modified, number_of, reaching, saves
from .names import collapsed
from .passes import Engine, Pass, Running
from .places import Activation, Place, Places

#: Outcomes by the stable part of PyTorch's message.
MESSAGES = {
    "Trying to backward through the graph a second time": "second-backward",
    "modified by an inplace operation": "inplace-version",
    "a leaf Variable that requires grad is being used in an in-place operation": "leaf-inplace",
    "a view of a leaf Variable that requires grad is being used in an in-place operation": "leaf-inplace",
    "does not require grad and does not have a grad_fn": "no-grad-fn",
}


def outcome_of(error: BaseException) -> str | None:
    if not isinstance(error, RuntimeError):
        return None
    text = str(error)
    return next((outcome for part, outcome in MESSAGES.items() if part in text), None)


@dataclass
class Fault:
    outcome: str
    raised_at: Place | None = None
    freed_at: Place | None = None
    built_at: Place | None = None
    #: The calls that led there, the innermost first; of a run with details.
    built_through: list[Place] = field(default_factory=list)
    iteration: int | None = None
    loop: Place | None = None
    #: All loops around, outermost first, as (path, line, iteration).
    loops: list[tuple[str, int, int]] = field(default_factory=list)
    carriers: list[str] = field(default_factory=list)
    #: How statements had last run before the iteration, if something was carried into it.
    before: dict[Place, int] | None = None


def in_loops(fault: Fault, loops: list[tuple[Activation, int]], carrying: Activation | None) -> Fault:
    """Fills in the iteration: in the loop that carries, else in the innermost."""
    fault.loops = [(loop.path, loop.line, count) for loop, count in loops if loop.line]
    loops = [(loop, count) for loop, count in loops if loop.line or count > 1]
    chosen = [item for item in loops if item[0] is carrying] or loops[-1:]
    if chosen:
        loop, count = chosen[0]
        fault.iteration = count
        fault.loop = (loop.path, loop.line) if loop.line else None
    return fault


class Explainer:
    def __init__(self, places: Places, engine: Engine) -> None:
        self._places = places
        self._engine = engine
        #: The sequence number when an optimizer last stepped.
        self.stepped = 0

    def explain(self, running: Running, outcome: str) -> Fault:
        fault = Fault(outcome, raised_at=running.record.site)
        loops = running.record.loops
        if outcome in ("second-backward", "silent") and running.stale:
            return self._stale(running, fault)
        if outcome == "inplace-version":
            return self._modified(running, fault)
        return in_loops(fault, loops, None)

    def _stale(self, running: Running, fault: Fault) -> Fault:
        """The engine runs the youngest ready node first, so the youngest stale one that saves raises."""
        stale = [node for node in running.stale if saves(node)] or running.stale
        culprit = max(stale, key=number_of)
        freeing = self._engine.passes[culprit.metadata[FREED]]
        fault.freed_at = freeing.site
        carrying = _carrying(running.record, freeing)
        in_loops(fault, running.record.loops, carrying)
        # carried into this iteration; where no loop carries, from the pass that freed it to this one
        border = carrying.starts[-1] if carrying is not None and carrying.line else freeing.ended
        fault.before = carrying.ran if carrying is not None else None
        carried = self._carried(running, set(running.stale), border)
        fault.carriers = _names(carried, running, set(running.stale))
        built = max(carried, key=number_of) if carried else culprit
        return self._built(fault, number_of(built))

    def _modified(self, running: Running, fault: Fault) -> Fault:
        loops = running.record.loops
        culprits = {node for node in running.nodes if not is_leaf(node) and is_modified(node)}
        if not culprits:
            return in_loops(fault, loops, None)
        culprit = max(culprits, key=number_of)
        number = number_of(culprit)
        older = [item for item in loops if item[0].iteration_of(number) not in (0, item[1])]
        in_loops(fault, loops, older[-1][0] if older else None)
        earlier = [record.ended for record in self._engine.passes[:-1] if record.ended]
        borders = [self.stepped, earlier[-1] if earlier else 0]
        if older:
            borders.insert(0, older[-1][0].starts[-1])
            fault.before = older[-1][0].ran
        for border in borders:
            carried = self._carried(running, culprits, border)
            if carried:
                fault.carriers = _names(carried, running, culprits)
                number = max(map(number_of, carried))
                break
        return self._built(fault, number)

    def _built(self, fault: Fault, number: int) -> Fault:
        fault.built_at = self._places.built_at(number)
        fault.built_through = self._places.built_through(number)
        return fault

    def _carried(self, running: Running, targets: set[Node], border: int) -> list[Node]:
        """The nodes made before the border that lead to a target and that something younger consumes."""
        reach = reaching(running.nodes, targets)
        old = {node for node in reach if not is_leaf(node) and number_of(node) < border}
        roots = {getattr(value, "grad_fn", None) for value in running.outputs}
        found = {node for node in old if node in roots}
        for node in running.nodes:
            if node not in old:
                found.update(following for following, _ in node.next_functions if following in old)
        return sorted(found, key=number_of)


def _carrying(now: Pass, freeing: Pass) -> Activation | None:
    """The innermost loop in which the freeing pass ran in an earlier iteration."""
    earlier = {loop.serial: count for loop, count in freeing.loops}
    found = None
    for loop, count in now.loops:
        if earlier.get(loop.serial, count) < count:
            found = loop
    return found


def _names(carried: list[Node], running: Running, targets: set[Node]) -> list[str]:
    """What the carried values were called when they were last seen, and what else holds the old graph.

    The carried value itself may have had no name: then those below it are asked. Attributes and containers
    that keep older parts are named behind it, plain variables (a loss of the last iteration) are not.
    """
    first: list[str] = []
    frontier = carried
    for _ in range(4):
        first = [name for node in frontier for name in _called(node)]
        if first:
            break
        frontier = [
            following
            for node in frontier
            for following, _ in node.next_functions
            if following is not None and not is_leaf(following)
        ]
    border = max(map(number_of, carried), default=-1)
    behind = [node for node in reaching(running.nodes, targets) if -1 < number_of(node) < border]
    also = [
        name
        for node in sorted(behind, key=number_of, reverse=True)
        for name in _called(node)
        if "." in name or "[" in name
    ]
    return collapsed([*first, *also])


def _called(node: Node) -> tuple[str, ...]:
    if is_leaf(node):
        return ()
    names: tuple[str, ...] = node.metadata.get(NAMES, (0, ()))[1]
    return names
