"""Classes: building, instances and ``isinstance``."""

from __future__ import annotations

from typing import Any

from ..signals import Raised
from ..tape import Tensor
from ..values import (
    CONST,
    MISSING,
    Bound,
    Class,
    ClassMethod,
    Func,
    Iter,
    LDict,
    LList,
    LSet,
    Namespace,
    Native,
    Obj,
    Property,
    StaticMethod,
    Sym,
)
from ..where import Site


def _nothing(rt: Any, site: Any, args: list, kwargs: dict) -> None:
    return None


def _setattr(rt: Any, site: Any, args: list, kwargs: dict) -> None:
    if len(args) == 2:  # super().__setattr__(name, value) of a class without a base
        args = [rt.frames[-1].self if rt.frames else None, *args]
    if len(args) != 3:
        raise Raised("TypeError")
    obj, name, value = args
    if type(obj) is Obj and type(name) is str:
        rt.put(obj.attrs, name, value)


OBJECT: dict[str, Any] = {
    "__init__": Native("__init__", _nothing),
    "__init_subclass__": Native("__init_subclass__", _nothing),
    "__setattr__": Native("__setattr__", _setattr),
}

#: Python's own types as classes, for isinstance, subclassing and ``type(x)``.
TYPES: dict[str, Class] = {
    name: Class(name)
    for name in (
        "object",
        "int",
        "float",
        "str",
        "bool",
        "bytes",
        "tuple",
        "list",
        "dict",
        "set",
        "frozenset",
        "complex",
        "type",
        "NoneType",
        "function",
        "generator",
        "range",
        "slice",
    )
}
for _n in TYPES.values():
    _n.flags = frozenset({"builtin"})

_KINDS: dict[type, str] = {
    int: "int",
    float: "float",
    str: "str",
    bool: "bool",
    bytes: "bytes",
    tuple: "tuple",
    LList: "list",
    LDict: "dict",
    LSet: "set",
    complex: "complex",
    type(None): "NoneType",
    Func: "function",
    Iter: "generator",
    range: "range",
    slice: "slice",
}
_ABSTRACT = {
    "Sequence": ("list", "tuple", "str", "range"),
    "Iterable": ("list", "tuple", "str", "dict", "set", "range", "generator"),
    "Mapping": ("dict",),
    "MutableMapping": ("dict",),
    "MutableSequence": ("list",),
    "Number": ("int", "float", "bool", "complex"),
    "Callable": ("function",),
    "Iterator": ("generator",),
    "Collection": ("list", "tuple", "dict", "set"),
    "Hashable": ("int", "str", "float", "tuple"),
}


def type_of(rt: Any, value: Any, site: Site) -> Any:
    """``type(value)``."""
    if type(value) is Sym:
        value = rt.resolve(value)
    kind = type(value)
    if kind is Obj:
        return value.cls
    if kind in _KINDS:
        from .builtins_model import TABLE

        name = _KINDS[kind]
        return TABLE.get(name, TYPES[name])
    if kind is Tensor:
        return rt.shared.tensor_class
    if kind is Class:
        return TYPES["type"]
    return Sym(("type", value.key)) if kind is Sym else rt.fresh(site)


def build(
    rt: Any,
    name: str,
    parents: list,
    ns: dict[str, Any],
    node: Any,
    keywords: dict[str, Any],
    site: Site,
) -> Class:
    """Make a class from its evaluated bases and body."""
    bases: list[Class] = []
    opaque = False
    for parent in parents:
        if type(parent) is Class:
            bases.append(parent)
        elif type(parent) is Native and parent.name in TYPES:
            bases.append(_container_class(parent.name))
        elif type(parent) is Native and parent.name in _COLLECTIONS:
            bases.append(_container_class(parent.name, parent))
        elif type(parent) is Native:
            opaque = True
        elif type(parent) is Sym or type(parent) is Namespace:
            opaque = opaque or not _harmless(parent)
    unique = [b for i, b in enumerate(bases) if b not in bases[:i]]
    cls = Class(name, tuple(unique), ns)
    rt.knots += (ns, cls.mro)
    cls.opaque = cls.opaque or opaque
    cls.node = node
    meta = keywords.get("metaclass")
    if type(meta) is Class and meta.node is not None or any("meta" in base.flags for base in unique):
        cls.flags |= {"meta"}  # the user's metaclass may make anything of a call
        cls.opaque = True
    if rt.frames or site is not None:
        cls.module = site.file if site is not None else None
    fields = ns.pop("__fields__", [])
    if "namedtuple" in cls.flags:
        cls.fields = [(n, ns.get(n, MISSING)) for n in fields]
    elif fields:
        inherited = [f for b in reversed(cls.mro[1:]) for f in b.fields or []]
        own = [(n, ns.get(n, MISSING)) for n in fields]
        cls.fields = [f for f in inherited if f[0] not in {n for n, _ in own}] + own
    if "enum" in cls.flags:
        _enum(cls)
    hook = next((c.ns["__init_subclass__"] for c in cls.mro[1:] if "__init_subclass__" in c.ns), None)
    if hook is not None:
        func = hook.func if type(hook) is ClassMethod else hook
        rt.shared.calls.call(rt, Bound(func, cls), [], keywords, site)
    return cls


