"""Graphs that stay alive: counted in *generations*.

A generation of a loop is one of its iterations, so long as some live tensor reaches a node that was made in
it. Nodes alone would not do: graphs differ in length from batch to batch. What lives is asked of the garbage
collector, which tracks every tensor that has a Python object; what existed before the script is frozen out
of it, so that a look takes a few milliseconds.

A generation that is alive is *kept* if a pass has freed some of it, and *open* if none has. Open ones may
be consumed later (losses summed in a loop, one backward behind it), so each live root is tagged, and a pass
that frees a tagged root takes its generations out.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import torch

from .graph import FREED, HELD, Node, is_leaf, number_of
from .names import Names, collapsed
from .places import Activation, Place, Places

#: A live tensor, its node, the generations first met below it, and the oldest below it.
Root = tuple[torch.Tensor, Node, set[int], int]
_NEVER = 1 << 60

#: A loop is judged from this many iterations on. In one within another, a chain that only a variable holds
#: (a sampler's few steps) is dropped behind it and bounded by its length: there it takes 6 iterations, unless
#: a backward() runs in it (the batches of an epoch), which a sampler's autograd.grad() is not.
FEWEST = 4
#: Each iteration is sampled up to this one, and then each time it is larger by a quarter.
_ALL_UP_TO = 20
#: In one within another: up to this one, and then each time it is larger by half.
_ALL_UP_TO_WITHIN = 4

#: A loop within another is looked at so often, and then the 4th, 8th, 16th time.
_FIRST = 2


@dataclass
class Sample:
    iteration: int
    kept: frozenset[int]
    open: frozenset[int]

    @property
    def count(self) -> int:
        return len(self.kept | self.open)


@dataclass
class Record:
    """What one activation of a loop kept alive."""

    activation: Activation
    samples: list[Sample] = field(default_factory=list)
    consumed: set[int] = field(default_factory=set)
    names: list[str] = field(default_factory=list)
    bounded: bool = False
    #: A container or an attribute holds it.
    stored: bool = False
    built: Place | None = None
    built_through: list[Place] = field(default_factory=list)
    ended: bool = False

    @property
    def is_open(self) -> bool:
        """Whether what grows might still be consumed."""
        return bool(self.samples) and bool(self.samples[-1].open - self.samples[-1].kept - self.consumed)

    def grows(self) -> bool:
        short = self.activation.nested and not self.stored and not self.activation.trains
        fewest = FEWEST + 3 if short else FEWEST
        if self.bounded or len(self.samples) < FEWEST or self.samples[-1].iteration < fewest:
            return False
        return _rises([sample.count for sample in self.samples]) and _rises(
            [len(sample.kept | (sample.open - self.consumed)) for sample in self.samples]
        )

    def undecided(self) -> bool:
        """Something is kept now and then: more iterations would tell."""
        counts = [sample.count for sample in self.samples]
        rose = bool(counts) and counts[-1] > counts[len(counts) // 3]
        return rose and counts[-1] >= 2 and not self.grows() and not self.bounded


class Growth:
    def __init__(self, places: Places, frames: Callable[[], Iterable[Any]]) -> None:
        self._places = places
        self._frames = frames
        self._tags: dict[int, tuple[Record, frozenset[int]]] = {}
        self.records: dict[int, Record] = {}
        #: How often each loop of the source has begun within another.
        self._begun: dict[tuple[str, int], int] = {}
        self._is_off = False

    def switch_off(self) -> None:
        self._is_off = True

    def _is_due(self, activation: Activation) -> bool:
        """A loop within another is looked at the first times it runs, and then ever more rarely.

        What it leaves alive shows in the loop around it, each time.
        """
        if self._is_off or activation.in_forward:
            return False
        if not activation.nested or activation.passed:
            return True
        if activation.begun == 0:
            place = (activation.path, activation.line)
            self._begun[place] = activation.begun = self._begun.get(place, 0) + 1
        return activation.begun <= _FIRST or (activation.begun & (activation.begun - 1)) == 0

    def on_tick(self, activation: Activation) -> int:
        """Samples an activation where it is due. Gives the number of live nodes, or -1."""
        number = activation.count
        if number < 2 or not self._is_due(activation):
            return -1
        within = activation.nested and not activation.passed
        if number > (_ALL_UP_TO_WITHIN if within else _ALL_UP_TO) and activation.serial in self.records:
            if number < self.records[activation.serial].samples[-1].iteration * (1.5 if within else 1.25):
                return -1
        return self._sample(activation, number)

    def on_leave(self, activation: Activation) -> int:
        if not activation.count or not self._is_due(activation):
            return -1
        total = self._sample(activation, activation.count + 1) if activation.count > 1 else -1
        record = self.records.get(activation.serial)
        if record is not None:
            record.ended = True
            if not record.grows():
                del self.records[activation.serial]
        return total

    def _sample(self, activation: Activation, iteration: int) -> int:
        if activation.starts[0] == self._places.number():
            return 0  # the loop has built nothing
        kept, opened, roots, total = self._generations(activation)
        if len(kept | opened) >= 3:
            gc.collect()  # what only waits for the collector is not kept
            kept, opened, roots, total = self._generations(activation)
        record = self.records.setdefault(activation.serial, Record(activation))
        record.samples.append(Sample(iteration, frozenset(kept), frozenset(opened)))
        if len(kept | opened) >= 2:
            self._describe(record, roots, iteration)
        return total

    def _generations(self, activation: Activation) -> tuple[set[int], set[int], list[Root], int]:
        """Generations alive, kept and open; the live tensors; and how many nodes there are."""
        kept: set[int] = set()
        opened: set[int] = set()
        roots: list[Root] = []
        oldest: dict[Node, int] = {}  # the oldest generation that each node reaches
        first = activation.starts[0]
        live = [(tensor, tensor.grad_fn) for tensor in live_tensors()]
        for tensor, root in sorted(live, key=lambda item: -number_of(item[1])):
            reached: set[int] = set()
            stack = [(root, False)]
            while stack:  # each node once, children first
                node, is_done = stack.pop()
                if is_done:
                    below = [
                        oldest.get(following, _NEVER) for following, _ in node.next_functions if following
                    ]
                    oldest[node] = min([oldest[node], *below])
                elif node not in oldest:
                    number = number_of(node)
                    oldest[node] = _NEVER
                    if number >= first:
                        oldest[node] = generation = activation.iteration_of(number)
                        reached.add(generation)
                        (kept if FREED in node.metadata else opened).add(generation)
                    stack.append((node, True))
                    stack.extend((following, False) for following, _ in node.next_functions if following)
            if oldest[root] != _NEVER:
                roots.append((tensor, root, reached, oldest[root]))
        return kept, opened, roots, len(oldest)

    def _describe(self, record: Record, roots: list[Root], iteration: int) -> None:
        """Tags the live roots, and finds what the tensors are called that hold older generations."""
        for _, root, reached, _ in roots:
            if reached:
                tag = len(self._tags)
                self._tags[tag] = (record, frozenset(reached))
                root.metadata.setdefault(HELD, []).append(tag)
        older = [item for item in roots if item[3] < iteration - 1]
        if not older:
            return
        wanted = {id(tensor) for tensor, _, _, _ in older}
        names = Names(self._frames(), lambda tensor: id(tensor) in wanted)
        called = [name for tensor, _, _, _ in older for name in names.of(tensor)]
        record.bounded = bool(called) and all(
            any(name.startswith(base + "[") for base in names.bounded) for name in called
        )
        record.stored = any("." in name or "[" in name for name in called)
        record.names = collapsed(called)
        number = number_of(older[-1][1])
        record.built = self._places.built_at(number)
        record.built_through = self._places.built_through(number)

    def consume(self, nodes: list[Node]) -> None:
        """A pass has freed these nodes."""
        if not self._tags:
            return
        for node in nodes:
            if is_leaf(node):
                continue
            for tag in node.metadata.get(HELD, ()):
                record, generations = self._tags[tag]
                record.consumed |= generations

    def growing(self) -> list[Record]:
        return [record for record in self.records.values() if record.grows()]


def live_tensors() -> list[torch.Tensor]:
    """The tensors alive that have a graph, gradients with one included (``create_graph``)."""
    objects = gc.get_objects()
    kinds = {kind for kind in set(map(type, objects)) if issubclass(kind, torch.Tensor)}
    found = []
    for value in [value for value in objects if type(value) in kinds]:
        if value.grad_fn is not None:
            found.append(value)
        elif value.requires_grad and value.grad is not None and value.grad.grad_fn is not None:
            found.append(value.grad)
    return found


def _rises(counts: list[int]) -> bool:
    """Still rising at the end: what is bounded stops early."""
    half, last = len(counts) // 2, counts[-1]
    rises = sum(later > earlier for earlier, later in pairwise(counts))
    return last >= 3 and rises >= 2 and last == max(counts) > max(counts[:half]) and last > counts[half]
