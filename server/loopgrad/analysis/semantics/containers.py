"""The methods of Python's own types on abstract values."""

from __future__ import annotations

import array
import collections
from typing import Any

from ..signals import Abort, Raised
from ..values import CONST, MISSING, MOST_ITEMS, Iter, LDict, LList, LSet, Native, Sym, hashable
from .dictionaries import DICTIONARY, Method, receiver


def method(rt: Any, obj: Any, name: str, site: Any) -> Any:
    """``obj.name`` for a container, string or number: a native bound to it."""
    if type(obj) is slice and name in ("start", "stop", "step"):
        return getattr(obj, name)
    fn = _TABLES.get(type(obj), {}).get(name)
    if fn is not None:
        if rt.mixed and name not in _WRITES:
            rt.ask(obj)
        found: Method = fn
        return Native(name, lambda rt_, site_, args, kwargs: found(rt_, site_, obj, args, kwargs))
    if type(obj) is LList and name == "maxlen":
        return obj.bounded
    if type(obj) is tuple and name in _FIELDS and len(obj) > _FIELDS[name]:
        return obj[_FIELDS[name]]
    if type(obj) in CONST and hasattr(obj, name):
        value = getattr(obj, name)
        if not callable(value):
            return value if type(value) in CONST else rt.fresh(site)
        return Native(name, lambda rt_, site_, args, kwargs: _constant_call(rt_, site_, value, args, kwargs))
    if name == "__class__":
        return Sym(("class-of", type(obj).__name__))
    # A list or a dictionary also stands for a deque, a counter or a list of layers.
    if not any(hasattr(kind, name) for kind in (type(obj), *_STANDS_FOR.get(type(obj), ()))):
        raise Raised("AttributeError")
    return Native(name, lambda rt_, site_, args, kwargs: rt_.fresh(site_))


#: What changes a container, whatever is in it.
_WRITES = frozenset({"add", "append", "appendleft", "clear", "discard", "extend", "update"})
_STANDS_FOR: dict[type, tuple[type, ...]] = {
    LList: (collections.deque, array.array),
    LDict: (collections.Counter, collections.OrderedDict, collections.defaultdict),
}

#: The fields of the named tuples that torch returns (``topk(...).values``), by position.
_FIELDS = {
    "values": 0,
    "indices": 1,
    "eigenvalues": 0,
    "eigenvectors": 1,
    "Q": 0,
    "R": 1,
    "U": 0,
    "S": 1,
    "Vh": 2,
    "V": 2,
    "sign": 0,
    "logabsdet": 1,
    "solution": 0,
    "L": 0,
    "LU": 0,
    "pivots": 1,
    "mantissa": 0,
    "exponent": 1,
    "L_": 0,
    "output": 0,
    "counts": 1,
}


def _constant_call(rt: Any, site: Any, fn: Any, args: list, kwargs: dict) -> Any:
    """A method of a string or number: Python computes it when all it needs is known."""
    args = [plain(a) for a in args]
    if any(a is MISSING for a in args) or any(plain(v) is MISSING for v in kwargs.values()):
        return rt.fresh(site, "str" if isinstance(getattr(fn, "__self__", None), str) else "any")
    try:
        return lifted(fn(*args, **kwargs))
    except Exception as error:
        raise Raised(type(error).__name__) from None


def plain(value: Any) -> Any:
    """The Python value of a constant, tuple or list of constants, else MISSING."""
    if type(value) in CONST:
        return value
    if type(value) is tuple or type(value) is LList and not value.open:
        items = [plain(v) for v in value]
        return (
            MISSING
            if any(i is MISSING for i in items)
            else type(value)(items)
            if type(value) is tuple
            else items
        )
    return MISSING


def lifted(value: Any) -> Any:
    """A Python value as an abstract one."""
    if isinstance(value, tuple):
        return tuple(lifted(v) for v in value)
    if isinstance(value, list):
        return LList([lifted(v) for v in value])
    return value


# -- lists --------------------------------------------------------------------------------------


def _append(rt: Any, site: Any, items: LList, args: list, kwargs: dict) -> None:
    for value in args[:1]:
        if type(value) not in CONST:
            rt.stored(value, site, receiver(site), "append")
        rt.note_list(items)
        list.append(items, value)
        if items.bounded is not None and len(items) > items.bounded:
            del items[0]


