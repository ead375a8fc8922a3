"""The parts of a tensor: its rows, and what an index takes of it."""

from __future__ import annotations

from typing import Any

from ..knowledge import torch_table as table
from ..tape import Tensor
from ..values import MISSING, LList, Sym
from ..where import Site
from .tensors import run_profile


def rows(rt: Any, t: Tensor, site: Site) -> Any:
    """Iterating a tensor: its rows, as ``unbind`` gives them."""
    from ..semantics.iteration import Source

    profile = table.method("getitem#int")
    parts: dict[int, Any] = {}

    def get(i: int) -> Any:
        if t.length is not None and i >= t.length:
            return MISSING
        if i not in parts:
            parts.clear()
            parts[i] = run_profile(rt, "unbind", profile, [t], site)
        return parts[i]

    return Source(get, t.length, True)


def index(rt: Any, t: Any, key: Any, site: Site) -> Any:
    """``t[key]``."""
    profile = table.method("getitem" + index_form(key)) or table.method("getitem#tensor")
    return run_profile(rt, "getitem", profile, [t, key if type(key) is Tensor else None], site)


def index_form(key: Any) -> str:
    """The form of an operation that an index asks for, as the table names it."""
    kind = type(key)
    if kind is Tensor:
        return "#mask" if key.not_float else "#tensor"
    if kind is slice:
        return "#slice"
    if key is None:
        return "#none"
    if kind is LList:
        return "#list"
    if kind is tuple:
        forms = [index_form(k) for k in key]
        for strong in ("#tensor", "#mask", "#list"):
            if strong in forms:
                return "#tensor" if strong == "#list" else strong
        return "#slice"
    if key is Ellipsis:
        return "#ellipsis"
    if kind is Sym and key.kind not in ("number", "any", "call"):
        return "#tensor"
    return "#int"