def _harmless(parent: Any) -> bool:
    name = parent.name if type(parent) is Namespace else str(parent.key)
    return any(word in name for word in ("ABC", "Generic", "Protocol", "typing", "object", "ABCMeta"))


_CONTAINERS: dict[str, Class] = {}

#: The containers of ``collections`` that are subclassed, and what they are like.
_COLLECTIONS = {"OrderedDict": "dict", "defaultdict": "dict", "Counter": "dict", "deque": "list"}


def _container_class(name: str, made_by: Native | None = None) -> Class:
    """``class X(dict)``: an instance whose data is the container, made by a model of its class."""
    if name not in _CONTAINERS:
        kind = _COLLECTIONS.get(name, name)
        cls = Class(name, (_container_class(kind),) if kind != name else ())

        def init(rt: Any, site: Any, args: list, kwargs: dict) -> None:
            from .builtins_model import TABLE

            obj = args[0]
            if kind in ("dict", "list", "set"):
                obj.data = (made_by or TABLE[kind]).fn(rt, site, args[1:], kwargs)

        def new(rt: Any, cls_: Class, args: list, kwargs: dict, site: Site) -> Any:
            from .builtins_model import TABLE

            obj = Obj(cls_)
            obj.data = {"dict": LDict, "list": LList, "set": LSet, "tuple": tuple}.get(kind, lambda: None)()
            if name in ("int", "float", "str", "tuple") and args:
                obj.data = TABLE[name].fn(rt, site, args[:1], {})
            return obj

        cls.ns["__init__"] = Native("__init__", init)
        cls.build = new
        _CONTAINERS[name] = cls
    return _CONTAINERS[name]


def _enum(cls: Class) -> None:
    members = LDict()
    counter = 0
    for name, value in list(cls.ns.items()):
        if name.startswith("_") or type(value) in (Func, Native, Property, StaticMethod, ClassMethod, Class):
            continue
        counter += 1
        if type(value) is Sym and "auto" in str(value.key):
            value = counter
        member = Obj(
            cls, value if type(value) in (int, str, float) and {"intenum", "strenum"} & cls.flags else None
        )
        member.attrs.update(name=name, value=value, _name_=name, _value_=value)
        members[name] = member
        cls.ns[name] = member
    if members:
        cls.ns["__members__"] = members


def instantiate(rt: Any, cls: Class, args: list, kwargs: dict[str, Any], site: Site) -> Any:
    if "meta" in cls.flags:
        return rt.shared.unknowns.call(rt, Sym(("metaclass", cls.name)), args, kwargs, site)
    if "enum" in cls.flags and len(args) > 1:
        return rt.fresh(site, "object")  # Enum("Colour", "RED GREEN") makes a class
    return _instantiate(rt, cls, args, kwargs, site)


def _instantiate(rt: Any, cls: Class, args: list, kwargs: dict[str, Any], site: Site) -> Any:
    """``cls(*args, **kwargs)``."""
    members = cls.ns.get("__members__")
    if members is not None:
        for member in members.values():
            if args and member.attrs["value"] == args[0]:
                return member
        return next(iter(members.values()))
    if "namedtuple" in cls.flags and cls.fields is not None:
        return _namedtuple(rt, cls, args, kwargs)
    maker = cls.find("__new__")
    if type(maker) is StaticMethod or type(maker) is Func:
        func = maker.func if type(maker) is StaticMethod else maker
        obj = rt.shared.calls.call(rt, func, [cls, *args], kwargs, site)
        if type(obj) is not Obj or obj.cls is not cls:
            return obj
    elif cls.build is not None:
        obj = cls.build(rt, cls, args, kwargs, site)
        if type(obj) is not Obj:
            return obj
    else:
        obj = Obj(cls)
    obj.site = site
    init = cls.find("__init__")
    if init is not MISSING:
        rt.shared.calls.call(rt, Bound(init, obj), args, kwargs, site)
    elif "dataclass" in cls.flags:
        dataclass_init(rt, obj, args, kwargs, site)
    elif cls.opaque:
        for k, value in enumerate(args):
            obj.attrs.setdefault(f"_arg{k}", value)
    elif (
        (args or kwargs) and cls.build is None and "builtin" not in cls.flags and "exception" not in cls.flags
    ):
        raise Raised("TypeError")
    return obj


