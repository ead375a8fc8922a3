"""The methods of dictionaries on abstract values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..signals import Raised
from ..values import CONST, MISSING, LDict, LList, Obj, Sym, hashable
from .choices import entry, settled

Method = Callable[[Any, Any, Any, list, dict], Any]


def receiver(site: Any) -> str:
    from ..lower.scope import text_of

    func = getattr(site.node, "func", None)
    return text_of(func.value) if func is not None and hasattr(func, "value") else "?"


def _get(rt: Any, site: Any, table: LDict, args: list, kwargs: dict) -> Any:
    key = hashable(settled(rt, args[0], site))
    value = table.get(key, MISSING)
    if value is not MISSING:
        return value
    default = args[1] if len(args) > 1 else kwargs.get("default")
    value = entry(rt, table, key, site, default)
    if value is not MISSING:
        return value
    if table.open:
        return rt.fresh(site)
    if type(key) is Sym and table:
        return list(table.values())[-1]
    return default


def _setdefault(rt: Any, site: Any, table: LDict, args: list, kwargs: dict) -> Any:
    key = hashable(args[0])
    if key not in table:
        rt.put(table, key, args[1] if len(args) > 1 else None)
    return table[key]


def _pop(rt: Any, site: Any, table: LDict, args: list, kwargs: dict) -> Any:
    key = hashable(args[0])
    if key in table:
        rt.note(table, key)
        return table.pop(key)
    if len(args) > 1:
        return args[1]
    if table.open or type(key) is Sym:
        return rt.fresh(site)
    raise Raised("KeyError")


def _popitem(rt: Any, site: Any, table: LDict, args: list, kwargs: dict) -> Any:
    if not table:
        raise Raised("KeyError")
    key = next(reversed(table))
    rt.note(table, key)
    return (key, table.pop(key))


def _update(rt: Any, site: Any, table: LDict, args: list, kwargs: dict) -> None:
    before = dict(table)
    given = {*kwargs, *(key for other in args if type(other) is LDict for key in other)}
    for other in args:
        if type(other) is not LDict and type(other) is not Sym:
            pairs, more = (
                rt.shared.objects.listed(rt, other, site) if not isinstance(other, Obj) else ([], False)
            )
            if isinstance(other, Obj):
                rt.shared.objects.merge(rt, table, other, site)
            elif table.factory is not None and not all(type(p) is tuple and len(p) == 2 for p in pairs):
                for each in pairs:  # a Counter counts them
                    rt.put(table, hashable(each), rt.fresh(site, "number"))
            else:
                rt.shared.objects.merge(rt, table, LList(pairs, more), site)
        else:
            rt.shared.objects.merge(rt, table, other, site)
    for name, value in kwargs.items():
        rt.put(table, name, value)
    base = receiver(site)
    for key, value in [*table.items()]:
        if type(value) not in CONST and (key in given or before.get(key, MISSING) is not value):
            text = f"{base}[{key!r}]" if type(key) in (str, int) else base
            rt.stored(value, site, text if len(text) < 40 else base, "item")


def _items(rt: Any, site: Any, table: LDict, args: list, kwargs: dict) -> Any:
    return LList([(k, v) for k, v in table.items()], table.open)


def _keys(rt: Any, site: Any, table: LDict, args: list, kwargs: dict) -> Any:
    return LList(list(table), table.open)


def _values(rt: Any, site: Any, table: LDict, args: list, kwargs: dict) -> Any:
    return LList(list(table.values()), table.open)


#: By name, but for what they share with other containers.
DICTIONARY: dict[str, Method] = {
    "get": _get,
    "setdefault": _setdefault,
    "pop": _pop,
    "popitem": _popitem,
    "update": _update,
    "items": _items,
    "keys": _keys,
    "values": _values,
    "move_to_end": lambda rt, site, table, args, kwargs: None,
}
