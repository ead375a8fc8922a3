"""The state of one abstract run: one path through the program.

A run executes the program over abstract values. Where a condition is unknown, the run *decides* it:
the decision is keyed by the unknown's identity, so the same test later takes the same side, and
``loopgrad.analysis.explore`` runs the other sides. Before a decision is spent on an ``if``, both
branches are tried with an undo log (``undo.Log``); where they differ in nothing that a graph could
notice, they are merged instead, and the run goes on with one state.
"""

from __future__ import annotations

import ast
from typing import Any

from .decisions import Deciding, Decision
from .nesting import parts_of, shape_of
from .observation import witness_of
from .signals import Abort, Raised
from .tape import DEPENDS, Node, Pass, Storage, Store, Tensor
from .undo import Log
from .values import GRAPHLESS, MISSING, Class, Globals, LDict, LList, Obj, Sym, tensors_in
from .where import LoopRun, Site, Where

#: An unknown that is put together from more parts than these is not told from others any more.
MOST_PARTS = 48


#: What is read of a run that has ended.
_TOLD = frozenset(
    {
        "assign",
        "full",
        "partial",
        "passes",
        "seen",
        "stored_at",
        "trace",
        "trained",
        "training_loops",
        "turns",
        "unrolled",
    }
)
#: What else holds something of a run, by name.
_HELD: list[str] = []


class Frame:
    """The variables of one call. ``outer`` is the frame of the function it was defined in."""

    __slots__ = ("cls", "file", "func", "globals", "outer", "ret", "rt", "self", "vars")

    def __init__(
        self, rt: Runtime, file: Any, globals_: dict, vars_: dict, outer: Frame | None, func: Any
    ) -> None:
        self.rt = rt
        self.file = file
        self.globals = globals_
        self.vars = vars_
        self.outer = outer
        self.func = func
        self.ret: Any = None
        self.cls: Class | None = None
        self.self: Any = None

    def clear(self) -> None:
        """Let go of what refers back to it, at the end of the run."""
        self.vars = {}
        self.outer = self.func = self.self = self.ret = None


