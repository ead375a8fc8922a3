"""An abstract copy of PyTorch's autograd tape.

Every tensor operation of the analysed program records a :class:`Node` here exactly as torch would
record a ``grad_fn``: with its edges, with what it saved for its backward, and with the version of
what it saved. :func:`run_backward` walks the nodes in torch's own order (highest sequence number
among the ready ones, see ``torch/csrc/autograd/engine.cpp``) and fails where torch fails:

* a node that an earlier backward freed and that saved something raises "a second time";
* a saved tensor whose version counter has moved on raises "modified by an inplace operation".

Values (sizes, numbers) are not tracked: the tape alone decides both errors.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import Any

from .where import Site, Where

NEVER, ALWAYS, DEPENDS = 0, 1, 2
#: From so many guesses on, nothing is said of a graph.
UNSAID = 2

#: Operations whose backward takes up the second saved tensor before the first (measured with torch 2.13).
LAST_FIRST = frozenset({"mul", "div", "atan2", "pow"})


class Storage:
    """What views and ``detach()`` share: the memory and its version counter."""

    __slots__ = ("detached", "mark", "modified", "saved", "version", "zeroed")

    def __init__(self) -> None:
        self.version = 0
        #: Whether some node has saved what is in it, so that a change of it could be noticed.
        self.saved = False
        #: Whether a tensor of this memory was detached in place.
        self.detached = False
        #: A number that names it in the keys of unknowns (its size), the same in every run.
        self.mark = 0
        #: The last modification: (site, where, what, sequence number then), for the story.
        self.modified: tuple[Site | None, Where, str, int] | None = None
        #: Whether it was filled with zeros once.
        self.zeroed = False


class Store:
    """One statement that stored a value: its site, the target's text, and when."""

    __slots__ = ("kind", "shape", "site", "text", "where")

    def __init__(self, site: Site, text: str, where: Where, kind: str, shape: Any) -> None:
        self.site = site
        self.text = text
        self.where = where
        self.kind = kind
        self.shape = shape


class Node:
    """A ``grad_fn``. ``saved`` lists (storage, version, node of the saved tensor, its name)."""

    __slots__ = (
        "__weakref__",
        "consumed",
        "detached",
        "freed",
        "guess",
        "inputs",
        "leaf",
        "op",
        "retained",
        "rooted",
        "saved",
        "saves",
        "seq",
        "site",
        "stores",
        "view",
        "where",
        "zeros",
    )

    def __init__(
        self,
        op: str,
        inputs: tuple[Node, ...],
        saves: int,
        site: Site | None,
        where: Where,
        seq: int,
        saved: tuple = (),
        view: bool = False,
        guess: int = 0,
    ) -> None:
        self.op = op
        self.inputs = inputs
        self.saves = saves
        self.site = site
        self.where = where
        self.seq = seq
        self.saved = saved
        self.view = view
        self.guess = guess
        self.leaf: Tensor | None = None
        self.freed: Pass | None = None
        self.retained: Pass | None = None
        self.consumed: Pass | None = None
        #: Whether a backward ran from here, so that it is there for certain.
        self.rooted = False
        #: Whether it is a product with the number 0: a sum with it has the value of its other term.
        self.zeros = False
        #: Whether what it made was detached in place since: where that is saved, no backward can use it any more.
        self.detached = False
        self.stores: list[Store] | None = None


class _Seldom:
    """What few tensors have, as it is for all others: a tensor that is made anew sets what it has alone."""

    __slots__ = ()

    base_gen: int = 0
    gen: int = 0
    grad: Tensor | None = None
    acc: Node | None = None
    is_param: bool = False
    label: str = ""
    held: bool = False
    used_grad: bool = False
    inference: bool = False
    not_float: bool = False
    length: int | None = None
    shape: tuple | None = None
    #: A view taken under no_grad: it says that it requires grad, but no backward starts or ends there.
    unrooted: bool = False
    #: The nodes of what such a view is a view of: its ``_base`` stays alive with it.
    keeps: tuple[Node, ...] = ()