def _appendleft(rt: Any, site: Any, items: LList, args: list, kwargs: dict) -> None:
    rt.stored(args[0], site, receiver(site), "append")
    rt.note_list(items)
    list.insert(items, 0, args[0])
    if items.bounded is not None and len(items) > items.bounded:
        del items[-1]


def _insert(rt: Any, site: Any, items: LList, args: list, kwargs: dict) -> None:
    rt.stored(args[1], site, receiver(site), "append")
    rt.note_list(items)
    list.insert(items, args[0] if type(args[0]) is int else 0, args[1])


def _extend(rt: Any, site: Any, items: LList, args: list, kwargs: dict) -> None:
    values, more = rt.shared.objects.listed(rt, args[0], site)
    for value in values:
        if type(value) not in CONST:
            rt.stored(value, site, receiver(site), "append")
    rt.note_list(items)
    room = max(0, MOST_ITEMS - len(items))
    list.extend(items, values[:room])
    if items.bounded is not None and len(items) > items.bounded:
        del items[: len(items) - items.bounded]
    items.open = items.open or more or len(values) > room


def _pop(rt: Any, site: Any, items: LList, args: list, kwargs: dict) -> Any:
    rt.note_list(items)
    if not items:
        if items.open:
            return rt.fresh(site)
        raise Raised("IndexError")
    index = args[0] if args and type(args[0]) is int else -1
    try:
        return list.pop(items, index)
    except IndexError:
        if items.open:
            return list.pop(items)
        raise Raised("IndexError") from None


def _popleft(rt: Any, site: Any, items: LList, args: list, kwargs: dict) -> Any:
    return _pop(rt, site, items, [0], kwargs)


def _clear(rt: Any, site: Any, items: Any, args: list, kwargs: dict) -> None:
    if isinstance(items, LList):
        rt.note_list(items)
        del items[:]
    elif isinstance(items, LDict):
        for key in list(items):
            rt.note(items, key)
        items.clear()
    else:
        rt.note_set(items)
        items.clear()
    items.open = False


def _remove(rt: Any, site: Any, items: LList, args: list, kwargs: dict) -> None:
    rt.note_list(items)
    for k, value in enumerate(items):
        if value is args[0] or rt.known(
            rt.shared.ops.compare(rt, "eq", lambda a, b: a == b, value, args[0], site)
        ):
            del items[k]
            return
    if not items.open:
        raise Raised("ValueError")


def _reverse(rt: Any, site: Any, items: LList, args: list, kwargs: dict) -> None:
    rt.note_list(items)
    list.reverse(items)


def _sort(rt: Any, site: Any, items: LList, args: list, kwargs: dict) -> None:
    rt.note_list(items)
    items[:] = sort_values(rt, list(items), kwargs, site)


def sort_values(rt: Any, values: list, kwargs: dict, site: Any) -> list:
    """Sorted where every key is known; in the order given where not, numbers and the like being unknown then."""
    key = kwargs.get("key")
    keys = [rt.shared.calls.call(rt, key, [v], {}, site) if key is not None else v for v in values]
    plain_keys = [plain(k) for k in keys]
    if any(k is MISSING for k in plain_keys):
        if all(type(v) in CONST or type(v) is Sym and v.node is None for v in values):
            return [rt.fresh(site) for _ in values] if len(values) > 1 else values
        return values
    try:
        order = sorted(range(len(values)), key=plain_keys.__getitem__, reverse=kwargs.get("reverse") is True)
    except TypeError:
        raise Raised("TypeError") from None
    return [values[i] for i in order]


def _index(rt: Any, site: Any, items: Any, args: list, kwargs: dict) -> Any:
    for k, value in enumerate(items):
        same = rt.known(rt.shared.ops.compare(rt, "eq", lambda a, b: a == b, value, args[0], site))
        if same:
            return k
        if same is None:
            return rt.fresh(site, "number")
    raise Raised("ValueError")


def _count(rt: Any, site: Any, items: Any, args: list, kwargs: dict) -> Any:
    total = 0
    for value in items:
        same = rt.known(rt.shared.ops.compare(rt, "eq", lambda a, b: a == b, value, args[0], site))
        if same is None:
            return rt.fresh(site, "number")
        total += bool(same)
    return total


def _copy(rt: Any, site: Any, items: Any, args: list, kwargs: dict) -> Any:
    if isinstance(items, LDict):
        return LDict(items, items.open, items.factory)
    return type(items)(items, items.open)