class Runtime(Deciding):
    """One run. ``shared`` outlives it: lowered code and what was learnt about branches."""

    def __init__(self, shared: Any, assign: dict[Any, bool], limit: int) -> None:
        self.shared = shared
        self.assign: dict[Any, bool] = dict(assign)
        self.trace: list[Decision] = []
        self.facts: dict[Any, tuple[str, Any]] = {}
        self.mixed: dict[int, tuple[Any, int, tuple[Any, Any, Any] | None]] = {}
        self.merged: dict[int, tuple[Storage, Storage, int]] = {}
        #: Whether it ended because a merge had left open what was asked later.
        self.stale = False
        self.grad = True
        self.inference = False
        self.where = Where(None, None)
        self.steps = 0
        #: Tensor operations and calls out of reach: what a step costs besides itself.
        self.work = 0
        self.limit = limit
        self.depth = 0
        self.seq = 0
        self.serial = 0
        self.marks = 0
        #: Computed parametrizations while ``parametrize.cached()`` is on, else None.
        self.param_cache: dict[Any, Any] | None = None
        self.log: Log | None = None
        self.trying = 0
        self.events = 0
        self.counts: dict[Any, int] = {}
        self.handlers: list[frozenset[str]] = []
        self.passes: list[Pass] = []
        self.loops: list[LoopRun] = []
        self.seen: list[Any] = []  # observations
        self.growth: list[Any] = []
        #: What looks like sequences that are kept, by the loops that unroll them; the loops that ran a backward.
        self.unrolled: list[tuple[int, Any]] = []
        self.training_loops: set[int] = set()
        #: Where graphs were stored, in branches that are no trial, with the nesting of what was stored there last.
        self.stored_at: dict[Site, Any] = {}
        self.globals: dict[str, Globals] = {}
        self.current: Site | None = None
        self.partial: list[tuple[str, int, str]] = []
        self.frames: list[Frame] = []
        self.optimizers: list[Obj] = []
        #: Whether a loop was met of whose length nothing is known, and how many more iterations such loops run.
        self.open_loops = False
        self.longer = 0
        #: Named numbers of iterations are taken so many times; whether a loop that knows its length has left what
        #: only more iterations would tell from growth.
        self.times = 1
        self.unclear = False
        #: How many iterations' graphs the places held that this is about; and those of the run with fewer steps.
        self.full: dict[Any, tuple[int, int]] = {}
        self.fewer: dict[Any, tuple[int, int]] = {}
        #: The side that an ``if`` takes whenever its condition is unknown, by the condition's place.
        self.each_time: dict[int, bool] = {}
        #: Whether it drew by chance; whether the newest element is drawn, not the oldest, by turns.
        self.draws = False
        self.newest = (True, False)
        #: Whether it took something for given that is no decision, so that nothing it shows is certain.
        self.supposed = False
        #: What was seen to turn with a counter, and how often it was asked: ("every", n), ("from", n).
        self.turns: dict[tuple[str, int], int] = {}
        #: In a run with more steps those of the run before: what is not among them goes along with the steps.
        self.limits = self.turns
        #: The keys of unknowns that are whole numbers: counters behind loops that were cut.
        self.whole: set[Any] = set()
        #: The keys of unknowns that operations gave: they are not None.
        self.results: set[Any] = set()
        self.requires: list[Any] = []
        self.prints: list[tuple[int, str | None]] | None = None
        self.reached: dict[int, Tensor] = {}
        self.owners: dict[int, Obj] = {}
        self.modules_made: list[Obj] = []
        self.hidden: dict[int, Tensor] = {}
        self.keep: list[Any] = []
        #: Backwards on what was told to be a leaf; a fault where something is left untrained in the end.
        self.made_leaves: list[Any] = []
        #: Leaves made in a loop that are a part of the graph of their own gradient: no variable has to hold them.
        self.circles: list[Tensor] = []
        #: Leaves whose gradients have had a graph, by identity.
        self.graded: dict[int, Tensor] = {}
        self.retained: list[tuple[Pass, list[Node]]] = []
        self.stepped: list[Obj] = []
        self.user_modules: dict[str, Any] = {}
        self.packages: dict[str, Any] = {}
        #: Whether a module was imported whose classes hear of what is derived from them.
        self.heard = False
        self.patches: dict[str, Any] = {}
        #: The parameters that an optimizer steps and that a backward reached, once the path has ended.
        self.trained: set[str] = set()
        #: What has a ``clear`` and is part of a circle of what the run made.
        self.knots: list[Any] = []
        #: The unknowns of libraries, by their dotted names.
        self.library: dict[str, Sym] = {}
        #: What classes of libraries held before the program wrote to them.
        self.borrowed: list[tuple[dict[str, Any], str, Any]] = []
        self.caches: list[Any] = []
        self.mode_site: Site | None = None
        self.step_marks: list[int] = []
        self.evaluated: list[tuple[Site, Node, Where]] = []
        self.module_depth = 0
        self.cut_events: list[tuple[Any, set[int]]] = []
        self.born: dict[Any, Any] = {}
        #: The arguments of the calls that run, by function: what calls itself is told by them.
        self.active: dict[int, list[list]] = {}
        self.error: Raised | None = None
        #: The kind of the exception that ended the path, where it is none of the tape's, and the statement of the
        #: analysed file that it came from.
        self.failed = ""
        #: Whether an exception of the tape's ended it.
        self.fatal = False
        self.place: ast.stmt | None = None
        #: The statements that are left out where they fail, by their ids.
        self.waived: frozenset[int] = frozenset()
        #: Only the definitions of a module ran: a global that is missing may be there in a real run.
        self.lenient = False

    # -- unknowns ------------------------------------------------------------------------------

    def fresh(self, site: Site | None, kind: str = "any", node: Node | None = None, guess: int = 1) -> Sym:
        """A new unknown made at ``site``; the n-th one there in every run is the same unknown."""
        mark = id(site)
        n = self.counts.get(mark, 0)
        self.counts[mark] = n + 1
        key = ("v", mark, n)
        if self.loops:
            self.born[key] = self.loops[-1]
        made = Sym(key, kind, node=node, guess=guess)
        if mark in self.shared.proved and node is None and kind in ("any", "tensor") and self.grad:
            made.node = self.record("unknown", (), DEPENDS, site)
        return made

    def prove(self, sym: Sym, site: Site) -> Node | None:
        """A backward runs on an unknown: had it no graph, it would raise. So it has one, whatever made it."""
        if sym.kind not in ("any", "tensor") or not self.grad:
            return None
        key = sym.key
        if type(key) is tuple and len(key) == 3 and key[0] == "v":
            # The other values of this expression are of its kind: in the next iteration, in the next run.
            self.shared.proved.add(key[1])
        if self.log is None:
            sym.node = self.record("unknown", (), DEPENDS, site)
        return sym.node

    def compound(self, key: Any, kind: str, op: str, args: tuple, site: Site | None) -> Sym:
        """An unknown put together from others; a plain new one where that would have too many parts."""
        size = 1 + sum(arg.size for arg in args if type(arg) is Sym)
        if size > MOST_PARTS or parts_of(key, MOST_PARTS + 1) > MOST_PARTS:
            made = self.fresh(site, kind)
            if op == "phi" and all(map(self.is_something, args[1:])):
                self.results.add(made.key)
            return made
        made = Sym(key, kind, op, args)
        made.size = size
        return made

    def is_something(self, value: Any) -> bool:
        """Whether a value is not None for sure: an operation's result, one of two such."""
        if type(value) is not Sym:
            return value is not None
        if value.op == "phi":
            return all(map(self.is_something, value.args[1:]))
        if value.node is not None or value.key in self.results:
            return True
        return value.kind in ("number", "str", "bool", "object")

    def made_here(self, key: Any) -> bool:
        """Whether an unknown was made in the innermost loop that runs: it is another one in each iteration."""
        if not self.loops:
            return False
        here, stack = self.loops[-1], [key]
        while stack:
            part = stack.pop()
            if type(part) is tuple:
                if self.born.get(part) is here:
                    return True
                stack.extend(part)
        return False

    def child(self, parent: Sym, name: Any, kind: str = "any") -> Any:
        """A part of an unknown: always the same one for the same name, or what was stored there."""
        table = parent.attrs
        if table is None:
            table = parent.attrs = {}
            self.knots.append(table)
        value = table.get(name)
        if value is None:
            value = Sym((parent.key, name), kind, "", (parent,), self._part(parent), parent.guess)
            table[name] = value
        return value

    def _part(self, parent: Sym) -> Node | None:
        """The graph of a part of an unknown: what a backward shows of one part, it does not of the others."""
        whole = parent.node
        if whole is None:
            return None
        self.seq += 1
        return Node("unknown", (whole,), DEPENDS, whole.site, whole.where, self.seq, (), False, whole.guess)

    def mark(self, storage: Any) -> int:
        """A number for a tensor's memory: equal in every run that took the same path."""
        if not storage.mark:
            self.marks += 1
            storage.mark = self.marks
        return int(storage.mark)

    def give_back(self) -> None:
        """Undo what the program wrote to classes of libraries: they are the same ones in every run."""
        while self.borrowed:
            table, name, old = self.borrowed.pop()
            if old is MISSING:
                table.pop(name, None)
            else:
                table[name] = old

    def untie(self) -> None:
        """At the end, take apart what lies in circles (functions and their globals, classes and their order), so
        that all of it goes at once. To have the collector look for it takes a third of a check's time."""
        for table in (*self.globals.values(), *(each.globals for each in self.user_modules.values())):
            table.clear()
        for package in self.packages.values():
            package.globals.clear()
        for knot in self.knots:
            knot.clear()
        if not _HELD:
            for name in dir(self):
                if (
                    name not in _TOLD
                    and name[0] != "_"
                    and type(getattr(self, name, None)) in (dict, list, set)
                ):
                    _HELD.append(name)
        for name in _HELD:
            setattr(self, name, type(getattr(self, name))())

    def happen(self) -> None:
        """Something that cannot be undone or merged: in a tried branch, give the try up."""
        self.events += 1
        if self.trying:
            raise Abort

    # -- the tape ------------------------------------------------------------------------------

    def record(
        self,
        op: str,
        inputs: tuple[Node, ...],
        saves: int,
        site: Site | None,
        saved: tuple = (),
        view: bool = False,
        guess: int = 0,
    ) -> Node:
        self.seq += 1
        return Node(op, inputs, saves, site, self.where, self.seq, saved, view, guess)

    def stored(self, value: Any, site: Site, text: str, kind: str) -> None:
        """Remember on the graphs inside ``value`` that this statement stored them."""
        t = type(value)
        if t is Tensor:
            for node in (value.node,) if value.node is not None else value.keeps:
                self._store(node, site, text, kind, "tensor")
            return
        if t in GRAPHLESS:
            return
        if (
            t is Obj
            and not isinstance(value.data, (tuple, LDict, LList))
            and "dataclass" not in value.cls.flags
        ):
            return  # a name for an object: what its attributes hold was stored by their own statements
        shape = shape_of(value)
        for item in tensors_in(value, 4):
            node = item.node
            if node is not None:
                self._store(node, site, text, kind, shape)

    def _store(self, node: Node, site: Site, text: str, kind: str, shape: Any) -> None:
        if not self.trying:
            self.stored_at[site] = shape
        stores = node.stores
        entry = Store(site, text, self.where, kind, shape)
        if stores is None:
            node.stores = [entry]
        elif len(stores) < 12:
            stores.append(entry)
        else:
            del stores[4]
            stores.append(entry)

    def observe(self, what: Any) -> None:
        if not self.trying:
            what.witness = witness_of(self, self.where)
            self.seen.append(what)
