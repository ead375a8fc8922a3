"""Attributes, items and the printed form of abstract values."""

from __future__ import annotations

import ast
from typing import Any

from ..knowledge import torch_names
from ..lower.nodes import walk
from ..signals import Raised
from ..tape import Tensor
from ..values import (
    CONST,
    MISSING,
    Bound,
    Class,
    ClassMethod,
    Func,
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
)
from ..where import Site
from . import builtins_iterables, builtins_model, containers
from .exceptions import EXCEPTIONS
from .items import append, contains, del_item, item, merge, set_item
from .iteration import generator, iterate, listed, unpack

#: The builtins are entered by importing the modules that describe them.
BUILTINS = (builtins_model, builtins_iterables)
locals_function = Native("locals", lambda rt, site, args, kwargs: LDict(open=True))

__all__ = [
    "append",
    "contains",
    "del_item",
    "generator",
    "item",
    "iterate",
    "listed",
    "locals_function",
    "merge",
    "set_item",
    "unpack",
]


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
            return get(rt, obj.args[1 if rt.part(obj.args[0], site) else 2], name, site)
        return rt.shared.unknowns.attribute(rt, obj, name, site)
    if kind is Namespace:
        return rt.shared.modules.attribute(rt, obj, name, site)
    if kind is UserModule:
        value = obj.globals.get(name, MISSING)
        if value is MISSING:
            value = rt.shared.modules.read(rt, obj.globals, name)
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


def assigned(cls: Class) -> frozenset[str]:
    """The attributes that some method of a class assigns on its first parameter."""
    if cls.sets is None:
        stores = (node for node in walk(cls.node) if isinstance(node, ast.Attribute)) if cls.node else ()
        cls.sets = frozenset(node.attr for node in stores if isinstance(node.ctx, ast.Store))
    return cls.sets


#: Classes of Python's own of which no attribute is left out.
_WHOLE = frozenset({"builtin", "exception", "enum", "namedtuple"})


def open_up(obj: Obj) -> None:
    """From here on a namespace may have any attribute: its table was given away, or a computed name was set."""
    if obj.is_a("namespace"):
        obj.cls = obj.cls.bases[0]


def _missing(rt: Any, obj: Obj, name: str, site: Site) -> Any:
    computed = obj.attrs.get("_parametrized")
    if computed is not None and name in computed:
        return rt.shared.leaf_modules.computed(rt, obj, name, site)
    if name == "__class__":
        return obj.cls
    if name == "__dict__":
        open_up(obj)
        return LDict(obj.attrs)
    if isinstance(obj.data, tuple) and obj.cls.fields is not None:
        for k, (field, _) in enumerate(obj.cls.fields):
            if field == name and k < len(obj.data):
                return obj.data[k]
    getter = obj.cls.find("__getattr__")
    if getter is not MISSING:
        return rt.shared.calls.call(rt, Bound(getter, obj), [name], {}, site)
    if isinstance(obj.data, (tuple, LList, LDict, LSet)) or type(obj.data) in CONST and obj.data is not None:
        return containers.method(rt, obj.data, name, site)
    if obj.cls.opaque or obj.is_a("library"):
        rt.marks += 1
        value = Sym(("attr", obj.cls.name, name, rt.marks))
        obj.attrs[name] = value
        return value
    if name.startswith("__") and name.endswith("__"):
        return Sym(("dunder", name))
    if rt.lenient and any(name in assigned(base) for base in obj.cls.mro):
        # At an entry point other methods have run before: what they set is there, and unknown.
        return obj.attrs.setdefault(name, Sym(("attr", obj.cls.name, name)))
    for kind in ("module", "optimizer"):
        if obj.is_a(kind):
            own = "layer" if kind == "module" and obj.cls.node is None else kind
            if torch_names.has(kind, name) or torch_names.has(own, name):
                return Sym((kind, obj.cls.name, name))
            break
    else:
        # Only a class that is wholly in reach may be without an attribute; a library's has more than its model.
        whole = obj.is_a("namespace") and not rt.lenient
        if not whole and any(base.node is None and not base.flags & _WHOLE for base in obj.cls.mro):
            return Sym(("attr", obj.cls.name, name))
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
    if cls is rt.shared.tensor_class and not name.startswith("__"):
        return rt.shared.libraries.lookup(
            rt, f"torch.Tensor.{name}"
        )  # a method that is not bound to a tensor
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
        if rt.log is not None:
            rt.child(obj, name)  # what it is where this is not run
        rt.put(obj.attrs, name, value)
    elif kind is Class:
        if obj.node is None:  # a library's, which the next run finds as it was
            rt.borrowed.append((obj.ns, name, obj.ns.get(name, MISSING)))
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
