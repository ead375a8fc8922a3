"""``collections``: deques, default dicts, counters, named tuples."""

from __future__ import annotations

from typing import Any

from ..semantics import builtins_model
from ..semantics.calls import arg
from ..semantics.choices import settled
from ..values import (
    MISSING,
    Class,
    LDict,
    LList,
    Native,
    Obj,
    hashable,
)
from ..where import Site
from .registry import TABLE, native


@native("collections.deque")
def _deque(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    items, more = rt.shared.objects.listed(rt, args[0], site) if args else ([], False)
    limit = settled(rt, arg(args, kwargs, 1, "maxlen"), site)
    bounded = limit if type(limit) is int else (64 if limit is not None else None)
    return LList(items[-bounded:] if bounded else items, more, bounded)


@native("collections.defaultdict")
def _defaultdict(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    made = LDict(factory=args[0] if args else None)
    if len(args) > 1:
        rt.shared.objects.merge(rt, made, args[1], site)
    return made


@native("collections.OrderedDict")
def _ordered(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return builtins_model.TABLE["dict"].fn(rt, site, args, kwargs)


@native("collections.Counter")
def _counter(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    made = LDict(factory=builtins_model.TABLE["int"])
    if args:
        items, more = rt.shared.objects.listed(rt, args[0], site)
        for item in items:
            key = hashable(item)
            made[key] = made.get(key, 0) + 1 if type(made.get(key, 0)) is int else made[key]
        made.open = more
    return made


@native("collections.namedtuple", "typing.NamedTuple")
def _namedtuple(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    names = args[1] if len(args) > 1 else kwargs.get("field_names", ())
    if type(names) is str:
        fields = names.replace(",", " ").split()
    else:
        fields = [n if type(n) is str else n[0] for n in rt.shared.objects.listed(rt, names, site)[0]]
    cls = Class(args[0] if type(args[0]) is str else "tuple", (NAMEDTUPLE,))
    defaults = kwargs.get("defaults")
    given = list(defaults) if isinstance(defaults, (tuple, LList)) else []
    first = len(fields) - len(given)
    cls.fields = [(n, given[k - first] if k >= first else MISSING) for k, n in enumerate(fields)]
    return cls


def _tuple_replace(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    made = Obj(args[0].cls)
    names = [n for n, _ in args[0].cls.fields or []]
    made.data = tuple(kwargs.get(n, v) for n, v in zip(names, args[0].data))
    return made


NAMEDTUPLE = Class("NamedTuple")
NAMEDTUPLE.flags = frozenset({"namedtuple"})
NAMEDTUPLE.ns.update(
    _replace=Native("_replace", _tuple_replace),
    _asdict=Native(
        "_asdict",
        lambda rt, site, args, kwargs: LDict(
            {n: v for (n, _), v in zip(args[0].cls.fields or [], args[0].data)}
        ),
    ),
    _make=Native("_make", lambda rt, site, args, kwargs: rt.fresh(site)),
)
TABLE["typing.NamedTuple"] = NAMEDTUPLE
