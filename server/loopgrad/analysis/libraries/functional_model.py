"""``functools`` and ``itertools``: caches, partials, chains."""

from __future__ import annotations

from typing import Any

from ..semantics.calls import arg
from ..signals import Raised
from ..values import (
    MISSING,
    Bound,
    Class,
    Endless,
    Func,
    Iter,
    LDict,
    LList,
    Native,
    Obj,
    Partial,
    Property,
    tensors_in,
)
from ..where import Site
from .registry import TABLE, native


@native("functools.partial", "functools.partialmethod")
def _partial(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return Partial(args[0], list(args[1:]), kwargs)


@native("functools.wraps", "functools.update_wrapper")
def _wraps(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return Native("wraps", lambda rt_, s, a, k: a[0])


@native("functools.reduce")
def _reduce(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    items, _ = rt.shared.objects.listed(rt, args[1], site)
    if len(args) > 2:
        items = [args[2], *items]
    if not items:
        raise Raised("TypeError")
    total = items[0]
    for item in items[1:]:
        total = rt.shared.calls.call(rt, args[0], [total, item], {}, site)
    return total


def _memo(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``lru_cache``: the first result for the same arguments."""
    if not args or type(args[0]) not in (Func, Bound, Native):
        return Native("lru_cache", _memo)
    fn = args[0]
    store = LDict()

    def run(rt_: Any, s: Site, a: list, k: dict) -> Any:
        from ..semantics.ops import has_identity, key_of

        key = tuple(key_of(x) if has_identity(x) else ("obj", id(x)) for x in [*a, *k.values()])
        if key not in store:
            value = rt_.shared.calls.call(rt_, fn, a, k, s)
            remembered(rt_, value, s, getattr(fn, "name", "cache"))
            rt_.put(store, key, value)
        return store[key]

    made = Native(getattr(fn, "name", "cached"), run)
    rt.caches.append(store)
    return made


def remembered(rt: Any, value: Any, site: Site, name: str) -> None:
    """A cache stores without a statement of its own: the expression that computed the value stands for it."""
    for t in tensors_in(value):
        if t.node is not None:
            rt._store(t.node, t.node.site or site, name, "attribute", "tensor")


TABLE["functools.lru_cache"] = Native("lru_cache", _memo)
TABLE["functools.cache"] = Native("cache", _memo)


def _cached_property(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    fn = args[0]
    name = getattr(fn, "name", "cached")

    def read(rt_: Any, s: Site, a: list, k: dict) -> Any:
        obj = a[0]
        value = rt_.shared.calls.call(rt_, Bound(fn, obj), [], {}, s)
        if type(obj) is Obj:
            remembered(rt_, value, s, f"self.{name}")
            rt_.put(obj.attrs, name, value)
        return value

    return Property(Native(name, read))


TABLE["functools.cached_property"] = Native("cached_property", _cached_property)


@native("functools.singledispatch")
def _singledispatch(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    table: list[tuple[Any, Any]] = []
    made = Obj(DISPATCH)
    made.data = None

    def run(rt_: Any, s: Site, a: list, k: dict) -> Any:
        for cls, fn in reversed(table):
            if rt_.known(rt_.shared.classes.isinstance(rt_, a[0], cls, s)):
                return rt_.shared.calls.call(rt_, fn, a, k, s)
        return rt_.shared.calls.call(rt_, args[0], a, k, s)

    def register(rt_: Any, s: Site, a: list, k: dict) -> Any:
        if len(a) > 1:
            table.append((a[0], a[1]))
            return a[1]
        if type(a[0]) is Func:
            first = a[0].code.args.args[0].annotation if a[0].code.args.args else None
            from ..lower.expressions import lower
            from ..runtime import Frame

            scope, frame = a[0].code.scope, a[0].outer
            if frame is None or scope.kind != "function":
                frame = Frame(rt_, scope.file, a[0].globals, {}, frame, None)
            cls = lower(first, scope)(frame) if first is not None else None
            table.append((cls, a[0]))
            return a[0]

        def later(r: Any, s2: Site, a2: list, k2: dict) -> Any:
            table.append((a[0], a2[0]))
            return a2[0]

        return Native("register", later)

    made.attrs["__call__"] = made.attrs["dispatch"] = Native("dispatch", run)
    made.attrs["register"] = Native("register", register)
    return made


DISPATCH = Class("singledispatch")
DISPATCH.flags = frozenset({"inert"})
DISPATCH.ns["__call__"] = Native(
    "__call__",
    lambda rt, site, args, kwargs: rt.shared.calls.call(
        rt, args[0].attrs["__call__"], args[1:], kwargs, site
    ),
)


@native("itertools.chain")
def _chain(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    out: list[Any] = []
    opened = False
    for value in args:
        items, more = rt.shared.objects.listed(rt, value, site)
        out.extend(items)
        opened = opened or more
    return LList(out, opened)


@native("itertools.chain.from_iterable")
def _chain_from(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    items, more = rt.shared.objects.listed(rt, args[0], site)
    made = _chain(rt, site, items, {})
    made.open = made.open or more
    return made


@native("itertools.count")
def _count(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    start, step = arg(args, kwargs, 0, "start", 0), arg(args, kwargs, 1, "step", 1)
    if type(start) is int and type(step) is int:
        return Endless(lambda i: start + i * step, counter=True)
    return Endless(lambda i: rt.fresh(site, "number"))


@native("itertools.cycle", "itertools.repeat")
def _cycle(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    source = rt.shared.objects.iterate(rt, args[0], site) if site else None
    state = [0]

    def step() -> Any:
        assert source is not None
        item = source.get(state[0])
        if item is MISSING and state[0]:
            state[0] = 0
            item = source.get(0)
        state[0] += 1
        return item

    return Iter(step, False)


@native("itertools.islice")
def _islice(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    source = rt.shared.objects.iterate(rt, args[0], site)
    stop = args[1] if len(args) == 2 else args[2]
    start = args[1] if len(args) > 2 and type(args[1]) is int else 0
    out: list[Any] = []
    for i in range(start, stop if type(stop) is int and stop - start < 64 else start + 4):
        item = source.get(i)
        if item is MISSING:
            return LList(out)
        out.append(item)
    return LList(out, type(stop) is not int)


def _combined(name: str) -> None:
    import itertools

    def run(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
        lists = [rt.shared.objects.listed(rt, a, site) if type(a) is not int else (a, False) for a in args]
        values = [v for v, _ in lists]
        repeat = kwargs.get("repeat", 1)
        extra = {"repeat": repeat} if name == "product" and type(repeat) is int else {}
        try:
            made = list(itertools.islice(getattr(itertools, name)(*values, **extra), 256))
        except TypeError:
            return rt.fresh(site)
        return LList(made, any(m for _, m in lists))

    TABLE[f"itertools.{name}"] = Native(name, run)


for _name in ("product", "combinations", "permutations", "zip_longest", "pairwise"):
    _combined(_name)

TABLE["itertools.chain"].fn.__dict__["from_iterable"] = _chain_from


@native("itertools.accumulate")
def _accumulate(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    items, more = rt.shared.objects.listed(rt, args[0], site)
    fn = args[1] if len(args) > 1 else None
    out: list[Any] = []
    for item in items:
        if not out:
            out.append(item)
        elif fn is not None:
            out.append(rt.shared.calls.call(rt, fn, [out[-1], item], {}, site))
        else:
            out.append(rt.shared.ops.binary(rt, "add", lambda a, b: a + b, out[-1], item, site))
    return LList(out, more)
