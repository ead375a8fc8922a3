"""What lies inside of a value: its tensors as plain data, and whether a graph could notice that it is there."""

from __future__ import annotations

from typing import Any

from .tape import Tensor
from .values import CONST, MISSING, Bound, Class, Func, LDict, LList, LSet, Native, Obj, Partial, Sym


def parts_of(key: Any, limit: int) -> int:
    """How many parts an unknown's key has, counted up to ``limit``."""
    n, stack = 0, [key]
    while stack and n < limit:
        item = stack.pop()
        n += 1
        if type(item) is tuple:
            stack.extend(item)
    return n


def shape_of(value: Any, depth: int = 3) -> Any:
    """The nesting of tensors in a value as plain data: "tensor", ("tuple", …), ("object", name, fields)."""
    kind = type(value)
    if kind is Tensor or (kind is Sym and value.node is not None):
        return "tensor"
    if depth <= 0:
        return "other"
    if kind is tuple:
        return ("tuple", *(shape_of(v, depth - 1) for v in value))
    if kind is LList:
        return ("list", *(shape_of(v, depth - 1) for v in value[:8]))
    if kind is LDict:
        return ("dict", *(shape_of(v, depth - 1) for v in list(value.values())[:8]))
    if kind is Obj:
        fields = ((k, shape_of(v, 1)) for k, v in value.attrs.items() if has_graph(v))
        return ("object", value.cls.name, tuple(fields))
    if kind is Sym:
        return "unknown"
    return "other"


def has_graph(value: Any) -> bool:
    """Whether a value is a tensor with a graph, or a tuple or list that holds one."""
    if type(value) is Tensor or type(value) is Sym:
        return value.node is not None
    return type(value) in (tuple, LList) and any(has_graph(part) for part in value[:8])


def relevant(value: Any, depth: int = 3) -> bool:
    """Whether a graph could notice that this value is there: it carries one, or can make one."""
    kind = type(value)
    if kind in CONST or value is MISSING:
        return False
    if kind is Tensor:
        return value.requires_grad
    if kind is Sym:
        return value.node is not None or (
            value.op == "phi" and any(relevant(a, depth) for a in value.args[1:])
        )
    if kind in (Func, Native, Partial, Bound):
        return True
    if kind is Obj:
        if value.is_a("inert"):
            return False
        if depth <= 0 or not value.cls.opaque and value.cls.node is None and not value.is_a("module"):
            return value.is_a("optimizer") or bool(value.data)
        return True
    if isinstance(value, (tuple, LList, LDict, LSet)):
        if depth <= 0:
            return True
        items = list(value.values()) if isinstance(value, dict) else list(value)
        return any(relevant(v, depth - 1) for v in items[:64])
    return kind is Class
