"""Iterating: every iterable becomes a :class:`Source` of elements."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from ..signals import Abort, Raised
from ..tape import Tensor
from ..values import (
    CONST,
    MISSING,
    Bound,
    Class,
    Endless,
    Iter,
    LDict,
    LList,
    LSet,
    Obj,
    Sym,
)
from ..where import Site


class Source:
    """The elements of an iterable: ``get(i)`` gives the i-th (from 0), MISSING at the end.

    ``length`` is None where unknown; ``random`` where ``get`` may skip ahead; ``items`` where the
    elements are values that are there already, so that going through all of them is cheap; ``steps`` where
    they are numbers that count or parts of tensors that are there, not batches that are loaded.
    """

    __slots__ = ("finite", "get", "items", "length", "random", "result", "steps")

    def __init__(
        self, get: Callable[[int], Any], length: int | None, random: bool, items: bool = False
    ) -> None:
        self.get = get
        self.length = length
        self.random = random
        self.items = items
        self.steps = False
        self.result: Any = None
        #: It ends by itself, though nobody knows after how many elements (a generator's code says when).
        self.finite = length is not None


def of_items(items: Any, more: bool = False) -> Source:
    """A sequence; an open one repeats its elements without end."""
    n = len(items)
    if more and n:
        source = Source(lambda i: items[i % n], None, True)
    else:
        source = Source(lambda i: items[i] if i < n else MISSING, n, True, True)
    source.steps = one_tensor(items)
    return source


def one_tensor(items: Any) -> bool:
    """Whether these are the parts of one tensor, as ``split`` and ``unbind`` give them."""
    return (
        len(items) > 1
        and type(items[0]) is Tensor
        and all(type(item) is Tensor and item.storage is items[0].storage for item in items)
    )


def along(source: Source) -> Source:
    """A source that goes step by step along what is there."""
    source.steps = True
    return source


def unknown(rt: Any, value: Any, site: Site, kind: str = "any") -> Source:
    """Elements of something unknown; they carry what it carries."""
    node = value.node if type(value) is Sym else None
    guess = value.guess if type(value) is Sym else 1
    return Source(lambda i: rt.fresh(site, kind, node, guess), None, True)


def iterate(rt: Any, value: Any, site: Site) -> Source:
    """The elements of ``value``."""
    if type(value) is Sym:
        value = rt.resolve(value)
    if rt.mixed:
        rt.ask(value)
    kind = type(value)
    if kind is tuple or kind is str or kind is bytes or kind is range:
        return of_items(value) if kind is not range else _range(value)
    if kind is LList:
        if value.open:
            return of_items(list(value), True) if value else unknown(rt, value, site)
        source = Source(lambda i: value[i] if i < len(value) else MISSING, len(value), True, True)
        source.steps = one_tensor(value)
        return source
    if kind is LDict:
        return of_items(list(value), value.open) if value or not value.open else unknown(rt, value, site)
    if kind is LSet:
        return of_items(list(value), value.open)
    if kind is Tensor:
        return along(rt.shared.tensors.rows(rt, value, site))
    if isinstance(value, Endless):
        source = Source(value.make, getattr(value, "length", None), True)
        source.steps = value.counter or value.steps
        return source
    if kind is Iter:
        left = value.left() if value.left is not None else None
        source = Source(lambda i: advance(rt, value, site), left, False)
        source.finite = value.known
        return source
    if kind is Obj:
        return _object(rt, value, site)
    if kind is Class:
        members = value.ns.get("__members__")
        if members is not None:
            return of_items(list(members.values()))
        return unknown(rt, value, site)
    if kind in CONST:
        raise Raised("TypeError")
    return unknown(rt, value, site)


def _range(value: range) -> Source:
    n = len(value)
    return along(Source(lambda i: value[i] if i < n else MISSING, n, True))


def _object(rt: Any, obj: Obj, site: Site) -> Source:
    method = obj.cls.find("__iter__")
    if method is not MISSING:
        result = rt.shared.calls.call(rt, Bound(method, obj), [], {}, site)
        if type(result) is Obj and (result is obj or result.cls.find("__next__") is not MISSING):
            step = Bound(result.cls.find("__next__"), result)

            def following(i: int) -> Any:
                try:
                    return rt.shared.calls.call(rt, step, [], {}, site)
                except Raised as error:
                    if error.kind == "StopIteration":
                        return MISSING
                    raise

            return Source(following, None, False)
        return iterate(rt, result, site)
    getter = obj.cls.find("__getitem__")
    if getter is not MISSING:

        def indexed(i: int) -> Any:
            try:
                return rt.shared.calls.call(rt, Bound(getter, obj), [i], {}, site)
            except Raised as error:
                if error.kind == "IndexError":
                    return MISSING
                raise

        return Source(indexed, None, True)
    if isinstance(obj.data, (tuple, LList, LDict)):
        return iterate(rt, obj.data, site)
    return unknown(rt, obj, site)


def advance(rt: Any, it: Iter, site: Site) -> Any:
    """The next element of an iterator. One made outside of a tried branch cannot be rolled back."""
    if rt.trying > it.trial:
        raise Abort
    return it.step()


def iterator(rt: Any, value: Any, site: Site) -> Any:
    """``iter(value)``."""
    if type(value) is Iter:
        return value
    source = iterate(rt, value, site)
    state = [0]

    def step() -> Any:
        item = source.get(state[0])
        state[0] += 1
        return item

    made = Iter(step, source.length is not None, value)
    made.trial = rt.trying
    length = source.length
    if length is not None:
        made.left = lambda: max(0, length - state[0])
    return made


def generator(rt: Any, steps: Generator[Any, Any, Any], frame: Any, site: Site) -> Iter:
    """A generator object: resumes with its own moment and grad mode restored to the consumer's after."""
    state = {"done": False, "started": False, "running": False}

    def step(value: Any = None) -> Any:
        if state["done"]:
            return MISSING
        if state["running"]:
            raise Raised("ValueError")  # one that asks itself for its next value
        where, loops = rt.where, len(rt.loops)
        rt.frames.append(frame)
        state["running"] = True
        try:
            item = steps.send(value) if state["started"] else next(steps)
            state["started"] = True
            return rt.fresh(site) if item is MISSING else item
        except StopIteration as stop:
            state["done"] = True
            made.source = ("returned", frame.ret)
            del stop
            return MISSING
        finally:
            state["running"] = False
            rt.frames.pop()
            rt.where = where
            del rt.loops[loops:]

    made = Iter(step, True, frame)
    made.send = step
    made.trial = rt.trying
    rt.knots.append(made)
    return made


