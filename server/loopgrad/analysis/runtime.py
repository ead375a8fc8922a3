"""The state of one abstract run: one path through the program.

A run executes the program over abstract values. Where a condition is unknown, the run *decides* it:
the decision is keyed by the unknown's identity, so the same test later takes the same side, and
``loopgrad.analysis.explore`` runs the other sides. Before a decision is spent on an ``if``, both
branches are tried with an undo log (:class:`Log`); where they differ in nothing that a graph could
notice, they are merged instead, and the run goes on with one state.
"""

from __future__ import annotations

from typing import Any

from .observation import witness_of
from .tape import DEPENDS, Node, Pass, Store, Tensor
from .values import MISSING, Class, Func, LDict, LList, LSet, Native, Obj, Sym, tensors_in
from .where import LoopRun, Site, Where

CONST = frozenset({int, float, str, bool, type(None), bytes, complex, range, type(Ellipsis), slice})


#: An unknown that is put together from more parts than these is not told from others any more.
MOST_PARTS = 48


class Raised(Exception):
    """An exception of the analysed program. ``kind`` is the class's name."""

    def __init__(self, kind: str, value: Any = None) -> None:
        super().__init__(kind)
        self.kind = kind
        self.value = value


class Ended(Exception):
    """The program ends here (``sys.exit``, an uncaught error of torch)."""