# -- sets ---------------------------------------------------------------------------------------


def _add(rt: Any, site: Any, items: LSet, args: list, kwargs: dict) -> None:
    rt.stored(args[0], site, receiver(site), "append")
    rt.note_set(items)
    items.add(hashable(args[0]))


def _discard(rt: Any, site: Any, items: LSet, args: list, kwargs: dict) -> None:
    rt.note_set(items)
    items.discard(hashable(args[0]))


def _set_op(name: str) -> Method:
    def run(rt: Any, site: Any, items: LSet, args: list, kwargs: dict) -> Any:
        others = [set(rt.shared.objects.listed(rt, a, site)[0]) for a in args]
        return LSet(getattr(set(items), name)(*others), items.open)

    return run


def _set_update(rt: Any, site: Any, items: LSet, args: list, kwargs: dict) -> None:
    rt.note_set(items)
    for other in args:
        items.update(hashable(v) for v in rt.shared.objects.listed(rt, other, site)[0])


# -- strings that meet unknown arguments -----------------------------------------------------------


def _join(rt: Any, site: Any, text: str, args: list, kwargs: dict) -> Any:
    parts, more = rt.shared.objects.listed(rt, args[0], site)
    if more or not all(type(p) is str for p in parts):
        return rt.fresh(site, "str")
    return text.join(parts)


def _format(rt: Any, site: Any, text: str, args: list, kwargs: dict) -> Any:
    shown = [a if type(a) in CONST else rt.shared.objects.text(rt, a, False, site) for a in args]
    named = {
        k: v if type(v) in CONST else rt.shared.objects.text(rt, v, False, site) for k, v in kwargs.items()
    }
    if any(type(a) not in CONST for a in [*shown, *named.values()]):
        return rt.fresh(site, "str")
    try:
        return text.format(*shown, **named)
    except (ValueError, IndexError, KeyError, TypeError, AttributeError) as error:
        raise Raised(type(error).__name__) from None


# -- iterators ------------------------------------------------------------------------------------


def _next(rt: Any, site: Any, it: Iter, args: list, kwargs: dict) -> Any:
    from .iteration import advance

    value = advance(rt, it, site)
    if value is MISSING:
        raise Raised("StopIteration")
    return value


def _send(rt: Any, site: Any, it: Iter, args: list, kwargs: dict) -> Any:
    if rt.trying > it.trial:
        raise Abort
    value = it.send(args[0]) if it.send is not None else it.step()
    if value is MISSING:
        raise Raised("StopIteration")
    return value


def _close(rt: Any, site: Any, it: Any, args: list, kwargs: dict) -> None:
    def none_left() -> Any:
        return MISSING

    it.step = none_left


_LISTS: dict[str, Method] = {
    "append": _append,
    "appendleft": _appendleft,
    "insert": _insert,
    "extend": _extend,
    "pop": _pop,
    "popleft": _popleft,
    "clear": _clear,
    "remove": _remove,
    "reverse": _reverse,
    "sort": _sort,
    "index": _index,
    "count": _count,
    "copy": _copy,
    "extendleft": _extend,
    "rotate": lambda rt, site, items, args, kwargs: None,
}
_DICTS: dict[str, Method] = {**DICTIONARY, "clear": _clear, "copy": _copy}
_SETS: dict[str, Method] = {
    "add": _add,
    "discard": _discard,
    "remove": _discard,
    "clear": _clear,
    "copy": _copy,
    "update": _set_update,
    **{n: _set_op(n) for n in ("union", "intersection", "difference", "symmetric_difference")},
    "issubset": lambda rt, site, s, a, k: set(s) <= set(rt.shared.objects.listed(rt, a[0], site)[0]),
    "issuperset": lambda rt, site, s, a, k: set(s) >= set(rt.shared.objects.listed(rt, a[0], site)[0]),
}
_TABLES: dict[type, dict[str, Method]] = {
    LList: _LISTS,
    LDict: _DICTS,
    LSet: _SETS,
    tuple: {"index": _index, "count": _count},
    str: {"join": _join, "format": _format},
    Iter: {
        "__next__": _next,
        "next": _next,  # of a loader's iterator, in old code
        "send": _send,
        "throw": _next,
        "close": _close,
    },
}
