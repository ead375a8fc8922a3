"""``dataclasses`` and ``enum``."""

from __future__ import annotations

from typing import Any

from ..values import (
    Class,
    LDict,
    LList,
    Native,
    Obj,
)
from ..where import Site
from .registry import TABLE, native


@native(
    "dataclasses.dataclass",
    "dataclasses.dataclass_transform",
    "attr.s",
    "attrs.define",
    "pydantic.dataclasses.dataclass",
)
def _dataclass(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    def mark(cls: Any) -> Any:
        if type(cls) is Class:
            cls.flags = cls.flags | {"dataclass"}
            if cls.fields is None:
                cls.fields = [f for b in reversed(cls.mro[1:]) for f in b.fields or []]
        return cls

    if args:
        return mark(args[0])
    return Native("dataclass", lambda rt_, s, a, k: mark(a[0]))


FIELD = Class("Field")
FIELD.flags = frozenset({"inert"})


@native("dataclasses.field")
def _field(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    made = Obj(FIELD)
    if "default_factory" in kwargs:
        made.attrs["factory"] = kwargs["default_factory"]
    if "default" in kwargs:
        made.attrs["default"] = kwargs["default"]
    made.attrs["init"] = kwargs.get("init", True)
    return made


@native("dataclasses.replace")
def _replace(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    if type(args[0]) is not Obj:
        return rt.fresh(site)
    made = Obj(args[0].cls)
    made.attrs = dict(args[0].attrs)
    for name, value in kwargs.items():
        rt.stored(value, site, name, "field")
        made.attrs[name] = value
    return made


@native("dataclasses.asdict")
def _asdict(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LDict(args[0].attrs) if type(args[0]) is Obj else rt.fresh(site)


@native("dataclasses.fields")
def _fields(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    cls = args[0].cls if type(args[0]) is Obj else args[0]
    out = LList()
    for name, _ in getattr(cls, "fields", None) or []:
        entry = Obj(FIELD)
        entry.attrs["name"] = name
        out.append(entry)
    return out


ENUM = Class("Enum")
ENUM.flags = frozenset({"enum"})
for _name, _flags in (("Enum", ()), ("IntEnum", ("intenum",)), ("StrEnum", ("strenum",)), ("Flag", ())):
    _cls = Class(_name, (ENUM,))
    _cls.flags = ENUM.flags | set(_flags)
    TABLE[f"enum.{_name}"] = _cls
