"""Builtin functions over iterables: ``range``, ``zip``, ``map``, ``sum``, ``any`` and their kin."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..signals import Raised
from ..tape import Tensor
from ..values import (
    CONST,
    MISSING,
    MORE,
    Bound,
    Endless,
    Iter,
    LList,
    Native,
    Obj,
    Sym,
)
from .builtins_model import TABLE, native
from .choices import settled
from .containers import plain, sort_values


@native("range")
def _range(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    args = [settled(rt, a, site) for a in args]
    args = [a.data if type(a) is Obj and type(a.data) is int else a for a in args]
    if all(type(a) in (int, bool) for a in args):
        try:
            return range(*args)
        except (TypeError, ValueError) as error:
            raise Raised(type(error).__name__) from None
    if any(type(a) is float or type(a) is str for a in args):
        raise Raised("TypeError")
    start, stop = (0, args[0]) if len(args) == 1 else args[:2]
    step = args[2] if len(args) > 2 else 1
    if type(start) is int and type(step) is int:
        return Endless(lambda i: _in_range(rt, start + i * step, stop, step), counter=True)
    return Endless(lambda i: start if i == 0 else rt.fresh(site, "number"), counter=True)


def _in_range(rt: Any, number: int, stop: Any, step: int) -> Any:
    """A number of a range whose end is unknown, or has been told by a condition since."""
    end = rt.resolve(stop)
    return MISSING if type(end) is int and (number >= end if step > 0 else number <= end) else number


@native("enumerate")
def _enumerate(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    source = rt.shared.objects.iterate(rt, args[0], site)
    start = args[1] if len(args) > 1 else kwargs.get("start", 0)
    start = start if type(start) is int else 0

    def make(i: int) -> Any:
        item = source.get(i)
        return MISSING if item is MISSING else (start + i, item)

    return _paired(rt, source.length, source.random, make, args[:1], source.steps)


def _paired(
    rt: Any,
    length: int | None,
    random: bool,
    make: Callable[[int], Any],
    given: list[Any],
    steps: bool = False,
) -> Any:
    """A lazy sequence of ``make(i)``, made of what is ``given``; ``steps`` as a source's."""
    if not random:
        state = [0]

        def step() -> Any:
            state[0] += 1
            return make(state[0] - 1)

        it = Iter(step, length is not None, [each for each in given if type(each) is Iter])
        it.trial = rt.trying
        return it
    made = Endless(make) if length is None else LazySeq(length, make)
    made.steps = steps
    return made


class LazySeq(Endless):
    """A lazy sequence of known length."""

    __slots__ = ("length",)

    def __init__(self, length: int, make: Callable[[int], Any]) -> None:
        super().__init__(lambda i: make(i) if i < length else MISSING)
        self.length = length


