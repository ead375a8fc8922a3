"""``copy``: a deep copy of a module has parameters of its own, one of a tensor with a graph raises.

A shallow copy of a tensor is a leaf over the same memory: it leads to nothing.
"""

from __future__ import annotations

from typing import Any

from ..signals import Raised
from ..tape import Tensor
from ..torch_model import methods, nn, tensors
from ..values import (
    CONST,
    MISSING,
    Bound,
    Class,
    Func,
    LDict,
    LList,
    LSet,
    Namespace,
    Native,
    Obj,
    Sym,
)
from ..where import Site
from .registry import native


@native("copy.copy")
def _copy(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    value = args[0]
    rt.ask(value)
    if type(value) is Tensor:  # a leaf of its own over the same memory, whatever the value was built from
        leaf = methods.method(rt, value, "detach", [], {}, site)
        leaf.leaf_grad, leaf.where = value.requires_grad, rt.where
        return leaf
    if type(value) is Obj:
        made = Obj(value.cls, value.data)
        made.attrs = dict(value.attrs)
        return made
    if isinstance(value, LDict):
        return LDict(value, value.open, value.factory)
    if isinstance(value, LList):
        return LList(value, value.open, value.bounded)
    if isinstance(value, LSet):
        return LSet(value, value.open)
    return value


@native("copy.deepcopy")
def _deepcopy(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    rt.ask(args[0])
    return clone(rt, args[0], site, {})


def clone(rt: Any, value: Any, site: Site, memo: dict[int, Any]) -> Any:
    """A deep copy; of a tensor with a graph it is torch's RuntimeError."""
    kind = type(value)
    if kind in CONST or kind in (Func, Class, Native, Namespace, Sym):
        return value
    if id(value) in memo:
        return memo[id(value)]
    if kind is Tensor:
        if value.node is not None:
            if value.guess == 0:
                raise Raised("RuntimeError", sure=True)
            return value
        made = (
            nn.parameter(rt, site, value.label.rsplit(":", 1)[-1].split("#")[0], value.leaf_grad)
            if value.is_param
            else tensors.graphless(rt, site)
        )
        made.leaf_grad, made.where = value.leaf_grad, rt.where
        made.length, made.shape = value.length, value.shape
        made.grad = value.grad
        memo[id(value)] = made
        return made
    if kind is tuple:
        return tuple(clone(rt, v, site, memo) for v in value)
    if kind is LList:
        out = LList((), value.open, value.bounded)
        memo[id(value)] = out
        list.extend(out, [clone(rt, v, site, memo) for v in value])
        return out
    if kind is LDict:
        table = LDict((), value.open, value.factory)
        memo[id(value)] = table
        for k, v in value.items():
            table[k] = clone(rt, v, site, memo)
        return table
    if kind is Obj:
        hook = value.cls.find("__deepcopy__")
        if hook is not MISSING:
            return rt.shared.calls.call(rt, Bound(hook, value), [LDict()], {}, site)
        obj = Obj(value.cls)
        obj.site = site
        memo[id(value)] = obj
        if value.is_a("module"):
            rt.modules_made.append(obj)
        for name, v in value.attrs.items():
            obj.attrs[name] = clone(rt, v, site, memo)
            if type(obj.attrs[name]) is Tensor and obj.attrs[name].is_param:
                rt.owners[id(obj.attrs[name])] = obj
        obj.data = (
            clone(rt, value.data, site, memo) if isinstance(value.data, (tuple, LList, LDict)) else value.data
        )
        return obj
    if kind is Bound:
        return Bound(value.func, clone(rt, value.self, site, memo))
    return value
