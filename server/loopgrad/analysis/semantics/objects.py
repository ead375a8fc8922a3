"""Attributes, items and the printed form of abstract values."""

from __future__ import annotations

import ast
from typing import Any

from ..lower.scope import text_of
from ..runtime import CONST, Raised
from ..tape import Tensor
from ..values import (
    MISSING,
    Bound,
    Class,
    ClassMethod,
    Endless,
    Func,
    Iter,
    LDict,
    LList,
    LSet,
    Namespace,
    Native,
    Obj,
    Partial,
    Property,
    StaticMethod,
    Super,
    Sym,
    UserModule,
    hashable,
)
from ..where import Site
from . import builtins_model, containers
from .classes import EXCEPTIONS
from .iteration import generator, iterate, listed, unpack

locals_function = Native("locals", lambda rt, site, args, kwargs: LDict(open=True))

__all__ = ["generator", "iterate", "listed", "locals_function", "unpack"]


def builtin(rt: Any, name: str) -> Any:
    """A name that no scope binds: a builtin, or unknown (an exec, a star import, a typo)."""
    if name == "locals":
        return locals_function
    value = builtins_model.TABLE.get(name, MISSING)
    if value is not MISSING:
        return value
    raised = EXCEPTIONS.get(name)
    return raised if raised is not None else Sym(("global", name))


def bind(rt: Any, value: Any, obj: Any, cls: Class, site: Site) -> Any:
    """What reading a class attribute through an instance gives."""
    kind = type(value)
    if kind is Func or kind is Native:
        return Bound(value, obj)
    if kind is Property:
        return rt.shared.calls.call(rt, Bound(value.getter, obj), [], {}, site)
    if kind is StaticMethod:
        return value.func
    if kind is ClassMethod:
        return Bound(value.func, cls)
    return value


def get(rt: Any, obj: Any, name: str, site: Site) -> Any:
    """``obj.name``."""
    kind = type(obj)
    if kind is Obj:
        value = obj.attrs.get(name, MISSING)
        if value is not MISSING:
            return value
        value = obj.cls.find(name)
        if value is not MISSING:
            return bind(rt, value, obj, obj.cls, site)
        return _missing(rt, obj, name, site)
    if kind is Tensor:
        return rt.shared.tensors.attribute(rt, obj, name, site)
    if kind is Sym:
        resolved = rt.resolve(obj)
        if resolved is not obj:
            return get(rt, resolved, name, site)
        if obj.op == "phi":
            return get(rt, obj.args[1 if rt.truth(obj.args[0], site) else 2], name, site)
        return rt.shared.unknowns.attribute(rt, obj, name, site)
    if kind is Namespace:
        return rt.shared.modules.attribute(rt, obj, name, site)
    if kind is UserModule:
        value = obj.globals.get(name, MISSING)
        if value is not MISSING:
            return value
        found = rt.shared.modules.submodule(rt, obj, name, site)
        return found if found is not MISSING else Sym(("module", obj.name, name))
    if kind is Class:
        return _class_attribute(rt, obj, name, site)
    if kind is Super:
        return _super_attribute(rt, obj, name, site)
    if kind is Func:
        if obj.attrs is not None and name in obj.attrs:
            return obj.attrs[name]
        if name == "__name__":
            return obj.name
        return Sym(("func", obj.name, name))
    if kind is Bound:
        if name == "__self__":
            return obj.self
        return get(rt, obj.func, name, site)
    if kind is Partial:
        return {"func": obj.func, "args": tuple(obj.args)}.get(name, Sym(("partial", name)))
    if kind is Native:
        return obj.name if name == "__name__" else Sym(("native", obj.name, name))
    if obj is None:
        raise Raised("AttributeError")
    if kind is Property:
        if name == "setter":
            return Native(name, lambda rt_, s, a, k: Property(obj.getter, a[0]))
        return Native(
            name, lambda rt_, s, a, k: Property(a[0] if name == "getter" else obj.getter, obj.setter)
        )
    return containers.method(rt, obj, name, site)