class Budget(Exception):
    """The run used up its steps."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


class Abort(Exception):
    """A tried branch does something that a graph could notice: it must be decided, not merged."""


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


class Slot(str):
    """The name of a Python attribute that was written, as the key of a log: no key of any dictionary."""

    __slots__ = ()


class _Whole:
    """The key of a log for all that a list or a set holds."""


WHOLE = _Whole()


class Log(dict):
    """First old values of everything written: ``(id, key) -> (object, key, old value)``.

    The key is a dictionary's own, a ``Slot`` of an object, or ``WHOLE`` of a list or a set.
    """

    def undo(self) -> None:
        for obj, key, old in self.values():
            if key is WHOLE and isinstance(obj, list):
                obj[:] = old
            elif key is WHOLE:
                obj.clear()
                obj.update(old)
            elif type(key) is Slot:
                setattr(obj, key, old)
            elif old is MISSING:
                obj.pop(key, None)
            else:
                obj[key] = old


class Decision:
    """A decided condition. ``flip`` is False where the other side only leaves the loop or fails.

    ``result`` is what the condition that stands at ``site`` came out as (``not x`` of a decided x), None where
    only a part of it was decided.
    """

    __slots__ = ("choice", "flip", "key", "result", "site")

    def __init__(self, key: Any, choice: bool, site: Any, flip: bool = True) -> None:
        self.key = key
        self.choice = choice
        self.site = site
        self.flip = flip
        self.result: bool | None = choice


class Runtime:
    """One run. ``shared`` outlives it: lowered code and what was learnt about branches."""

    def __init__(self, shared: Any, assign: dict[Any, bool], limit: int) -> None:
        self.shared = shared
        self.assign: dict[Any, bool] = dict(assign)
        self.trace: list[Decision] = []
        self.facts: dict[Any, tuple[str, Any]] = {}
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
        self.globals: dict[str, dict[str, Any]] = {}
        self.current: Site | None = None
        self.partial: list[tuple[str, int, str]] = []
        self.frames: list[Frame] = []
        self.optimizers: list[Obj] = []
        #: Whether a loop was met of whose length nothing is known, and how many more iterations such loops run.
        self.open_loops = False
        self.longer = 0
        #: What was seen to turn with a counter, and how often it was asked: ("every", n), ("from", n).
        self.turns: dict[tuple[str, int], int] = {}
        self.requires: list[Any] = []
        self.prints: list[tuple[int, str | None]] | None = None
        self.reached: dict[int, Tensor] = {}
        self.owners: dict[int, Obj] = {}
        self.modules_made: list[Obj] = []
        self.hidden: dict[int, Tensor] = {}
        self.keep: list[Any] = []
        #: Backwards on what was told to be a leaf; a fault where something is left untrained in the end.
        self.made_leaves: list[Any] = []
        self.retained: list[tuple[Pass, list[Node]]] = []
        self.stepped: list[Obj] = []
        self.user_modules: dict[str, Any] = {}
        self.packages: dict[str, Any] = {}
        self.patches: dict[str, Any] = {}
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
        #: The kind of the exception that ended the path, where it is none of the tape's.
        self.failed = ""
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
            return self.fresh(site, kind)
        made = Sym(key, kind, op, args)
        made.size = size
        return made

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

    def child(self, parent: Sym, name: Any, kind: str = "any") -> Sym:
        """A part of an unknown: always the same one for the same name."""
        table = parent.attrs
        if table is None:
            table = parent.attrs = {}
        value = table.get(name)
        if value is None:
            value = Sym((parent.key, name), kind, node=parent.node, guess=parent.guess)
            table[name] = value
        return value

    def mark(self, storage: Any) -> int:
        """A number for a tensor's memory: equal in every run that took the same path."""
        if not storage.mark:
            self.marks += 1
            storage.mark = self.marks
        return int(storage.mark)

    # -- writing -------------------------------------------------------------------------------

    def put(self, table: dict, key: Any, value: Any) -> None:
        if self.log is not None:
            self.note(table, key)
        table[key] = value

    def note(self, table: dict, key: Any) -> None:
        log = self.log
        if log is not None:
            mark = (id(table), key)
            if mark not in log:
                log[mark] = (table, key, table.get(key, MISSING))

    def note_list(self, items: list) -> None:
        log = self.log
        if log is not None:
            mark = (id(items), WHOLE)
            if mark not in log:
                log[mark] = (items, WHOLE, list(items))

    def note_set(self, items: set) -> None:
        log = self.log
        if log is not None:
            mark = (id(items), WHOLE)
            if mark not in log:
                log[mark] = (items, WHOLE, set(items))

    def note_slot(self, obj: Any, slot: str) -> None:
        log = self.log
        if log is not None:
            key = Slot(slot)
            mark = (id(obj), Slot, slot)
            if mark not in log:
                log[mark] = (obj, key, getattr(obj, slot))

    def happen(self) -> None:
        """Something that cannot be undone or merged: in a tried branch, give the try up."""
        self.events += 1
        if self.trying:
            raise Abort

    # -- truth ---------------------------------------------------------------------------------

    def truth(self, value: Any, site: Site | None = None) -> bool:
        """Whether ``value`` is true; decides an unknown."""
        known = self.known(value, site)
        if known is None:
            return self.decide(value if type(value) is Sym else self._truth_sym(value, site), site)
        return known

    def _truth_sym(self, value: Any, site: Site | None) -> Sym:
        return self.fresh(site, "bool")

    def known(self, value: Any, site: Site | None = None) -> bool | None:
        """Whether ``value`` is true as far as this run knows, else None."""
        kind = type(value)
        if kind is bool:
            return value
        if kind is Sym:
            return self._known_sym(value)
        if kind in CONST:
            return bool(value)
        if kind is tuple:
            return bool(value)
        if kind is LList or kind is LDict or kind is LSet:
            if len(value):
                return None if kind is LList and value.unsure else True
            return None if value.open else False
        if kind is Tensor:
            return None
        if kind is Obj:
            return self.shared.objects.truth_of(self, value, site)
        return True

    def _known_sym(self, sym: Sym) -> bool | None:
        op = sym.op
        if not op:
            choice = self.assign.get(sym.key)
            if choice is not None:
                return choice
            fact = self.facts.get(sym.key)
            if fact is not None:
                return bool(fact[1])
            return True if sym.kind == "object" else None
        if op == "not":
            inner = self.known(sym.args[0])
            return None if inner is None else not inner
        if op == "and" or op == "or":
            stop = op == "or"
            unknown = False
            for arg in sym.args:
                inner = self.known(arg)
                if inner is None:
                    unknown = True
                elif inner is stop:
                    return stop
            return None if unknown else not stop
        if op == "phi":
            side = self.known(sym.args[0])
            if side is not None:
                return self.known(sym.args[1] if side else sym.args[2])
            a, b = self.known(sym.args[1]), self.known(sym.args[2])
            return a if a is b else None
        choice = self.assign.get(sym.key)
        if choice is not None:
            return choice
        if op in ("is", "eq") and type(sym.args[0]) is Sym:
            fact = self.facts.get(sym.args[0].key)
            if fact is not None:
                if fact[0] == "value":
                    return fact[1] is sym.args[1] or fact[1] == sym.args[1]
                if fact[1] and not sym.args[1] and type(sym.args[1]) in CONST:
                    return False
        return None

    def resolve(self, value: Any) -> Any:
        """The value behind an unknown that this run has decided since."""
        while type(value) is Sym:
            if value.op == "phi":
                side = self.known(value.args[0])
                if side is None:
                    return value
                value = value.args[1] if side else value.args[2]
                continue
            fact = self.facts.get(value.key) if self.facts else None
            if fact is not None and fact[0] == "value":
                return fact[1]
            return value
        return value

    def decide(self, sym: Sym, site: Any = None, default: bool | None = None, flip: bool = True) -> bool:
        """Decide an unknown condition, component by component in the order Python evaluates them."""
        known = self._known_sym(sym)
        if known is not None:
            return known
        op = sym.op
        if op == "not":
            flipped = None if default is None else not default
            arg = sym.args[0]
            place = len(self.trace)
            got = self.decide(arg, site, flipped, flip) if type(arg) is Sym else self.truth(arg, site)
            for each in self.trace[place:]:
                each.result = None if each.result is None else not each.result
            return not got
        if op == "and" or op == "or":
            stop = op == "or"
            place = len(self.trace)
            for arg in sym.args:
                want = (
                    default
                    if default is not None and (default is not stop or arg is sym.args[-1])
                    else (None if default is None else not stop)
                )
                got = self.decide(arg, site, want, flip) if type(arg) is Sym else self.truth(arg, site)
                for each in self.trace[place:]:
                    each.result = None
                if got is stop:
                    return stop
            return not stop
        if op == "phi":
            side = self.truth(sym.args[0], site)
            return self.truth(sym.args[1] if side else sym.args[2], site)
        if default is None:
            default = self.usual(sym)
        # The test that ends a loop is a shorter run if it is asked anew each time, another program if it is a flag.
        flip = flip or not self.made_here(sym.key)
        self.trace.append(Decision(sym.key, default, site, flip))
        self.commit(sym, default)
        return default

    def commit(self, sym: Sym, choice: bool) -> None:
        """Remember a decision and what follows from it."""
        if self.log is not None:
            self.note(self.assign, sym.key)
            self.note(self.facts, sym.key)
        self.assign[sym.key] = choice
        self.derive(sym, choice)

    def derive(self, sym: Sym, choice: bool) -> None:
        if sym.op in ("is", "eq") and type(sym.args[0]) is Sym and not isinstance(sym.args[1], Sym):
            inner = sym.args[0]
            if choice and inner.op == "":
                self.put(self.facts, inner.key, ("value", sym.args[1]))
        elif not sym.op and choice:
            if self.facts.get(sym.key) is None:
                self.put(self.facts, sym.key, ("truthy", True))

    @staticmethod
    def usual(sym: Sym) -> bool:
        """The side that is executed first where nothing else speaks for one."""
        if sym.op in ("is", "eq"):
            return False
        if sym.kind in ("call", "bool"):
            return False
        return True

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
            node = value.node
            if node is None:
                return
            self._store(node, site, text, kind, "tensor")
            return
        if t in CONST or t is Func or t is Native:
            return
        if t is Obj and not isinstance(value.data, tuple) and "dataclass" not in value.cls.flags:
            return  # a name for an object: what its attributes hold was stored by their own statements
        shape = shape_of(value)
        for item in tensors_in(value, 4):
            node = item.node
            if node is not None:
                self._store(node, site, text, kind, shape)

    def _store(self, node: Node, site: Site, text: str, kind: str, shape: Any) -> None:
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


