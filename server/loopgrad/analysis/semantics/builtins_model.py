"""Python's builtin functions on abstract values."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

from ..lower.scope import text_of
from ..signals import Ended, Raised
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
    Native,
    Obj,
    Property,
    StaticMethod,
    Sym,
    hashable,
)
from .containers import lifted, plain

TABLE: dict[str, Any] = {}


def native(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(fn: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            TABLE[name] = Native(name, fn)
        return fn

    return add


@native("print")
def _print(rt: Any, site: Any, args: list, kwargs: dict) -> None:
    if rt.prints is not None and not rt.trying:
        parts = [rt.shared.objects.text(rt, a, False, site) for a in args]
        sep = kwargs.get("sep", " ")
        known = all(type(p) is str for p in parts) and type(sep) in (str, type(None))
        rt.prints.append((site.line, (sep or " ").join(parts) if known else None))


@native("len")
def _len(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    value = rt.resolve(args[0])
    kind = type(value)
    rt.ask(value)
    if kind in (LList, LDict, LSet):
        if kind is LList and value.bounded is not None and len(value) >= value.bounded:
            return value.bounded
        if kind is LSet and len(value) > 1 and any(type(each) is Sym for each in value):
            return rt.fresh(site, "number")  # two unknowns may be one
        return len(value) if not value.open else rt.fresh(site, "number")
    if kind in (str, bytes, tuple, range):
        return len(value)
    if kind is Tensor:
        return value.length if value.length is not None else rt.fresh(site, "number")
    if kind is Obj:
        method = value.cls.find("__len__")
        if method is not MISSING:
            return rt.shared.calls.call(rt, Bound(method, value), [], {}, site)
        if isinstance(value.data, (tuple, LList, LDict, LSet)):
            return _len(rt, site, [value.data], {})
        return rt.fresh(site, "number")
    if kind is Sym:
        return Sym(("len", value.key), "number")
    if kind in CONST:
        raise Raised("TypeError")
    return rt.fresh(site, "number")


@native("isinstance", "issubclass")
def _isinstance(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    return rt.shared.classes.isinstance(rt, args[0], args[1], site)


@native("hasattr")
def _hasattr(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    obj, name = args[0], args[1]
    if type(obj) is Obj and type(name) is str:
        rt.ask(obj.attrs)
        if name in obj.attrs or obj.cls.find(name) is not MISSING:
            return True
        return (
            Sym(("hasattr", obj.cls.name, name), "bool") if obj.cls.opaque or obj.is_a("library") else False
        )
    if type(obj) is Sym:
        return Sym(("hasattr", obj.key, name if type(name) is str else "?"), "bool")
    if type(obj) is Tensor:
        return name in (
            "shape",
            "grad",
            "data",
            "detach",
            "backward",
            "device",
            "dtype",
            "item",
            "cpu",
            "size",
        )
    if type(name) is str:
        try:
            rt.shared.objects.get(rt, obj, name, site)
        except Raised:
            return False
        return True
    return rt.fresh(site, "bool")


@native("getattr")
def _getattr(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    if type(args[1]) is not str:
        return rt.fresh(site)
    if type(args[0]) is Obj and len(args) > 2:
        rt.ask(args[0].attrs)
    try:
        return rt.shared.objects.get(rt, args[0], args[1], site)
    except Raised as error:
        if len(args) > 2 and error.kind == "AttributeError":
            return args[2]
        raise


@native("setattr")
def _setattr(rt: Any, site: Any, args: list, kwargs: dict) -> None:
    if type(args[1]) is str:
        rt.stored(args[2], site, _attribute_text(site, args[1]), "attribute")
        rt.shared.objects.set(rt, args[0], args[1], args[2], site)
    elif type(args[0]) is Obj:
        rt.shared.objects.open_up(args[0])


def _attribute_text(site: Any, name: str) -> str:
    """How an attribute is written that a ``setattr`` sets, with its owner where the call is written out."""
    call = site.node
    if (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "setattr"
        and call.args
    ):
        owner = call.args[0]
        if isinstance(owner, (ast.Name, ast.Attribute)):
            return f"{text_of(owner)}.{name}"
    return name


@native("delattr")
def _delattr(rt: Any, site: Any, args: list, kwargs: dict) -> None:
    if type(args[0]) is Obj and type(args[1]) is str:
        rt.note(args[0].attrs, args[1])
        args[0].attrs.pop(args[1], None)


def _number(name: str, cast: Callable[..., Any]) -> None:
    def run(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
        if not args:
            return cast()
        value = rt.resolve(args[0])
        if type(value) in CONST and all(type(a) in CONST for a in args):
            try:
                return cast(value, *args[1:], **kwargs)
            except (ValueError, TypeError, OverflowError) as error:
                raise Raised(type(error).__name__) from None
        if type(value) is Obj:
            method = value.cls.find("__int__" if name == "int" else "__float__")
            if method is not MISSING:
                return rt.shared.calls.call(rt, Bound(method, value), [], {}, site)
            if type(value.data) in (int, float):
                return cast(value.data)
        if type(value) is Sym and value.node is None:
            return Sym((name, value.key), "number")
        return rt.fresh(site, "number")

    TABLE[name] = Native(name, run)


for _name, _cast in (("int", int), ("float", float), ("complex", complex)):
    _number(_name, _cast)


@native("bool")
def _bool(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    if not args:
        return False
    known = rt.known(args[0], site)
    if known is not None:
        return known
    return args[0] if type(args[0]) is Sym and args[0].node is None else rt.fresh(site, "bool")


@native("str")
def _str(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    if args:
        rt.ask(args[0])
    return rt.shared.objects.text(rt, args[0], False, site) if args else ""


@native("repr", "ascii")
def _repr(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    return rt.shared.objects.text(rt, args[0], True, site)


@native("format")
def _format(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    if all(type(a) in CONST for a in args):
        try:
            return format(*args)
        except (ValueError, TypeError) as error:
            raise Raised(type(error).__name__) from None
    return rt.fresh(site, "str")


def _computed(name: str, fn: Callable[..., Any]) -> None:
    def run(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
        values = [plain(rt.resolve(a)) for a in args]
        if all(v is not MISSING for v in values) and all(plain(v) is not MISSING for v in kwargs.values()):
            if name in ("pow",) and not all(abs(v) < 1e4 for v in values):
                return rt.fresh(site, "number")
            try:
                return lifted(fn(*values, **kwargs))
            except Exception as error:
                raise Raised(type(error).__name__) from None
        if type(args[0]) is Tensor and name in ("abs", "round", "pow"):
            return rt.shared.tensors.method(rt, args[0], name, args[1:], kwargs, site)
        if type(args[0]) is Obj and name == "abs" and args[0].cls.find("__abs__") is not MISSING:
            return rt.shared.calls.call(rt, Bound(args[0].cls.find("__abs__"), args[0]), [], {}, site)
        return rt.fresh(site, "number")

    TABLE[name] = Native(name, run)


for _name, _fn in (
    ("abs", abs),
    ("round", round),
    ("pow", pow),
    ("divmod", divmod),
    ("ord", ord),
    ("chr", chr),
    ("hex", hex),
    ("bin", bin),
    ("oct", oct),
    ("bytes", bytes),
    ("hash", hash),
):
    _computed(_name, _fn)


@native("list")
def _list(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    if not args:
        return LList()
    items, more = rt.shared.objects.listed(rt, args[0], site)
    return LList(items, more)


@native("tuple")
def _tuple(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    if not args:
        return ()
    value = args[0]
    if type(value) is Sym:
        return value  # what an unknown holds stays the same unknown
    items, _ = rt.shared.objects.listed(rt, value, site)
    return tuple(items)


@native("set", "frozenset")
def _set(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    if not args:
        return LSet()
    items, more = rt.shared.objects.listed(rt, args[0], site)
    return LSet([hashable(i) for i in items], more)


@native("dict")
def _dict(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    out = LDict()
    for other in args:
        if type(other) not in (LDict, Sym, Obj):
            items, more = rt.shared.objects.listed(rt, other, site)
            other = LList(items, more)
        rt.shared.objects.merge(rt, out, other, site)
    for name, value in kwargs.items():
        out[name] = value
    return out


@native("type")
def _type(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    if len(args) == 3:
        bases = list(args[1]) if type(args[1]) is tuple else []
        if not isinstance(args[2], dict):
            return rt.fresh(site, "object")
        return rt.shared.classes.build(rt, str(args[0]), bases, dict(args[2]), None, {}, site)
    return rt.shared.classes.type_of(rt, args[0], site)


@native("id")
def _id(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    return rt.fresh(site, "number")


@native("callable")
def _callable(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    kind = type(args[0])
    if kind is Sym:
        return Sym(("callable", args[0].key), "bool")
    if kind is Obj:
        return args[0].cls.find("__call__") is not MISSING
    return kind in (Func, Native, Class, Bound)


@native("property")
def _property(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    return Property(args[0] if args else kwargs.get("fget"), args[1] if len(args) > 1 else None)


@native("staticmethod")
def _staticmethod(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    return StaticMethod(args[0])


@native("classmethod")
def _classmethod(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    return ClassMethod(args[0])


@native("slice")
def _slice(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    return slice(*args)


@native("exit", "quit")
def _exit(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    raise Ended


@native("input")
def _input(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    return rt.fresh(site, "str")


@native("open")
def _open(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    return rt.fresh(site, "object")


@native("vars")
def _vars(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    if args and type(args[0]) is Obj:
        rt.shared.objects.open_up(args[0])
        return LDict(args[0].attrs)
    return LDict(open=True)


@native("globals")
def _globals(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    if rt.frames:
        rt.shared.modules.read_all(rt, rt.frames[-1].globals)
    return LDict(rt.frames[-1].globals if rt.frames else {}, open=True)


@native("exec", "eval", "compile", "__import__")
def _opaque(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    return rt.fresh(site)


@native("super")
def _super(rt: Any, site: Any, args: list, kwargs: dict) -> Any:
    return rt.fresh(site)


TABLE.update(
    {"NotImplemented": NotImplemented, "Ellipsis": ..., "__debug__": True, "__builtins__": Sym(("builtins",))}
)
MATH = {name: getattr(math, name) for name in dir(math) if not name.startswith("_")}
