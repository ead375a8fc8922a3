"""What a run knows of unknown conditions, and what it decides of them.

A decision is keyed by the unknown's identity, so that the same test later takes the same side; components are
decided in the order in which Python evaluates them.
"""

from __future__ import annotations

from typing import Any

from .signals import Stale
from .tape import Storage, Tensor
from .undoable import Undoable
from .values import CONST, LDict, LList, LSet, Obj, Sym
from .where import Site

#: Numbers up to here are looked at as what another is a multiple of.
MOST_DIVISORS = 16


class Decision:
    """A decided condition. ``flip`` is False where the other side only leaves the loop or fails.

    ``result`` is what the condition that stands at ``site`` came out as (``not x`` of a decided x), None where
    only a part of it was decided. ``once`` where an import led to it, which no loop repeats.
    """

    __slots__ = ("choice", "flip", "key", "once", "result", "site")

    def __init__(self, key: Any, choice: bool, site: Any, flip: bool = True) -> None:
        self.key = key
        self.choice = choice
        self.site = site
        self.flip = flip
        self.result: bool | None = choice
        self.once = False


class Deciding(Undoable):
    """The deciding half of a run."""

    shared: Any
    assign: dict[Any, bool]
    facts: dict[Any, tuple[str, Any]]
    trace: list[Decision]
    #: Values that two merged branches left different, by identity, each with the mark of its ``if``. What a graph
    #: does not notice stays as one side left it; a question about it cannot be answered for both. Of what is inert
    #: it can: the third is the condition and what either side left.
    mixed: dict[int, tuple[Any, int, tuple[Any, Any, Any] | None]]
    #: The memories of two tensors of which one stands for both since a merge, each with the other and the mark.
    merged: dict[int, tuple[Storage, Storage, int]]

    def fresh(self, site: Site | None, kind: str = "any") -> Sym:
        """A new unknown (see ``Runtime``)."""
        raise NotImplementedError

    def made_here(self, key: Any) -> bool:
        """Whether an unknown was made in the innermost loop that runs (see ``Runtime``)."""
        raise NotImplementedError

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
        if self.mixed:
            self.ask(value)
            sides = self.either(value)
            if sides is not None:
                return None
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

    def ask(self, value: Any) -> None:
        """A question about a value: whether it is there, how long it is, what is in it."""
        found = self.mixed.get(id(value))
        if found is not None and found[2] is None:
            self.shared.significant[found[1]] = True
            raise Stale

    def changes(self, storage: Storage) -> None:
        """A memory is written to: which of two it is matters where a backward needs what is in one of them."""
        found = self.merged.get(id(storage))
        if found is not None and (found[0].saved or found[1].saved):
            self.shared.significant[found[2]] = True
            raise Stale

    def either(self, value: Any) -> tuple[Any, Any, Any] | None:
        """The condition and the two values, where one of them is this inert one."""
        found = self.mixed.get(id(value))
        return found[2] if found is not None else None

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
            if choice:  # what a path was given has the consequences of what it decided itself
                self.derive(sym, choice)
            return choice
        if op in ("is", "eq") and type(sym.args[0]) is Sym:
            fact = self.facts.get(sym.args[0].key)
            if fact is not None:
                if fact[0] == "value":
                    return fact[1] is sym.args[1] or fact[1] == sym.args[1]
                if fact[1] and not sym.args[1] and type(sym.args[1]) in CONST:
                    return False
            if op == "eq" and sym.args[1] == 0:
                return self._multiple(sym.args[0].key)
        return None

    def _multiple(self, key: Any) -> bool | None:
        """Whether ``k % n == 0``, where that was true of a number that k is a multiple of."""
        if key[0] != "mod" or not _is_int(key[1]) or _is_int(key[2]):
            return None
        k = key[1][1]
        for smaller in range(1, min(k, MOST_DIVISORS)):
            if k % smaller == 0 and self.assign.get(("eq", ("mod", ("int", smaller), key[2]), ("int", 0))):
                return True
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
            side = self.part(sym.args[0], site)
            return self.truth(sym.args[1] if side else sym.args[2], site)
        if default is None:
            default = self.usual(sym)
        # The test that ends a loop is a shorter run if it is asked anew each time, another program if it is a flag.
        flip = flip or not self.made_here(sym.key)
        self.trace.append(Decision(sym.key, default, site, flip))
        self.commit(sym, default)
        return default

    def part(self, value: Any, site: Any = None) -> bool:
        """The truth of what only leads up to the expression at ``site``, which may come out otherwise."""
        place = len(self.trace)
        got = self.truth(value, site)
        for each in self.trace[place:]:
            each.result = None
        return got

    def commit(self, sym: Sym, choice: bool) -> None:
        """Remember a decision and what follows from it."""
        if self.log is not None:
            self.note(self.assign, sym.key)
            self.note(self.facts, sym.key)
        self.assign[sym.key] = choice
        self.derive(sym, choice)

    def awaits(self) -> bool:
        """Whether a loop ended before it came to a multiple of an unknown number (``k % n == 0`` was never true): what
        it does every n iterations is not seen."""
        awaited: set[Any] = set()
        came: set[Any] = set()
        for key, choice in self.assign.items():
            if key[0] == "eq" and type(key[1]) is tuple and _is_int(key[2]):
                key = key[1]
            else:
                choice = not choice
            if key[0] == "mod" and _is_int(key[1]) and not _is_int(key[2]):
                (came if choice else awaited).add(key[2])
        return not awaited <= came

    def derive(self, sym: Sym, choice: bool) -> None:
        if sym.op in ("is", "eq") and type(sym.args[0]) is Sym and not isinstance(sym.args[1], Sym):
            inner = sym.args[0]
            if choice and inner.op == "":
                self._is_value(inner.key, sym.args[1])
        elif not sym.op and choice:
            if self.facts.get(sym.key) is None:
                self.put(self.facts, sym.key, ("truthy", True))

    def _is_value(self, key: Any, value: Any) -> None:
        """An unknown is this value; what it was computed from by adding a number is known with it."""
        if key in self.facts:
            return
        self.put(self.facts, key, ("value", value))
        if type(value) is not int or type(key) is not tuple or len(key) != 3 or key[0] not in ("add", "sub"):
            return
        op, one, other = key
        if op == "add" and _is_int(one):
            one, other = other, one
        if _is_int(other) and not _is_int(one):
            self._is_value(one, value - other[1] if op == "add" else value + other[1])

    @staticmethod
    def usual(sym: Sym) -> bool:
        """The side that is executed first where nothing else speaks for one."""
        if sym.op in ("is", "eq"):
            # Two shapes that are compared agree as a rule: the test guards against those that do not.
            return any(map(_is_shape, sym.key[1:])) and all(map(_is_size, sym.key[1:]))
        if sym.kind in ("call", "bool"):
            return False
        return True


def _is_int(key: Any) -> bool:
    """Whether the key of an operand is that of a number."""
    return type(key) is tuple and len(key) == 2 and key[0] == "int" and type(key[1]) is int  # no int(x)


def _is_shape(part: Any) -> bool:
    """Whether a part of a condition's key is a tensor's shape that is not known."""
    return type(part) is tuple and part[:1] == ("shape",)


def _is_size(part: Any) -> bool:
    """Whether it is a shape, known or not."""
    return (
        _is_shape(part) or type(part) is tuple and all(type(n) is tuple and n[:1] == ("int",) for n in part)
    )