def new(rt: Any, args: list, kwargs: dict, site: Site) -> Any:
    """``super().__new__(cls)``."""
    if args and type(args[0]) is Class:
        cls = args[0]
        return cls.build(rt, cls, args[1:], kwargs, site) if cls.build is not None else Obj(cls)
    return rt.fresh(site)


def _namedtuple(rt: Any, cls: Class, args: list, kwargs: dict[str, Any]) -> Obj:
    obj = Obj(cls)
    values = list(args)
    for k, (name, default) in enumerate(cls.fields or []):
        if k < len(args):
            continue
        value = kwargs.get(name, default)
        if value is MISSING:
            raise Raised("TypeError")
        values.append(value)
    obj.data = tuple(values)
    return obj


def dataclass_init(rt: Any, obj: Obj, args: list, kwargs: dict[str, Any], site: Site) -> None:
    values = list(args)
    for name, default in obj.cls.fields or []:
        if type(default) is Obj and default.cls.name == "Field":
            if default.attrs.get("init") is False and "factory" not in default.attrs:
                continue
        if values:
            value = values.pop(0)
        elif name in kwargs:
            value = kwargs[name]
        elif type(default) is Obj and default.cls.name == "Field":
            factory = default.attrs.get("factory")
            value = (
                rt.shared.calls.call(rt, factory, [], {}, site)
                if factory is not None
                else default.attrs.get("default", MISSING)
            )
            if value is MISSING:
                raise Raised("TypeError")
        elif default is MISSING:
            raise Raised("TypeError")
        else:
            value = default
        rt.put(obj.attrs, name, value)
    post = obj.cls.find("__post_init__")
    if post is not MISSING:
        rt.shared.calls.call(rt, Bound(post, obj), [], {}, site)


def isinstance(rt: Any, value: Any, classes: Any, site: Site) -> Any:
    """``isinstance(value, classes)``."""
    if type(classes) is tuple:
        results = [isinstance(rt, value, c, site) for c in classes]
        if any(r is True for r in results):
            return True
        unknown = [r for r in results if r is not False]
        return unknown[0] if unknown else False
    if type(value) is Sym:
        value = rt.resolve(value)
    rt.ask(value)
    kind = type(value)
    if type(classes) is Obj or type(classes) is Sym or type(classes) is Namespace:
        name = classes.name if type(classes) is Namespace else str(getattr(classes, "key", ""))
        for abstract, kinds in _ABSTRACT.items():
            if name.rstrip("')").endswith(abstract) and kind is not Sym:
                return _KINDS.get(kind) in kinds
        if kind is not Sym and kind is not Obj and kind in _KINDS:
            return False
        return Sym(("isinstance", value.key, name), "bool") if kind is Sym else rt.fresh(site, "bool")
    name = classes.name if type(classes) in (Class, Native) else ""
    if kind is Sym:
        if classes in rt.shared.tensor_classes and value.node is not None and value.guess <= 1:
            return True
        if value.kind == "str" and name == "str":
            return True
        if value.kind in ("number", "str", "bool") and type(classes) is Class:
            return False  # what .item() gave is no tensor
        return Sym(("isinstance", value.key, name), "bool")
    if kind is Obj:
        if type(classes) is Class:
            if classes in value.cls.mro:
                return True
            if classes.name == "object":
                return True
            return rt.fresh(site, "bool") if value.cls.opaque else False
        if name in ("tuple", "list", "dict", "set", "int", "float", "str"):
            return _KINDS.get(type(value.data)) == name
        return False
    if kind is Tensor:
        if name.endswith("Tensor") and type(classes) is Native:
            return rt.fresh(site, "bool")  # torch.FloatTensor: a matter of its numbers and its device
        return classes in rt.shared.tensor_classes or (name == "Parameter" and value.is_param)
    if kind is Class:
        return type(classes) is Class and (classes in value.mro or classes.name == "type") or name == "type"
    actual = _KINDS.get(kind, "")
    if name == "object":
        return True
    if name == "int" and actual == "bool":
        return True
    return actual == name


__all__ = [
    "CONST",
    "OBJECT",
    "TYPES",
    "build",
    "instantiate",
    "isinstance",
]
