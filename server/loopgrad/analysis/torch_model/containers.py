"""Modules that hold modules: ``Sequential``, ``ModuleList``, ``ModuleDict`` and their kin."""

from __future__ import annotations

from typing import Any

from ..semantics.calls import arg
from ..signals import Raised
from ..tape import Tensor
from ..values import Class, LDict, LList, Native, Obj, Sym
from ..where import Site
from .nn import MODULE, PARAMETER, _init, make_parameter


def _ordered(obj: Obj) -> list[Any]:
    return [
        v
        for k, v in obj.attrs.items()
        if k not in ("training", "_hooks", "_pre_hooks", "_buffer_names", "_names")
        and (type(v) is Obj and (v.is_a("module") or v.cls.opaque) or type(v) is Tensor or type(v) is Sym)
    ]


def _fill(rt: Any, obj: Obj, values: list[Any], site: Site, start: int = 0) -> None:
    for k, value in enumerate(values):
        _put(rt, obj, str(start + k), value, site)


def _put(rt: Any, obj: Obj, name: str, value: Any, site: Site) -> None:
    """Hold a value under a name; a container of parameters makes a parameter of a plain tensor."""
    if type(value) is Tensor and not value.is_param and obj.is_a("parameters"):
        value = make_parameter(rt, PARAMETER, [value], {}, site)
    rt.put(obj.attrs, name, value)


def _sequential_init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    obj = args[0]
    _init(rt, site, [obj], {})
    if len(args) == 2 and type(args[1]) is LDict:
        for name, value in args[1].items():
            obj.attrs[str(name)] = value
    else:
        _fill(rt, obj, args[1:], site)


def _sequential_forward(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    value = args[1] if len(args) > 1 else next(iter(kwargs.values()), None)
    for module in _ordered(args[0]):
        value = rt.shared.calls.call(rt, module, [value], {}, site)
    return value


def _list_init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    _init(rt, site, [args[0]], {})
    given = arg(args, kwargs, 1, "modules")
    if given is not None:
        items, _ = rt.shared.objects.listed(rt, given, site)
        _fill(rt, args[0], items, site)


def _dict_init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    _init(rt, site, [args[0]], {})
    given = arg(args, kwargs, 1, "modules")
    if given is not None:
        table_ = LDict()
        rt.shared.objects.merge(rt, table_, given, site)
        for name, value in table_.items():
            _put(rt, args[0], str(name), value, site)


def _append(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    _fill(rt, args[0], [args[1]], site, len(_ordered(args[0])))
    return args[0]


def _extend(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    items, _ = rt.shared.objects.listed(rt, args[1], site)
    _fill(rt, args[0], items, site, len(_ordered(args[0])))
    return args[0]


def _getitem(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    obj, key = args[0], rt.resolve(args[1])
    items = _ordered(obj)
    if type(key) is int:
        if -len(items) <= key < len(items):
            return items[key]
        raise Raised("IndexError")
    if type(key) is str:
        return obj.attrs.get(key, rt.fresh(site))
    if type(key) is slice and all(x is None or type(x) is int for x in (key.start, key.stop, key.step)):
        made = Obj(obj.cls if not obj.cls.node else SEQUENTIAL)
        made.attrs["training"] = True
        for k, item in enumerate(items[key]):
            made.attrs[str(k)] = item
        return made
    return items[-1] if items else rt.fresh(site)


def _setitem(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    _put(rt, args[0], str(args[1]), args[2], site)


def _len(rt: Any, site: Site, args: list, kwargs: dict) -> int:
    return len(_ordered(args[0]))


def _iter(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LList(_ordered(args[0]))


def _items(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LList(
        [(k, v) for k, v in args[0].attrs.items() if type(v) is Tensor or type(v) is Obj and v.is_a("module")]
    )


def _keys(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LList(
        [k for k, v in args[0].attrs.items() if type(v) is Tensor or type(v) is Obj and v.is_a("module")]
    )


def _contains(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return args[1] in args[0].attrs if type(args[1]) is str else rt.fresh(site, "bool")


SEQUENTIAL: Class = Class("Sequential", (MODULE,))


MODULE_LIST: Class = Class("ModuleList", (MODULE,))


MODULE_DICT: Class = Class("ModuleDict", (MODULE,))


PARAMETER_LIST: Class = Class("ParameterList", (MODULE,))
PARAMETER_LIST.flags |= {"parameters"}


PARAMETER_DICT: Class = Class("ParameterDict", (MODULE,))
PARAMETER_DICT.flags |= {"parameters"}


_COMMON = {
    "__getitem__": _getitem,
    "__setitem__": _setitem,
    "__len__": _len,
    "append": _append,
    "extend": _extend,
}


for _cls, _methods in (
    (
        SEQUENTIAL,
        {"__init__": _sequential_init, "forward": _sequential_forward, "__iter__": _iter, **_COMMON},
    ),
    (MODULE_LIST, {"__init__": _list_init, "__iter__": _iter, **_COMMON}),
    (PARAMETER_LIST, {"__init__": _list_init, "__iter__": _iter, **_COMMON}),
    (
        MODULE_DICT,
        {
            "__init__": _dict_init,
            "__iter__": _keys,
            "__contains__": _contains,
            "items": _items,
            "keys": _keys,
            "values": _iter,
            **_COMMON,
        },
    ),
    (
        PARAMETER_DICT,
        {
            "__init__": _dict_init,
            "__iter__": _keys,
            "__contains__": _contains,
            "items": _items,
            "keys": _keys,
            "values": _iter,
            **_COMMON,
        },
    ),
):
    for _name, _fn in _methods.items():
        _cls.ns[_name] = Native(_name, _fn)