def listed(rt: Any, value: Any, site: Site, most: int = 4096) -> tuple[list[Any], bool]:
    """The elements as a list, and whether there may be more (``list(x)``, ``*x``)."""
    kind = type(value)
    if rt.mixed:
        rt.ask(value)
    if kind is tuple:
        return list(value), False
    if kind is LList:
        return list(value), value.open
    source = iterate(rt, value, site)
    limit = source.length if source.length is not None else 64 if source.finite else 4
    out: list[Any] = []
    i = 0
    while i < limit and i < most:
        item = source.get(i)
        if item is MISSING:
            return out, False
        out.append(item)
        i += 1
    if source.length is None:
        return out, True
    return out, len(out) < (source.length or 0)


def unpack(rt: Any, value: Any, count: int, star: int | None, site: Site) -> list[Any]:
    """``a, b, *c = value``."""
    if type(value) is Sym:
        value = rt.resolve(value)
    kind = type(value)
    if kind is Obj and isinstance(value.data, tuple):
        value, kind = value.data, tuple
    if kind is Sym:
        if value.op == "phi":
            return unpack(rt, value.args[1 if rt.part(value.args[0], site) else 2], count, star, site)
        items = [rt.child(value, ("item", k)) for k in range(count)]
        if star is not None:
            items[star] = LList([items[star]], True)
        return items
    if kind is Tensor:
        source = rt.shared.tensors.rows(rt, value, site)
        items = [source.get(k) for k in range(count)]
        items = [rt.fresh(site) if x is MISSING else x for x in items]
        if star is not None:
            items[star] = LList([items[star]], True)
        return items
    items, more = listed(rt, value, site)
    if star is None:
        if len(items) == count:
            return items
        if more or len(items) > 64:
            while len(items) < count:
                items.append(items[-1] if items else rt.fresh(site))
            return items[:count]
        raise Raised("ValueError")
    after = count - star - 1
    if len(items) < count - 1:
        if not more:
            raise Raised("ValueError")
        while len(items) < count - 1:
            items.append(items[-1] if items else rt.fresh(site))
    middle = LList(items[star : len(items) - after], more)
    return [*items[:star], middle, *(items[len(items) - after :] if after else [])]