@native("zip")
def _zip(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    if MORE in kwargs and not args:
        return rt.fresh(site)  # zip(*rows) of rows of which none is known
    sources = [rt.shared.objects.iterate(rt, a, site) for a in args]
    lengths = [s.length for s in sources if s.length is not None]

    def make(i: int) -> Any:
        out = []
        for s in sources:
            item = s.get(i)
            if item is MISSING:
                return MISSING
            out.append(item)
        return tuple(out)

    length = min(lengths) if lengths and len(lengths) == len(sources) else None
    if not sources:
        return LList()
    if length is None and lengths and all(s.random for s in sources):
        # One side ends after `shortest`; the other is unknown: as long as the known one.
        length = min(lengths)
    return _paired(rt, length, all(s.random for s in sources), make, args, all(s.steps for s in sources))


@native("map")
def _map(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    fn, sources = args[0], [rt.shared.objects.iterate(rt, a, site) for a in args[1:]]

    def make(i: int) -> Any:
        items = [s.get(i) for s in sources]
        if any(x is MISSING for x in items):
            return MISSING
        return rt.shared.calls.call(rt, fn, items, {}, site)

    lengths = [s.length for s in sources if s.length is not None]
    return _paired(rt, min(lengths) if len(lengths) == len(sources) and lengths else None, False, make, args)


@native("filter")
def _filter(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    values, more = rt.shared.objects.listed(rt, args[1], site)
    out = LList(open=more)
    for value in values:
        keep = rt.known(
            value if args[0] is None else rt.shared.calls.call(rt, args[0], [value], {}, site), site
        )
        if keep is not False:
            list.append(out, value)
            out.open = out.open or keep is None
    return rt.shared.iteration.iterator(rt, out, site)


@native("reversed")
def _reversed(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    value = args[0]
    if type(value) is range:
        return value[::-1]
    if type(value) in (Sym, Endless) and getattr(value, "length", None) is None:
        return value
    values, more = rt.shared.objects.listed(rt, value, site)
    return LList(values[::-1], more)


@native("sorted")
def _sorted(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    values, more = rt.shared.objects.listed(rt, args[0], site)
    return LList(sort_values(rt, values, kwargs, site), more)


@native("iter")
def _iter(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    if len(args) == 2:
        return _called_until(rt, site, args[0], args[1])
    return rt.shared.iteration.iterator(rt, args[0], site)


def _called_until(rt: Any, site: Any, fn: Any, sentinel: Any) -> Iter:
    """``iter(fn, sentinel)``: what calls of ``fn`` give, up to the sentinel."""

    def step() -> Any:
        value = rt.shared.calls.call(rt, fn, [], {}, site)
        ends = rt.shared.ops.compare(rt, "eq", operator.eq, value, sentinel, site)
        return MISSING if rt.known(ends) else value

    made = Iter(step, False)
    made.trial = rt.trying
    return made


@native("next")
def _next(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    it = args[0]
    if type(it) is Iter:
        value = rt.shared.iteration.advance(rt, it, site)
        if value is MISSING:
            if len(args) > 1:
                return args[1]
            raise Raised("StopIteration")
        return value
    if type(it) is Obj and it.cls.find("__next__") is not MISSING:
        return rt.shared.calls.call(rt, Bound(it.cls.find("__next__"), it), [], {}, site)
    source = rt.shared.objects.iterate(rt, it, site)
    value = source.get(0)
    return rt.fresh(site) if value is MISSING else value


@native("sum")
def _sum(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    values, more = rt.shared.objects.listed(rt, args[0], site)
    total = args[1] if len(args) > 1 else kwargs.get("start", 0)
    for value in values:
        total = rt.shared.ops.binary(rt, "add", lambda a, b: a + b, total, value, site)
    if more and type(total) in CONST:
        return rt.fresh(site, "number")
    return total


def _extreme(name: str, fn: Callable[..., Any]) -> None:
    def run(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
        values, more = (args, False) if len(args) > 1 else rt.shared.objects.listed(rt, args[0], site)
        if not values:
            if "default" in kwargs:
                return kwargs["default"]
            if not more:
                raise Raised("ValueError")
            return rt.fresh(site)
        key = kwargs.get("key")
        keys = [plain(v if key is None else rt.shared.calls.call(rt, key, [v], {}, site)) for v in values]
        if more or any(k is MISSING for k in keys):
            carrying = [v for v in values if type(v) is Tensor and v.requires_grad]
            return carrying[0] if carrying else rt.fresh(site, "number")
        try:
            return values[fn(range(len(keys)), key=keys.__getitem__)]
        except TypeError:
            raise Raised("TypeError") from None

    TABLE[name] = Native(name, run)


_extreme("min", min)


_extreme("max", max)


def _quantifier(name: str, stop: bool) -> None:
    def run(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
        source = rt.shared.objects.iterate(rt, args[0], site)
        doubt = not source.finite
        i = 0
        while i < (source.length if source.length is not None else 64 if source.finite else 4):
            item = source.get(i)
            if item is MISSING:
                break
            known = rt.known(item, site)
            if known is stop:
                return stop
            doubt = doubt or known is None
            i += 1
        return rt.fresh(site, "bool") if doubt else not stop

    TABLE[name] = Native(name, run)


_quantifier("any", True)


_quantifier("all", False)
