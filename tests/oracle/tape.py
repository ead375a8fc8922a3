"""What is recorded while a program runs in PyTorch: passes, freed nodes, kept generations, training.

All backward-like calls go through `Variable._execution_engine`, which is replaced by a proxy. A node's
`metadata` lives as long as the node itself, so marks are put there: `freed` after a pass that does not
retain, `held` when a loop ends while something live still reaches the node.

Growth counts *generations*: the distinct iterations of a loop in which nodes were born that are still
reachable from a live tensor when the loop ends, less those that a later backward consumes. A node's
birth is known from its sequence number, which is compared with the numbers at the loop's ticks.
"""

from __future__ import annotations

import gc
import inspect
import sys
import weakref
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any

import torch

from .instrument import FILE

Graph = Any
_VIEWS = (
    "View",
    "Alias",
    "Select",
    "Slice",
    "Squeeze",
    "Unsqueeze",
    "Expand",
    "T",
    "Transpose",
    "Permute",
    "Reshape",
    "AsStrided",
)
VIEWS = tuple(f"{name}Backward" for name in _VIEWS)


class Activation:
    """One run of a loop from its start to its end."""

    def __init__(self, line: int, loose: bool = False) -> None:
        self.line = line
        #: A generator expression's: nobody says when it has ended, so it is around nothing.
        self.loose = loose
        self.ticks: list[int] = []
        #: The iterator that it goes over: what that holds has grown with the loop, and is looked at before it goes.
        self.over: object = None
        self.held: set[int] = set()
        self.consumed: set[int] = set()
        #: The iterations in which it ran passes, one for each, and those of which its last iteration's own walked some.
        self.passes: list[int] = []
        self.at_last: set[int] = set()
        #: How many nodes each iteration left alive, and how many of them a later pass walked.
        self.left: Counter[int] = Counter()
        self.walked: Counter[int] = Counter()

    @property
    def gone(self) -> set[int]:
        """The iterations that a later pass walked, or the loop's one pass in its last iteration."""
        return self.consumed | self.at_last

    @property
    def walked_later(self) -> bool:
        """Whether later passes have walked what it left, but for that of one iteration or two."""
        return bool(self.consumed) and len(self.held - self.gone) <= 2

    @property
    def partly(self) -> int:
        """The iterations of which a later pass walked some of what they left, and not the rest."""
        return sum(self.walked[born] < self.left[born] for born in self.consumed)