def _missing(rt: Any, obj: Obj, name: str, site: Site) -> Any:
    computed = obj.attrs.get("_parametrized")
    if computed is not None and name in computed:
        return rt.shared.leaf_modules.computed(rt, obj, name, site)
    if name == "__class__":
        return obj.cls
    if name == "__dict__":
        view = LDict(obj.attrs)
        return view
    if isinstance(obj.data, tuple) and obj.cls.fields is not None:
        for k, (field, _) in enumerate(obj.cls.fields):
            if field == name and k < len(obj.data):
                return obj.data[k]
    getter = obj.cls.find("__getattr__")
    if getter is not MISSING:
        return rt.shared.calls.call(rt, Bound(getter, obj), [name], {}, site)
    if isinstance(obj.data, (tuple, LList, LDict, LSet)) or type(obj.data) in CONST and obj.data is not None:
        return containers.method(rt, obj.data, name, site)
    if obj.cls.opaque:
        rt.marks += 1
        value = Sym(("attr", obj.cls.name, name, rt.marks))
        obj.attrs[name] = value
        return value
    if name.startswith("__") and name.endswith("__"):
        return Sym(("dunder", name))
    raise Raised("AttributeError")


def _class_attribute(rt: Any, cls: Class, name: str, site: Site) -> Any:
    value = cls.find(name)
    if value is not MISSING:
        kind = type(value)
        if kind is ClassMethod:
            return Bound(value.func, cls)
        if kind is StaticMethod:
            return value.func
        return value
    if name in ("__name__", "__qualname__"):
        return cls.name
    if name == "__mro__":
        return tuple(cls.mro)
    if name == "apply" and "function" in cls.flags:
        return Native(
            "apply", lambda rt_, site_, args, kwargs: rt_.shared.autograd.apply(rt_, cls, args, kwargs, site_)
        )
    return Sym(("class", cls.name, name))


def _super_attribute(rt: Any, obj: Super, name: str, site: Site) -> Any:
    owner = obj.self
    cls = owner if type(owner) is Class else owner.cls if type(owner) is Obj else None
    if cls is None:
        return Sym(("super", name))
    mro = cls.mro
    start = mro.index(obj.after) + 1 if obj.after in mro else 1
    for base in mro[start:]:
        value = base.ns.get(name, MISSING)
        if value is not MISSING:
            if type(owner) is Class and type(value) is Func:
                return Bound(value, owner)
            return bind(rt, value, owner, cls, site)
    if name in ("__init__", "__init_subclass__", "__setattr__", "__post_init__", "__enter__", "__exit__"):
        return (
            rt.shared.classes.OBJECT[name]
            if name in rt.shared.classes.OBJECT
            else Native(name, lambda *_: None)
        )
    if name == "__new__":
        return Native(
            "__new__", lambda rt_, site_, args, kwargs: rt_.shared.classes.new(rt_, args, kwargs, site_)
        )
    if type(owner) is Obj and isinstance(owner.data, (tuple, LList, LDict, LSet)):
        return containers.method(rt, owner.data, name, site)
    return Sym(("super", cls.name, name))


def super_of(rt: Any, frame: Any, args: list, site: Site) -> Any:
    """``super()`` or ``super(Class, self)`` in ``frame``."""
    if len(args) == 2 and type(args[0]) is Class:
        return Super(args[0], args[1])
    look = frame
    while look is not None and look.cls is None:
        look = look.outer
    if look is None or look.self is None:
        return Sym(("super",))
    return Super(look.cls, look.self)


def set(rt: Any, obj: Any, name: str, value: Any, site: Site) -> None:
    """``obj.name = value``."""
    kind = type(obj)
    if kind is Obj:
        found = obj.cls.find(name)
        if type(found) is Property:
            if found.setter is not None:
                rt.shared.calls.call(rt, Bound(found.setter, obj), [value], {}, site)
                return
            raise Raised("AttributeError")
        setter = obj.cls.find("__setattr__")
        if setter is not MISSING and type(setter) is Func:
            rt.shared.calls.call(rt, Bound(setter, obj), [name, value], {}, site)
            return
        if rt.log is not None:
            rt.note(obj.attrs, name)
        obj.attrs[name] = value
    elif kind is Tensor:
        rt.shared.tensors.set_attribute(rt, obj, name, value, site)
    elif kind is Sym:
        if obj.attrs is None:
            obj.attrs = {}
        rt.put(obj.attrs, name, value)
    elif kind is Class:
        rt.put(obj.ns, name, value)
    elif kind is UserModule:
        rt.put(obj.globals, name, value)
    elif kind is Func:
        if obj.attrs is None:
            obj.attrs = {}
        rt.put(obj.attrs, name, value)
    elif kind is Namespace:
        rt.shared.modules.patch(rt, obj, name, value)
    elif obj is None:
        raise Raised("AttributeError")


