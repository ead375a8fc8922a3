"""Growth: graphs of more and more iterations that stay alive.

At the end of a loop's fourth iteration everything that is reachable from the live frames is walked. A
place (a name, an attribute, a container) whose graphs were born in iterations 2, 3 and 4 grows, unless a
later backward consumes what it holds. A loop that ran on is walked again at its end: what grew must still
hold all that it held and more, and what began later, or keeps only some iterations, is seen then.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from .holders import holders, id_of
from .lower.trips import through
from .observation import Carrier, Observation, Step, innermost, iteration_in, witness_of
from .sequences import is_one_graph, is_solved, is_unrolled
from .stories import last_store
from .tape import Node, children_first, reachable
from .values import tensors_in
from .walked import is_walked, passes_behind
from .where import LoopRun, lift

#: The iteration at whose end a loop is checked; graphs of all but the first must be alive then.
CHECK_AT = 4
#: How many runs of one loop statement are walked; more would say the same.
MOST_WALKS = 4


class Candidate:
    """A place that seemed to grow; ``nodes`` are what it held, watched for a later backward.

    ``unrolled`` says that it looks like a sequence, whose backward comes behind the loop.
    """

    __slots__ = ("apart", "index", "loop", "nodes", "observation", "place", "unrolled")

    def __init__(
        self,
        observation: Observation,
        nodes: list[Node],
        index: int,
        loop: LoopRun,
        place: Any,
        unrolled: bool,
    ) -> None:
        self.apart = _apart(place)
        self.observation = observation
        self.nodes = nodes
        self.index = index
        self.loop = loop
        self.place = id_of(place)
        self.unrolled = unrolled


def end_of_iteration(rt: Any, loop: LoopRun, iteration: int, frame: Any) -> None:
    """Called at the end of every iteration: look for growth at the fourth."""
    loop.executed.append(iteration)
    if rt.trying or loop.structural:
        return
    recorded = rt.seq not in (0, loop.seq)
    if len(loop.executed) == CHECK_AT - 1 and any(kind == "from" for kind, _ in rt.turns):
        held_now = holders(rt) if recorded else []
        loop.begun = {_apart(place) for place, nodes in held_now if born_in(nodes, loop) != {None}}
    if len(loop.executed) != CHECK_AT:
        return
    if not recorded:
        loop.held = {}
        return
    mark = ("walk", id(loop.site.node))
    walks = rt.counts.get(mark, 0)
    if walks >= MOST_WALKS:
        return
    rt.counts[mark] = walks + 1
    loop.held = held = {}
    due = set(loop.executed[1:CHECK_AT])
    for place, nodes in holders(rt):
        if _ends_with_the_call(rt, loop, place):
            continue
        born = born_in(nodes, loop)
        born.discard(None)
        if born:
            held[id_of(place)] = held[_apart(place)] = born
        if born >= due:
            inspect(rt, loop, place, nodes, due)


def end_of_loop(rt: Any, loop: LoopRun, whole: bool = False) -> None:
    """Called where a loop is left, but not by an exception. ``whole`` where it has come to its own end."""
    if whole and loop.executed and loop.executed[-1] > len(loop.executed):
        _note_few(rt, loop)  # some of its iterations did nothing
    _look_again(rt, loop)
    if whole and rt.growth and loop.backwards + loop.grads:
        runs = passes_behind(rt, loop)
        if runs:
            left = [c for c in rt.growth if c.loop is not loop or not is_walked(c, runs.__contains__)]
            # It may be there every few iterations, of which this is the first (`if i % 6 == 5:`).
            rt.unclear = (
                rt.unclear or len(left) < len(rt.growth) and any(turn[0] == "every" for turn in rt.turns)
            )
            rt.growth = left


def _look_again(rt: Any, loop: LoopRun) -> None:
    """Look at a loop's growth again where it ran on after the first look.

    A window of the last few values, and what is reset, replaced or cleared, has lost iterations by now.
    """
    held = loop.held
    if held is None or rt.trying:
        return
    if len(loop.executed) <= CHECK_AT:
        # What holds three of four iterations may be there to stay, or grow with more of them.
        due = set(loop.executed[1:CHECK_AT])
        rt.unclear = rt.unclear or any(len(born) >= len(due) and not born >= due for born in held.values())
        rt.growth = [c for c in rt.growth if c.loop is not loop or not _was_full(rt, loop, c.apart)]
        return
    loop.held = None
    # What is reset up to a limit (`if i < 4:`) may grow behind it, by what happens every few iterations.
    passed = any(turn[0] == "from" and turn[1] < len(loop.executed) for turn in rt.turns)
    rt.unclear = rt.unclear or passed and _ends_early(rt, loop)
    now: dict[Any, tuple[Any, list[Node]]] = {}
    for place, nodes in holders(rt):
        now[id_of(place)] = (place, nodes)
        now.setdefault(_apart(place), (place, nodes))
    waiting = {c.place: c for c in rt.growth if c.loop is loop}
    for candidate in waiting.values():
        place, nodes = now.get(candidate.place) or now.get(candidate.apart) or (candidate.place, [])
        gained = _gained(candidate.apart, candidate.place, nodes, loop, held)
        # What is made anew of an old graph that no longer grows has one iteration more as well, its own.
        fresh = gained - (held.get(candidate.place) or held.get(candidate.apart) or set())
        more_held = len(fresh) >= min(2, len(loop.executed) - CHECK_AT)
        if more_held and _goes_on(rt, loop, candidate.apart, gained) and not _has_just_passed(rt, loop):
            candidate.nodes = sorted(nodes, key=lambda n: n.seq)[-4:]
            candidate.index = len(rt.passes)
        else:
            rt.growth.remove(candidate)
            if not candidate.unrolled:
                _leave_open(rt, loop, candidate.apart, {k for k in born_in(nodes, loop) if k is not None})
    aparts = {c.apart for c in waiting.values()}
    for key, (place, nodes) in now.items():
        if (
            key != id_of(place)
            or key in waiting
            or _apart(place) in aparts
            or _ends_with_the_call(rt, loop, place)
        ):
            continue
        born = _gained(_apart(place), key, nodes, loop, held)
        # What is reset just before the first look, every few iterations, holds the last few as well; what a
        # counter lets begin there (`if i >= 3:`) has held nothing before, and what is reset has not held them for long.
        begins = loop.begun is not None and _apart(place) not in loop.begun
        first, last = min(born, default=0), loop.executed[-1]
        sure = begins or first < loop.executed[CHECK_AT - 1] or last - first >= 2 * CHECK_AT
        enough = 3 if sure else 4
        # What the last iteration made of an old graph has that iteration more than the old graph has.
        more = born - {last} - (held.get(key) or held.get(_apart(place)) or set())
        # What holds some iterations only may be at its end, where a counter has just passed a limit.
        few = len(born) >= enough and last - first >= len(born) and _has_just_passed(rt, loop)
        if born and len(born) >= enough and more and _goes_on(rt, loop, _apart(place), born) and not few:
            inspect(rt, loop, place, nodes, born)
        else:
            alive = {k for k in born_in(nodes, loop) if k is not None}
            # What has not let go of an earlier iteration may be a container, or a sum, that grows every few.
            rare = place[0] == "in" or _ends_early(rt, loop)
            kept = rare and min(alive, default=loop.executed[-1]) < loop.executed[-1] - 1
            if kept or len(alive) > (1 if held.get(key) or held.get(_apart(place)) else 0):
                _leave_open(rt, loop, _apart(place), alive)


def _leave_open(rt: Any, loop: LoopRun, apart: Any, alive: set[Any]) -> None:
    """Only more steps would tell whether a place grows that holds the iterations ``alive``."""
    rt.unclear = True
    if apart[0] != "gradient":  # which is known by its object alone, another one in each run
        mark = (id(loop.site.node), apart)
        rt.full[mark] = max((len(alive), loop.executed[-1]), rt.full.get(mark, (0, 0)))


def _was_full(rt: Any, loop: LoopRun, apart: Any) -> bool:
    """Whether a place did not grow when the loop's statement ran before, and for longer."""
    return rt.full.get((id(loop.site.node), apart), (0, 0))[1] > CHECK_AT