class Tensor(_Seldom):
    """A tensor: its place on the tape, its memory, and what a leaf needs.

    ``leaf_grad`` is the ``requires_grad`` flag of a leaf. ``guess`` tells how sure we are that it is a
    tensor with this graph at all: 0 is certain, more is the number of guesses that led here.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_node",
        "base",
        "cut",
        "guess",
        "leaf_grad",
        "site",
        "storage",
        "where",
    )

    def __init__(
        self,
        node: Node | None = None,
        storage: Storage | None = None,
        leaf_grad: bool = False,
        site: Site | None = None,
        where: Where | None = None,
        guess: int = 0,
    ) -> None:
        self._node = node
        self.storage = storage or Storage()
        self.leaf_grad = leaf_grad
        self.site = site
        self.where = where
        self.guess = guess
        self.base: Tensor | None = None
        #: What took its graph away, if something did.
        self.cut: Any = None

    @property
    def node(self) -> Node | None:
        """The ``grad_fn``; a view whose base was modified in place gets a fresh one, as in torch."""
        base = self.base
        if base is not None and base.gen != self.base_gen:
            self.base_gen = base.gen
            under = base.node
            if under is not None:
                old = self._node
                self._node = Node("as_strided", (under,), NEVER, under.site, under.where, under.seq, (), True)
                if old is not None:
                    self._node.stores = old.stores
        return self._node

    @node.setter
    def node(self, value: Node | None) -> None:
        self._node = value

    @property
    def requires_grad(self) -> bool:
        return self.leaf_grad or self.node is not None or self._takes_after_base()

    def _takes_after_base(self) -> bool:
        """Whether this is a view of a leaf that has been made to require grad since, as such a view then says it does."""
        base = self.base
        return base is not None and base.leaf_grad and base.node is None

    @property
    def is_leaf(self) -> bool:
        return self.node is None

    def edge(self) -> Node | None:
        """The node that a consumer's edge leads to: the ``grad_fn``, or a leaf's accumulator."""
        node = self.node
        if node is not None:
            return node
        if not self.leaf_grad:
            if not self._takes_after_base():
                return None
            self.unrooted = True
        if self.acc is None:
            where = self.where
            assert where is not None
            self.acc = Node("accumulate", (), NEVER, self.site, where, 1 << 60)
            self.acc.leaf = self
        return self.acc


class Pass:
    """One backward-like call: what freed, what it reached, and which leaves got a gradient."""

    __slots__ = (
        "create",
        "index",
        "leaves",
        "needed",
        "opaque",
        "retain",
        "retain_arg",
        "revisited",
        "site",
        "users",
        "walked",
        "where",
    )

    def __init__(self, site: Site, where: Where, index: int, retain: bool, create: bool) -> None:
        self.site = site
        self.where = where
        self.index = index
        self.retain = retain
        self.create = create
        self.retain_arg: Any = None
        self.leaves: list[Tensor] = []
        #: Freed nodes that saved nothing and were walked again: (node, the pass that freed it).
        self.revisited: list[tuple[Node, Pass]] = []
        #: How many nodes and edges it looked at, which is what it costs.
        self.walked = 0
        #: Whether it walked what came from out of reach, which may lead to anything that was given away.
        self.opaque = False
        #: Whether what it retained was given to a callee out of reach, which may walk it.
        self.needed = False
        #: The later passes that walked what this one retained.
        self.users: list[Pass] = []


class TapeError(Exception):
    """The error that torch would raise in the middle of a backward."""

    def __init__(self, outcome: str, node: Node, run: Pass, culprit: Any = None, guess: int = 0) -> None:
        super().__init__(outcome)
        self.outcome = outcome
        self.node = node
        self.run = run
        self.culprit = culprit
        self.guess = guess


def reachable(roots: Iterable[Node]) -> Iterator[Node]:
    """Every node below ``roots``, each once."""
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        stack.extend(node.inputs)


def _wanted(order: list[Node], targets: set[int], captures: set[int]) -> set[int]:
    """Which nodes execute when only ``targets`` are asked for (``inputs=``, ``autograd.grad``)."""
    wanted: set[int] = set()
    for node in order:  # children first
        for child in node.inputs:
            if id(child) in wanted or id(child) in targets or id(child) in captures:
                wanted.add(id(node))
                break
    return wanted


def run_backward(
    roots: list[Node],
    run: Pass,
    inputs: list[Tensor] | None = None,
    accumulate: bool = True,
) -> set[int]:
    """Execute a backward over ``roots``. Returns the ids of the executed nodes; raises TapeError.

    ``inputs`` restricts it as torch's ``inputs=`` does: a node that leads to none of them is neither
    executed nor freed. What made one of them is, where gradients are accumulated.
    """
    counts: dict[int, int] = {}
    nodes: list[Node] = []
    for node in reachable(roots):
        nodes.append(node)
        for child in node.inputs:
            counts[id(child)] = counts.get(id(child), 0) + 1
    run.walked = len(nodes) + sum(counts.values())
    limited: set[int] | None = None
    targets: set[int] = set()
    if inputs is not None:
        edges = [(t, t.edge()) for t in inputs]
        targets = {id(e) for t, e in edges if e is not None and t.is_leaf}
        captures = {id(e) for t, e in edges if e is not None and not t.is_leaf}
        limited = _wanted(children_first(roots), targets, captures)
        if accumulate:
            limited |= captures  # the gradient is kept by what made the tensor, which is executed for that
    executed: set[int] = set()
    done: list[Node] = []
    ready: list[tuple[int, int, Node]] = []
    queued: set[int] = set()
    for root in roots:
        if counts.get(id(root), 0) == 0 and id(root) not in queued:
            queued.add(id(root))
            heapq.heappush(ready, (-root.seq, id(root), root))
    while ready:
        _, _, node = heapq.heappop(ready)
        if node.leaf is not None:
            leaf = node.leaf
            if (limited is None or id(node) in targets) and leaf.leaf_grad and not leaf.unrooted:
                run.leaves.append(leaf)
                if accumulate:
                    _accumulate(leaf, run)
        elif limited is None or id(node) in limited:
            _execute(node, run)
            executed.add(id(node))
            done.append(node)
        for child in node.inputs:
            counts[id(child)] -= 1
            if counts[id(child)] == 0 and id(child) not in queued:
                queued.add(id(child))
                heapq.heappush(ready, (-child.seq, id(child), child))
    # A walk that fails half way, and is caught, has freed what it came to, but has consumed nothing.
    for node in done:
        node.consumed = run
    return executed


def children_first(roots: list[Node]) -> list[Node]:
    """Depth-first post-order, without recursion."""
    order: list[Node] = []
    seen: set[int] = set()
    stack: list[tuple[Node, bool]] = [(r, False) for r in roots]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
            continue
        if id(node) in seen:
            continue
        seen.add(id(node))
        stack.append((node, True))
        stack.extend((c, False) for c in node.inputs if id(c) not in seen)
    return order


def _execute(node: Node, run: Pass) -> None:
    earlier = node.freed
    if earlier is not None:
        if node.saves == ALWAYS:
            raise TapeError("second-backward", node, run, earlier)
        # A node that may save (by version, or out of reach) does not end the walk: one below may be sure.
        run.revisited.append((node, earlier))
    else:
        for storage, version, source, name in node.saved:
            if storage.version != version or storage.detached and _is_detached(source, name):
                raise _unusable(node, run)
    if node.op == "unknown":
        run.opaque = True
    kept = node.retained
    if kept is not None and kept is not run and (not kept.users or kept.users[-1] is not run):
        kept.users.append(run)
    if run.retain:
        node.retained = run
    elif earlier is None:
        node.freed = run


def _is_detached(source: Node | None, name: str) -> bool:
    return source is not None and source.detached and name != "result"


def _unusable(node: Node, run: Pass) -> TapeError:
    """What a backward raises for the first of the saved tensors, as the operation takes them up, that it cannot use."""
    last_first = node.op.strip("_") in LAST_FIRST
    for storage, version, source, name in node.saved[::-1] if last_first else node.saved:
        if storage.version != version:
            return TapeError("inplace-version", node, run, (storage, name))
        if storage.detached and _is_detached(source, name):
            break
    return TapeError("detached", node, run)


def _accumulate(leaf: Tensor, run: Pass) -> None:
    if leaf.grad is None:
        grad = Tensor()
        grad.where = run.where
        grad.site = run.site
        leaf.grad = grad
    else:
        # Accumulating is an in-place addition on the existing gradient.
        leaf.grad.storage.version += 1