def item(rt: Any, obj: Any, key: Any, site: Site) -> Any:
    """``obj[key]``."""
    if type(key) is Sym:
        key = rt.resolve(key)
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
        if obj.data is not None and not isinstance(obj.data, (Tensor, Obj)):
            return item(rt, obj.data, key, site)
        return rt.fresh(site)
    if kind is Sym:
        resolved = rt.resolve(obj)
        if resolved is not obj:
            return item(rt, resolved, key, site)
        if obj.op == "phi":
            return item(rt, obj.args[1 if rt.truth(obj.args[0], site) else 2], key, site)
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
    key = hashable(key)
    value = table.get(key, MISSING)
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
    if table.open or type(key) in (Sym, Tensor) or any(type(k) in (Sym, Tensor) for k in table):
        value = rt.fresh(site)
        rt.put(table, key, value)
        return value
    raise Raised("KeyError")


def sequence_item(rt: Any, items: Any, key: Any, site: Site) -> Any:
    n = len(items)
    if type(key) is bool or type(key) is int:
        if -n <= key < n:
            return items[key]
        if type(items) is LList and items.open:
            return items[-1] if n else rt.fresh(site)
        raise Raised("IndexError")
    if type(key) is slice:
        bounds = [rt.resolve(x) for x in (key.start, key.stop, key.step)]
        if all(x is None or type(x) is int for x in bounds):
            part = items[slice(*bounds)]
            return LList(part, items.open) if type(items) is LList else part
        return LList(items, True) if type(items) is LList else tuple(items)
    if type(key) in (Sym, Tensor):
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
        key = rt.resolve(key)
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


def truth_of(rt: Any, obj: Obj, site: Site | None) -> bool | None:
    """``bool(obj)`` of an instance."""
    for name in ("__bool__", "__len__"):
        method = obj.cls.find(name)
        if method is not MISSING and site is not None:
            result = rt.shared.calls.call(rt, Bound(method, obj), [], {}, site)
            return rt.known(result)
    if isinstance(obj.data, (tuple, LList, LDict, LSet)):
        return rt.known(obj.data)
    if type(obj.data) in CONST and obj.data is not None:
        return bool(obj.data)
    return True


def text(rt: Any, value: Any, as_repr: bool, site: Site) -> Any:
    """``str(value)`` or ``repr(value)`` where it is known, else an unknown string."""
    kind = type(value)
    if kind is Sym:
        value = rt.resolve(value)
        kind = type(value)
    if kind in CONST:
        return repr(value) if as_repr else str(value)
    if kind in (tuple, LList):
        parts = [text(rt, v, True, site) for v in value]
        if all(type(p) is str for p in parts) and not (kind is LList and value.open):
            if kind is tuple:
                return "(" + ", ".join(parts) + (",)" if len(parts) == 1 else ")")
            return "[" + ", ".join(parts) + "]"
    elif kind is LDict and not value.open:
        pairs = [(text(rt, k, True, site), text(rt, v, True, site)) for k, v in value.items()]
        if all(type(a) is str and type(b) is str for a, b in pairs):
            return "{" + ", ".join(f"{a}: {b}" for a, b in pairs) + "}"
    elif kind is LSet and not value.open and not value:
        return "set()"
    elif kind is Obj:
        for name in ("__repr__",) if as_repr else ("__str__", "__repr__"):
            method = value.cls.find(name)
            if method is not MISSING:
                return rt.shared.calls.call(rt, Bound(method, value), [], {}, site)
        if value.is_a("exception") and isinstance(value.data, tuple) and not as_repr:
            if len(value.data) == 1:
                return text(rt, value.data[0], value.cls.name == "KeyError", site)
            return "" if not value.data else text(rt, value.data, False, site)
    return rt.fresh(site, "str")