def _goes_on(rt: Any, loop: LoopRun, apart: Any, born: set[Any]) -> bool:
    """Whether a place takes up iterations to the end: what is full (`if i < 6:`) holds none of the last ones.

    If it holds more than with fewer steps (`if i < N - 3:`), it is not full.
    """
    held = sorted(born)
    fewer = rt.fewer.get((id(loop.site.node), apart))
    # Of a loop that jumped over some iterations it holds more with all of them, but none behind its end then.
    if fewer is not None and len(held) >= fewer[0] + 2 and sum(k > fewer[1] for k in held) >= 2:
        return True
    newest, last = held[-1], loop.executed[-1]
    # What the last two iterations made of what took up no more may only pass through.
    before = max((k for k in held if k <= last - 2), default=newest)
    for taken, end in ((newest, last), (before, last - 2)):
        if taken < end and _limits(rt) & {("from", taken), ("from", taken - 1)}:
            return False  # a counter has come to a limit (`i < n`, `i <= n`): it took all before, and none behind it
    return last - newest <= max(b - a for a, b in pairwise(held))


def _ends_early(rt: Any, loop: LoopRun) -> bool:
    """Whether a loop has ended before one could see what comes of a predicate that is true every few iterations."""
    return any(turn[0] == "every" and through(turn) > len(loop.executed) for turn in rt.turns)