class Tape:
    """The record of one run."""

    def __init__(self) -> None:
        self.active: dict[int, list[Activation]] = {}
        self.ended: list[Activation] = []
        self.passes = 0
        self.silent: dict[str, tuple[int, int]] = {}
        #: The names of leaves, each with the numbers of those that have it.
        self.all_reached: dict[str, set[int]] = {}
        self.all_held: dict[str, set[int]] = {}
        self.trained: set[str] = set()
        self.names: dict[int, tuple[weakref.ref[torch.Tensor], str, int]] = {}
        self.numbered = 0
        self.versions: list[dict[int, int]] = []
        self.started = torch.autograd._get_sequence_nr()

    # loops

    def enter(self, line: int) -> None:
        self.active.setdefault(line, []).append(Activation(line))

    def tick(self, line: int) -> None:
        runs = self.active.setdefault(line, [])
        if not runs:
            runs.append(Activation(line, loose=True))
        runs[-1].ticks.append(torch.autograd._get_sequence_nr())

    def over(self, line: int, value: Any) -> Any:
        if hasattr(value, "__next__"):
            self.active[line][-1].over = value
        return value

    def leave(self, line: int) -> None:
        run = self.active[line].pop()
        run.ticks.append(torch.autograd._get_sequence_nr())
        self.ended.append(run)
        if sys.exc_info()[0] is None and len(run.ticks) > 4:
            self._measure(run)
        run.over = None

    def done(self, line: int) -> None:
        """A comprehension has ended: what it made is one value, no growth."""
        self.active[line].pop()

    def iterations(self, line: int) -> int:
        """How many iterations the newest run of a loop has begun."""
        runs = self.active.get(line)
        if runs:
            return len(runs[-1].ticks)
        return next((len(run.ticks) - 1 for run in reversed(self.ended) if run.line == line), 0)

    def _measure(self, run: Activation) -> None:
        roots, anew = live_roots()
        #: The one pass of the loop, if that ran in its last iteration.
        final = self.passes if run.passes == [len(run.ticks) - 1] else None
        for k, node in enumerate(anew, 1):
            run.held.add(-k)
            node.metadata.setdefault("held", []).append((run, -k))
        looked = set(anew)
        for node in reachable(roots):
            if node in looked:
                continue
            number = node._sequence_nr()
            if number < self.started or number >= 1 << 62:
                continue
            born = bisect_right(run.ticks, number)
            if born:
                run.held.add(born)
                run.left[born] += 1
                if final is not None and node.metadata.get("freed") == final:
                    run.at_last.add(born)
                node.metadata.setdefault("held", []).append((run, born))

    def generations(self, sequences: bool = True) -> dict[int, int]:
        """For each loop, the most generations that one of its runs left alive for good.

        Without ``sequences``, what the loop's one pass walked in its last iteration does not count, nor what its
        last run left, where a pass of the next run has walked what each run before left.
        """
        runs: dict[int, list[Activation]] = {}
        for run in self.ended:
            runs.setdefault(run.line, []).append(run)
        most: dict[int, int] = {}
        for line, several in runs.items():
            if not sequences and len(several) > 2 and all(run.walked_later for run in several[:-1]):
                several.pop()
            most[line] = max(len(run.held - (run.consumed if sequences else run.gone)) for run in several)
        return most

    def partly(self) -> int:
        """The most iterations of one loop that were walked in part: whether they pile up is a matter of words."""
        return max((run.partly for run in self.ended), default=0)

    def longest(self) -> dict[int, int]:
        """For each loop, the most iterations that one of its runs had."""
        most: dict[int, int] = {}
        for run in self.ended:
            most[run.line] = max(most.get(run.line, 0), len(run.ticks) - 1)
        return most

    # passes

    def run_backward(self, engine: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Stand in for the engine's `run_backward(outputs, grads, keep_graph, create_graph, inputs, ...)`."""
        outputs, keep_graph, inputs = args[0], bool(args[2]), args[4] if len(args) > 4 else ()
        roots = [t.grad_fn if isinstance(t, torch.Tensor) else t.node for t in outputs]
        nodes = executed([n for n in roots if n is not None], inputs)
        self._name_leaves(nodes, args[0], inputs)
        stale = [node for node in nodes if "freed" in node.metadata]
        result = engine(*args, **options)
        self.passes += 1
        if not args[3]:  # a gradient that has a graph is a part of the computation
            for run in self._around():
                run.passes.append(len(run.ticks))
        if stale:
            self._note_silent(stale)
        self.versions.append({id(leaf): leaf._version for leaf in leaves(nodes)})
        for node in nodes:
            for run, born in node.metadata.pop("held", ()):
                run.consumed.add(born)
                run.walked[born] += 1
            if not keep_graph and not hasattr(node, "variable"):
                node.metadata.setdefault("freed", self.passes)
        return result

    def _note_silent(self, stale: list[Graph]) -> None:
        starts = [run.ticks[-1] for run in self._around()]
        computing = [n for n in stale if not n.name().startswith(VIEWS)]
        older = [n for n in computing if n._sequence_nr() < max(starts, default=0)]
        kind = "carried" if older and self._matters(older) else "shared"
        self.silent.setdefault("views" if not computing else kind, (_line(), self.passes))

    def _around(self) -> list[Activation]:
        """The loops that run now and have begun an iteration."""
        newest = [runs[-1] for runs in self.active.values() if runs]
        return [run for run in newest if run.ticks and not run.loose]

    def _matters(self, older: list[Graph]) -> bool:
        """Is a gradient wrong or counted twice: built in an earlier iteration, or a leaf has changed since?"""
        turns = [(run.ticks[0], run.ticks[-1]) for run in self._around()]
        if any(first <= node._sequence_nr() < last for node in older for first, last in turns):
            return True
        for node in older:
            then = self.versions[node.metadata["freed"] - 1]
            if any(then.get(id(leaf), leaf._version) != leaf._version for leaf in leaves(reachable([node]))):
                return True
        return False

    def _name_leaves(self, nodes: list[Graph], outputs: Iterable[Any], inputs: Iterable[Any]) -> None:
        started = [value for value in outputs if isinstance(value, torch.Tensor) and value.is_leaf]
        for leaf in [*leaves(nodes), *started]:
            name, number = self._name(leaf)
            self.all_reached.setdefault(name, set()).add(number)

    def stepping(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        """A hook before each optimizer step."""
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                name, number = self._name(parameter)
                self.all_held.setdefault(name, set()).add(number)
                if parameter.grad is not None:
                    self.trained.add(name)

    @property
    def held(self) -> set[str]:
        """The names of the leaves that an optimizer steps."""
        return set(self.all_held)

    @property
    def reached(self) -> set[str]:
        """The names of the leaves that a pass reached; one that an optimizer's leaf has too, if that was reached."""
        return {
            name for name, numbers in self.all_reached.items() if numbers & self.all_held.get(name, numbers)
        }

    def _name(self, leaf: torch.Tensor) -> tuple[str, int]:
        """What the program calls a leaf (a name in a frame, an attribute, a module's parameter), and its number."""
        known = self.names.get(id(leaf))
        if known is None or known[0]() is not leaf:
            self.numbered += 1
            self.names[id(leaf)] = known = (weakref.ref(leaf), _find(leaf), self.numbered)
        return known[1], known[2]


def _frames() -> Iterator[FrameType]:
    """The frames of the program that is run, innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == FILE:
            yield frame
        frame = frame.f_back


def _line() -> int:
    return next((frame.f_lineno for frame in _frames()), 0)


def _find(leaf: torch.Tensor) -> str:
    frames = list(_frames())
    scopes = [_variables(frame) for frame in frames] + [frame.f_globals for frame in frames[-1:]]
    for scope in scopes:
        for name, value in scope.items():
            if value is leaf and name not in ("self", "value", "p", "q", "v"):
                return name
            found = _inside(leaf, value)
            if found and name == "self":
                return found
            if found:
                return f"{name}.{found}"
    return f"leaf of {tuple(leaf.shape)}"


def _variables(frame: FrameType) -> dict[str, Any]:
    """The variables of a frame, looked at without a trace.

    A function's frame keeps what it shows as ``f_locals`` (before Python 3.13): values that the program has let go
    of since would live on there.
    """
    shown = frame.f_locals
    if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return shown
    found = dict(shown)
    if type(shown) is dict:
        shown.clear()
    return found


def _inside(leaf: torch.Tensor, value: object) -> str:
    if isinstance(value, torch.nn.Module):
        return next((path for path, parameter in value.named_parameters() if parameter is leaf), "")
    if type(value).__module__ == "__main__" and hasattr(value, "__dict__"):
        for path, inner in vars(value).items():
            if inner is leaf:
                return path
            found = _inside(leaf, inner) if isinstance(inner, torch.nn.Module) else ""
            if found:
                return f"{path}.{found}"
    return ""


def leaves(nodes: Iterable[Graph]) -> list[torch.Tensor]:
    """The leaves that the nodes accumulate into."""
    found = [getattr(node, "variable", None) for node in nodes]
    return [leaf for leaf in found if leaf is not None]


def live_roots() -> tuple[list[Graph], list[Graph]]:
    """The nodes that any live tensor holds (what existed before the run is frozen out of the collector).

    Second those of them that looking makes anew: a view of what was changed in place since gets its node when it
    is asked for. Of these only their number tells of growth, since none has the number of its birth.
    """
    gc.collect()
    roots, anew = [], []
    for value in gc.get_objects():
        if isinstance(value, torch.Tensor):
            now = torch.autograd._get_sequence_nr()
            node = value.grad_fn
            if node is not None:
                roots.append(node)
                if now <= node._sequence_nr() < 1 << 62:
                    anew.append(node)
            elif value.is_leaf and value.grad is not None and value.grad.grad_fn is not None:
                roots.append(value.grad.grad_fn)
            elif value._base is not None and value._base.grad_fn is not None:
                roots.append(value._base.grad_fn)  # a view taken under no_grad
    return roots, anew


def reachable(roots: list[Graph]) -> list[Graph]:
    """Every node that the roots lead to."""
    seen: dict[Graph, None] = {}
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen[node] = None
        stack.extend(following for following, _ in node.next_functions)
    return list(seen)


def executed(roots: list[Graph], inputs: Any) -> list[Graph]:
    """The nodes that a pass runs: all, or with `inputs` those on a way to one of them."""
    nodes = reachable(roots)
    if not inputs:
        return nodes
    if not all(t.requires_grad for t in inputs if isinstance(t, torch.Tensor)):
        return []
    edges = [torch.autograd.graph.get_gradient_edge(t) if isinstance(t, torch.Tensor) else t for t in inputs]
    targets = {edge.node for edge in edges}
    below: dict[Graph, list[Graph]] = {}
    for node in nodes:
        for following, _ in node.next_functions:
            if following is not None:
                below.setdefault(following, []).append(node)
    needed: set[Graph] = set()
    stack = [user for target in targets for user in below.get(target, [])]
    while stack:
        node = stack.pop()
        if node not in needed:
            needed.add(node)
            stack.extend(below.get(node, []))
    return [node for node in nodes if node in needed or (node in targets and hasattr(node, "variable"))]