def parts_of(key: Any, limit: int) -> int:
    """How many parts an unknown's key has, counted up to ``limit``."""
    n, stack = 0, [key]
    while stack and n < limit:
        item = stack.pop()
        n += 1
        if type(item) is tuple:
            stack.extend(item)
    return n


def shape_of(value: Any, depth: int = 3) -> Any:
    """The nesting of tensors in a value as plain data: "tensor", ("tuple", …), ("object", name, fields)."""
    kind = type(value)
    if kind is Tensor or (kind is Sym and value.node is not None):
        return "tensor"
    if depth <= 0:
        return "other"
    if kind is tuple:
        return ("tuple", *(shape_of(v, depth - 1) for v in value))
    if kind is LList:
        return ("list", *(shape_of(v, depth - 1) for v in value[:8]))
    if kind is LDict:
        return ("dict", *(shape_of(v, depth - 1) for v in list(value.values())[:8]))
    if kind is Obj:
        fields = ((k, shape_of(v, 1)) for k, v in value.attrs.items() if has_graph(v))
        return ("object", value.cls.name, tuple(fields))
    if kind is Sym:
        return "unknown"
    return "other"


def has_graph(value: Any) -> bool:
    """Whether a value is a tensor with a graph, or a tuple or list that holds one."""
    if type(value) is Tensor or type(value) is Sym:
        return value.node is not None
    return type(value) in (tuple, LList) and any(has_graph(part) for part in value[:8])


def relevant(value: Any, depth: int = 3) -> bool:
    """Whether a graph could notice that this value is there: it carries one, or can make one."""
    kind = type(value)
    if kind in CONST or value is MISSING:
        return False
    if kind is Tensor:
        return value.requires_grad
    if kind is Sym:
        return value.node is not None or (
            value.op == "phi" and any(relevant(a, depth) for a in value.args[1:])
        )
    if kind is Func:
        return True
    if kind is Obj:
        if value.is_a("inert"):
            return False
        if depth <= 0 or not value.cls.opaque and value.cls.node is None and not value.is_a("module"):
            return value.is_a("optimizer") or bool(value.data)
        return True
    if isinstance(value, (tuple, LList, LDict, LSet)):
        if depth <= 0:
            return True
        items = list(value.values()) if isinstance(value, dict) else list(value)
        return any(relevant(v, depth - 1) for v in items[:64])
    return kind is Class