def _has_just_passed(rt: Any, loop: LoopRun) -> bool:
    """Whether a loop has ended before one could see what comes of a limit that its counter has passed."""
    done = len(loop.executed)
    return any(turn[0] == "from" and turn[1] < done < through(turn) for turn in _limits(rt))


def _limits(rt: Any) -> set[tuple[str, int]]:
    """What turned, but for what goes along with the number of steps."""
    return rt.turns.keys() & rt.limits.keys()


def broken_off(rt: Any, loop: LoopRun) -> None:
    """Called where a ``break`` leaves a loop: one that ends in its fourth iteration is looked at with more steps."""
    _note_few(rt, loop)
    end_of_loop(rt, loop)


def _note_few(rt: Any, loop: LoopRun) -> None:
    """A loop went through three iterations: what a place holds of them may be all there will be, or grow with the steps."""
    mark = ("few", id(loop.site.node))
    walks = rt.counts.get(mark, 0)
    looks = rt.seq and walks < MOST_WALKS and not (rt.trying or rt.unclear or loop.structural)
    if looks and len(loop.executed) == CHECK_AT - 1:
        rt.counts[mark] = walks + 1
        # Of the last one a variable holds what it was given last, whatever the steps.
        last = {None, loop.executed[-1]}
        rt.unclear = any(born_in(nodes, loop) - last for _, nodes in holders(rt))


def _ends_with_the_call(rt: Any, loop: LoopRun, place: Any) -> bool:
    """Whether a place is a variable of a module's forward: a sequence, walked in one call, dies with it."""
    root = place[2] if place[0] == "in" else place
    if not rt.module_depth or root[0] != "name":
        return False
    outside = [table.get(root[1]) for table in rt.globals.values()]
    held = [t.node for value in outside for t in tensors_in(value, 4) if t.node is not None]
    return not any(iteration_in(node.where, loop) for node in held)


def _gained(apart: Any, place: Any, nodes: list[Node], loop: LoopRun, held: dict[Any, set[Any]]) -> set[Any]:
    """The iterations whose graphs a place holds, if it still holds all that it held at the first look, and more."""
    born = born_in(nodes, loop)
    born.discard(None)
    return born if (held.get(place) or held.get(apart) or set()) < born else set()


def _apart(place: Any) -> Any:
    """A place without its object: what is made anew each iteration is known by the name of its successor."""
    if place[0] == "in":
        return ("in", _apart(place[2]))
    return ("attribute", place[2]) if place[0] == "attribute" else place


def born_in(nodes: list[Node], loop: LoopRun) -> set[int | None]:
    """The iterations of ``loop`` in which what is reachable from ``nodes`` was recorded."""
    return {iteration_in(node.where, loop) for node in reachable(nodes)}


def inspect(rt: Any, loop: LoopRun, place: Any, nodes: list[Node], due: set[Any]) -> None:
    """A place that holds graphs of the iterations ``due`` of ``loop``: by which statements they came."""
    newest: Node | None = None
    oldest: Node | None = None
    total = walked = 0
    guess = 0
    for node in reachable(nodes):
        if iteration_in(node.where, loop) is None:
            continue
        total += 1
        walked += node.consumed is not None
        guess = max(guess, node.guess)
        if node.stores and (newest is None or node.seq > newest.seq):
            newest = node
        if oldest is None or node.seq < oldest.seq:
            oldest = node
    if guess and due <= {iteration_in(node.where, loop) for node in _proved(nodes)}:
        guess = 0
    if place[0] == "in":
        # Each statement that fills the container is a finding of its own.
        groups: dict[Any, list[Node]] = {}
        for node in nodes:
            store = _own(node, place) or last_store(node, rt.where)
            groups.setdefault(store.site.key if store is not None else None, []).append(node)
        full = [group for group in groups.values() if due <= born_in(group, loop)]
        if len(full) > 1:
            for group in full:
                if not is_one_graph(loop, group):
                    report(rt, loop, place, group, group[-1], group[0], total, walked, guess)
            return
    if is_one_graph(loop, nodes) or is_solved(rt, loop, place):
        return
    report(rt, loop, place, nodes, newest, oldest, total, walked, guess)


