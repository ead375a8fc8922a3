"""``obj[key]``, ``key in obj``, ``del obj[key]`` and appending."""

from __future__ import annotations

import ast
from typing import Any

from ..lower.scope import text_of
from ..signals import Raised
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
    hashable,
)
from ..where import Site
from .choices import element, entry, is_choice, settled
from .iteration import listed


def item(rt: Any, obj: Any, key: Any, site: Site) -> Any:
    """``obj[key]``."""
    if type(key) is Sym:
        key = rt.resolve(key)
    if rt.mixed:
        rt.ask(obj)
    kind = type(obj)
    if kind is Tensor or (kind is Sym and obj.node is not None and obj.kind == "tensor"):
        return rt.shared.tensors.index(rt, obj, key, site)
    if kind is LDict:
        return dict_item(rt, obj, key, site)
    if kind is LList or kind is tuple:
        return sequence_item(rt, obj, key, site)
    if kind is Obj:
        method = obj.cls.find("__getitem__")
        if method is not MISSING:
            return rt.shared.calls.call(rt, Bound(method, obj), [key], {}, site)
        missing = obj.cls.find("__missing__")
        if missing is not MISSING and type(obj.data) is LDict and type(key) in CONST and key not in obj.data:
            return rt.shared.calls.call(rt, Bound(missing, obj), [key], {}, site)
        if obj.data is not None and not isinstance(obj.data, (Tensor, Obj)):
            return item(rt, obj.data, key, site)
        return rt.fresh(site)
    if kind is Sym:
        resolved = rt.resolve(obj)
        if resolved is not obj:
            return item(rt, resolved, key, site)
        if obj.op == "phi":
            return item(rt, obj.args[1 if rt.part(obj.args[0], site) else 2], key, site)
        return rt.shared.unknowns.item(rt, obj, key, site)
    if kind in (str, bytes, range):
        plain = (
            slice(*(x if type(x) is not Sym else None for x in (key.start, key.stop, key.step)))
            if (type(key) is slice)
            else key
        )
        if type(plain) in (int, bool, slice) and not (type(key) is slice and plain != key):
            try:
                return obj[plain]
            except (IndexError, TypeError, ValueError) as error:
                raise Raised(type(error).__name__) from None
        return rt.fresh(site, "str" if kind is str else "any")
    if kind is Class:
        members = obj.ns.get("__members__")
        if members is not None and key in members:
            return members[key]
        return obj  # list[int], Generic[T]
    if obj is None:
        raise Raised("TypeError")
    return rt.fresh(site)


def dict_item(rt: Any, table: LDict, key: Any, site: Site) -> Any:
    key = hashable(settled(rt, key, site) if is_choice(key) else key)
    value = table.get(key, MISSING)
    if value is MISSING and table:
        value = entry(rt, table, key, site)
    if value is not MISSING:
        return value
    if table.factory is not None:
        value = rt.shared.calls.call(rt, table.factory, [], {}, site)
        rt.put(table, key, value)
        return value
    if table and (type(key) is Sym or type(key) is tuple and any(type(k) is Sym for k in key)):
        # Which entry an unknown key names is open; one of them stands for all.
        same = list(table.values())
        return same[-1]
    if (
        type(key) is Tensor
        and not key.guess
        and (table or not table.open)
        and not any(type(k) in (Sym, Tensor) for k in table)
    ):
        # A tensor is hashed by its identity: `index2word[ni]` worked as long as `ni` was a number. Of a table of
        # which nothing is known (an optimizer's state), it may be a key.
        raise Raised("KeyError", sure=True)
    if table.open or type(key) in (Sym, Tensor) or any(type(k) in (Sym, Tensor) for k in table):
        value = rt.fresh(site)
        rt.put(table, key, value)
        return value
    raise Raised("KeyError")


def sequence_item(rt: Any, items: Any, key: Any, site: Site) -> Any:
    n = len(items)
    if is_choice(key):
        key = settled(rt, key, site)
    if type(key) is bool or type(key) is int:
        if -n <= key < n:
            return items[key]
        if type(items) is LList and items.open:
            return items[-1] if n else rt.fresh(site)
        raise Raised("IndexError")
    if type(key) is slice:
        bounds = [settled(rt, x, site) for x in (key.start, key.stop, key.step)]
        if all(x is None or type(x) is int for x in bounds):
            part = items[slice(*bounds)]
            first = bounds[0]
            if type(first) is int and 1 - first >= n > 0 > first:
                # The last so many: what is older goes once there are more.
                rt.turns["from", -first] = rt.turns.get(("from", -first), 0) + 1
            return LList(part, items.open) if type(items) is LList else part
        if type(items) is not LList:
            return tuple(items)
        part = LList(items, True)
        part.unsure = True  # how many of them, nobody knows
        return part
    if type(key) in (Sym, Tensor):
        found = MISSING if getattr(items, "open", False) else element(rt, items, key, site)
        if found is not MISSING:
            return found
        if n:
            return items[-1] if type(items) is LList else items[0]
        if type(items) is LList and not items.open:
            raise Raised("IndexError")
        return rt.fresh(site)
    if type(key) is Obj and type(key.data) is int:
        return sequence_item(rt, items, key.data, site)
    raise Raised("TypeError")


