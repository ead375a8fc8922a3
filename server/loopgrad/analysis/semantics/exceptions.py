"""Exceptions: Python's own as classes, their instances, and which ``except`` catches which."""

from __future__ import annotations

import builtins
from typing import Any

from ..signals import Raised
from ..values import Class, Native, Obj

EXCEPTIONS: dict[str, Class] = {}


def _exception_init(rt: Any, site: Any, args: list, kwargs: dict) -> None:
    obj = args[0]
    obj.data = tuple(args[1:])
    obj.attrs["args"] = tuple(args[1:])


def _make_exceptions() -> None:
    def build(kind: type) -> Class:
        if kind.__name__ in EXCEPTIONS:
            return EXCEPTIONS[kind.__name__]
        base = kind.__bases__[0]
        cls = Class(kind.__name__, (build(base),) if base is not object else ())
        cls.flags = cls.flags | {"exception", "inert"}
        if base is object:
            cls.ns["__init__"] = Native("__init__", _exception_init)
        EXCEPTIONS[kind.__name__] = cls
        return cls

    for value in vars(builtins).values():
        if isinstance(value, type) and issubclass(value, BaseException):
            build(value)


_make_exceptions()


def exception(kind: str, args: tuple) -> Obj:
    """An instance of one of Python's own exceptions."""
    made = Obj(EXCEPTIONS.get(kind, EXCEPTIONS["Exception"]), args)
    made.attrs["args"] = args
    return made


def exception_value(rt: Any, error: Raised) -> Any:
    """The object that ``except … as name`` binds."""
    if type(error.value) is Class:
        return rt.shared.classes.instantiate(rt, error.value, [], {}, rt.current)
    if error.value is None:
        text = "" if error.kind == "StopIteration" else rt.fresh(rt.current, "str")
        error.value = exception(error.kind, (text,) if text != "" else ())
    return error.value


def exception_name(value: Any) -> str:
    if type(value) is Class:
        return value.name
    if type(value) is Obj:
        return value.cls.name
    return "Exception"


def catches(rt: Any, caught: frozenset[str], error: Raised) -> bool:
    """Whether ``except caught`` catches the error."""
    if "BaseException" in caught:
        return True
    names: list[str]
    if type(error.value) is Obj or type(error.value) is Class:
        cls: Any = error.value.cls if type(error.value) is Obj else error.value
        names = [c.name for c in cls.mro]
        if cls.opaque:
            names.append("Exception")
    elif error.kind in EXCEPTIONS:
        names = [c.name for c in EXCEPTIONS[error.kind].mro]
    else:
        names = [error.kind, "Exception"]
    if "IOError" in caught or "EnvironmentError" in caught:
        caught = caught | {"OSError"}
    return any(n in caught for n in names)