def _proved(roots: list[Node]) -> list[Node]:
    """The nodes below that are held for certain, though an unknown made them: a backward ran from them.

    It would have raised on a value without a graph; and what a known operation makes of one with a graph has one.
    What an unknown was made from may be held by it or not.
    """
    sure: set[int] = set()
    for node in children_first(roots):
        if node.leaf is not None and node.leaf.guess:
            continue  # a parameter of what may be a module
        known = node.op != "unknown" and any(id(below) in sure for below in node.inputs)
        if node.rooted or not node.guess or known:
            sure.add(id(node))
    found: dict[int, Node] = {}
    stack = list(roots)
    while stack:
        node = stack.pop()
        if id(node) in sure and id(node) not in found:
            found[id(node)] = node
            if node.op != "unknown":
                stack.extend(node.inputs)
    return list(found.values())


def report(
    rt: Any,
    loop: LoopRun,
    place: Any,
    nodes: list[Node],
    newest: Node | None,
    oldest: Node | None,
    total: int,
    walked: int,
    guess: int,
) -> None:
    tops = sorted(nodes, key=lambda n: n.seq)
    top = tops[-1]
    store = (
        _own(top, place)
        or last_store(top, rt.where)
        or (last_store(newest, rt.where) if newest is not None and place[0] != "gradient" else None)
    )
    site = store.site.statement if store is not None else (top.site or loop.site)
    seen = Observation("grows", "grows", site)
    if store is not None:
        seen.carriers.append(Carrier(store.text, store.site, store.shape, store.kind))
    if oldest is not None and oldest.site is not None:
        depth = next((k + 1 for k, link in enumerate(oldest.where.chain()) if link.loop is loop), 0)
        seen.steps.append(
            Step("built", lift(oldest.site, oldest.where, depth), None, "built-each", op=oldest.op)
        )
    if store is not None:
        seen.steps.append(Step("stored", store.site, None, "kept", name=store.text))
    seen.guess = guess
    consumed_here = walked > 0
    seen.facts.update(
        loop_site=loop.site,
        backwards=loop.backwards,
        walked=consumed_here,
        all_walked=walked == total,
        implicit=loop.implicit,
        training=_training(rt),
        top_loop=innermost(rt.where)[0],
        container=place[0] == "in",
        outlives=_outlives(nodes, loop),
        gradient=place[0] == "gradient",
        circle=place == ("gradient", None),
        places=[s.site for s in seen.steps if s.role == "built"],
    )
    retained = next(
        (n.retained for n in reachable(nodes) if n.retained is not None and not n.retained.create), None
    )
    if retained is not None:
        seen.facts["retained"] = retained.site
        seen.steps.append(Step("retained", retained.site, None, "retained"))
    seen.witness = witness_of(rt, rt.where)
    unrolled = is_unrolled(rt, loop, nodes)
    rt.growth.append(Candidate(seen, tops[-4:], len(rt.passes), loop, place, unrolled))


def _outlives(nodes: list[Node], loop: LoopRun) -> bool:
    """Whether graphs of an earlier iteration of the loop around ``loop`` are held that no backward has walked.

    They are not dropped with the iteration.
    """
    outer = loop.parent
    if outer is None or not outer.executed:
        return False
    return any(
        node.consumed is None and iteration_in(node.where, outer) in outer.executed
        for node in reachable(nodes)
    )


def _own(node: Node, place: Any) -> Any:
    """The store that names the very place: ``self.pictures.append(x)`` for the list ``pictures``."""
    at = place[2] if place[0] == "in" else place
    name = at[2] if at[0] == "attribute" else at[1] if at[0] == "name" else None
    kinds = {"attribute": ("attribute", "layer"), "name": ("name", "nonlocal")}.get(
        at[0] if place[0] != "in" else ""
    )
    named = [
        s
        for s in node.stores or []
        if s.text.rsplit(".", 1)[-1].split("[")[0] == name and (kinds is None or s.kind in kinds)
    ]
    return named[-1] if named else None


def _training(rt: Any) -> bool:
    """Whether some module of the program is in training mode."""
    return any(o.attrs.get("training") is not False for o in rt.modules_made)


def handed_over(rt: Any, result: Any) -> None:
    """What an entry point returns is its unknown caller's, who may run a backward over it.

    What is kept beside it, but led up to it, is held by it as well.
    """
    given = {id(node) for t in tensors_in(result, 4) if t.node is not None for node in reachable([t.node])}
    rt.growth = [c for c in rt.growth if c.loop.backwards or not _leads_to(given, c)]


def _leads_to(given: set[int], candidate: Candidate) -> bool:
    """Whether what grew is among the nodes ``given``, but for what its last iteration made."""
    inside = [(iteration_in(node.where, candidate.loop), node) for node in reachable(candidate.nodes)]
    newest = max((k for k, _ in inside if k is not None), default=0)
    return any(
        id(node) in given for k, node in inside if node in candidate.nodes or k is not None and k < newest
    )