def set_item(rt: Any, obj: Any, key: Any, value: Any, site: Site) -> None:
    """``obj[key] = value``."""
    if type(key) is Sym:
        key = settled(rt, key, site)
    if type(obj) is Sym:
        obj = rt.resolve(obj)
    kind = type(obj)
    if kind is LDict:
        rt.put(obj, hashable(key), value)
    elif kind is LList:
        rt.note_list(obj)
        if type(key) in (int, bool):
            if -len(obj) <= key < len(obj):
                list.__setitem__(obj, key, value)
            elif not obj.open:
                raise Raised("IndexError")
            else:
                list.append(obj, value)
        elif type(key) is slice and all(x is None or type(x) is int for x in (key.start, key.stop, key.step)):
            items, more = listed(rt, value, site)
            try:
                list.__setitem__(obj, key, items)
            except ValueError:
                raise Raised("ValueError") from None
            obj.open = obj.open or more
        elif obj:
            list.__setitem__(obj, len(obj) - 1, value)
    elif kind is Tensor:
        rt.shared.tensors.set_index(rt, obj, key, value, site)
    elif kind is Obj:
        method = obj.cls.find("__setitem__")
        if method is not MISSING:
            rt.shared.calls.call(rt, Bound(method, obj), [key, value], {}, site)
        elif isinstance(obj.data, (LDict, LList)):
            set_item(rt, obj.data, key, value, site)
    elif kind is Sym:
        rt.shared.unknowns.set_item(rt, obj, key, value, site)
    elif kind is tuple or kind is str:
        raise Raised("TypeError")


def del_item(rt: Any, obj: Any, key: Any, site: Site) -> None:
    """``del obj[key]``."""
    kind = type(obj)
    if kind is LDict:
        key = hashable(key)
        if key in obj:
            rt.note(obj, key)
            del obj[key]
        elif not obj.open:
            raise Raised("KeyError")
    elif kind is LList:
        rt.note_list(obj)
        if type(key) is slice and not all(
            x is None or type(x) is int for x in (key.start, key.stop, key.step)
        ):
            del obj[:]
        elif type(key) in (int, slice):
            try:
                list.__delitem__(obj, key)
            except IndexError:
                raise Raised("IndexError") from None
        elif obj:
            list.pop(obj)
    elif kind is Obj:
        method = obj.cls.find("__delitem__")
        if method is not MISSING:
            rt.shared.calls.call(rt, Bound(method, obj), [key], {}, site)
        elif isinstance(obj.data, (LDict, LList)):
            del_item(rt, obj.data, key, site)


def append(rt: Any, items: LList, value: Any, site: Site, node: ast.Attribute) -> None:
    """``items.append(value)``, the hottest of the list methods."""
    if type(value) not in CONST:
        rt.stored(value, site, text_of(node.value), "append")
    rt.note_list(items)
    list.append(items, value)
    if items.bounded is not None and len(items) > items.bounded:
        del items[0]


def merge(rt: Any, table: LDict, other: Any, site: Site) -> None:
    """``table.update(other)``."""
    if type(other) is Obj and isinstance(other.data, LDict):
        other = other.data
    rt.ask(other)
    if type(other) is LDict:
        for key, value in list(other.items()):
            rt.put(table, key, value)
        table.open = table.open or other.open
    elif type(other) in (LList, tuple):
        for pair in other:
            if type(pair) is tuple and len(pair) == 2:
                rt.put(table, hashable(pair[0]), pair[1])
            else:
                table.open = True
    elif type(other) is Iter or type(other) is Endless:
        pairs, more = listed(rt, other, site)
        for pair in pairs:
            if type(pair) is tuple and len(pair) == 2:
                rt.put(table, hashable(pair[0]), pair[1])
        table.open = table.open or more
    elif other is not None:
        table.open = True


def contains(rt: Any, holder: Any, value: Any, site: Site) -> Any:
    """``value in holder``."""
    kind = type(holder)
    if kind is Sym:
        holder = rt.resolve(holder)
        kind = type(holder)
    if kind is Obj:
        method = holder.cls.find("__contains__")
        if method is not MISSING:
            return rt.shared.calls.call(rt, Bound(method, holder), [value], {}, site)
        if holder.data is not None and not isinstance(holder.data, (Tensor, Obj)):
            return contains(rt, holder.data, value, site)
    if kind is LDict or kind is LSet:
        if hashable(value) in holder:
            return True
        if (
            holder.open
            or (type(value) in (Sym, Tensor) and holder)
            or any(type(k) in (Sym, Tensor) for k in holder)
        ):
            return _membership(rt, holder, value, site)
        return False
    if kind is str:
        if type(value) is str:
            return value in holder
        return _membership(rt, holder, value, site)
    if kind in (tuple, LList, range):
        doubt = kind is LList and holder.open
        for entry in holder if kind is not range or len(holder) < 4096 else ():
            if entry is value:
                return True
            same = rt.known(rt.shared.ops.compare(rt, "eq", lambda a, b: a == b, entry, value, site))
            if same:
                return True
            doubt = doubt or same is None
        if kind is range and type(value) is int:
            return value in holder
        return _membership(rt, holder, value, site) if doubt else False
    return _membership(rt, holder, value, site)


def _membership(rt: Any, holder: Any, value: Any, site: Site) -> Any:
    from .ops import has_identity, key_of

    if has_identity(holder) and has_identity(value):
        return Sym(("in", key_of(value), key_of(holder)), "compare")
    if type(holder) in (LList, tuple) and has_identity(value) and all(has_identity(x) for x in holder):
        return Sym(("in", key_of(value), tuple(key_of(x) for x in holder)), "compare")
    return rt.fresh(site, "compare")
