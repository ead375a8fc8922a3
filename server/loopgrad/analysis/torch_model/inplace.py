"""In-place operations: version counters, rebased views, and leaves that forbid them."""

from __future__ import annotations

import ast
from typing import Any

from ..knowledge import torch_table as table
from ..lower.scope import text_of
from ..tape import ALWAYS, DEPENDS, NEVER, Node, Store, Tensor
from ..values import Sym, node_of
from ..where import Site
from .by_number import scalar_profile
from .tensors import _ANSWERS, OPERATORS, binary, bump, doubt, saved_entry, unknown_inside


def operator(rt: Any, op: str, t: Tensor, value: Any, site: Site) -> Any:
    """``t <op>= value``."""
    name = OPERATORS.get(op)
    if name is None or op == "matmul":
        return binary(rt, op, t, value, site)
    return modify(rt, t, name, [value], site)


def modify(
    rt: Any, t: Tensor, name: str, others: list[Any], site: Site | None, profile: Any = None
) -> Tensor:
    """``t.name_(*others)``. Returns ``t``; raises as torch does for a leaf that requires grad."""
    edges = [e for e in (node_of(o) for o in others) if e is not None]
    wants = rt.grad and (t.requires_grad or bool(edges))
    if rt.grad and (t.is_leaf and t.leaf_grad or t.base is not None and t.base.is_leaf and t.base.leaf_grad):
        rt.shared.observe.leaf_inplace(rt, t, site, name)
    if rt.trying and (t.requires_grad or edges):
        rt.happen()
    if any(unknown_inside(o) for o in others):
        doubt(rt, t.base or t)
        doubt(rt, t)
    if not wants:
        bump(rt, t, site, name)
        return t
    rt.events += 1
    saves, saved = _saves(name, profile, t, others)
    old = t.edge()
    view_base = t.base
    if view_base is not None:
        under = view_base.edge()
        inputs = tuple(e for e in (under, *edges) if e is not None)
        node = rt.record(name, inputs, saves if name == "setitem" else ALWAYS, site, saved)
    else:
        node = rt.record(name, tuple(e for e in (old, *edges) if e is not None), saves, site, saved)
    node.guess = max((e.guess for e in node.inputs), default=0)
    remember(rt, node, site)
    bump(rt, t, site, name)
    if saved and saved[-1][3] == "result":
        t.storage.saved = True
        node.saved = (*saved[:-1], (t.storage, t.storage.version, node, "result"))
    if view_base is not None:
        view_base.node = node
        view_base.leaf_grad = False
        view_base.gen += 1
    else:
        t.node = node
        t.leaf_grad = False
        t.gen += 1
    return t


def remember(rt: Any, node: Node, site: Site | None) -> None:
    """An in-place operation stores into what it modifies, under the name that the user wrote."""
    if site is None:
        return
    at: Any = site.node
    while isinstance(at, ast.Call) and isinstance(at.func, ast.Attribute):
        at = at.func.value
    if isinstance(at, ast.AugAssign):
        at = at.target
    if isinstance(at, ast.Subscript):
        at = at.value
    if isinstance(at, (ast.Name, ast.Attribute)):
        kind = "attribute" if isinstance(at, ast.Attribute) else "name"
        frame = rt.frames[-1] if rt.frames else None
        if (
            isinstance(at, ast.Name)
            and frame is not None
            and frame.func is not None
            and at.id not in frame.vars
        ):
            kind = "nonlocal"  # what the function did not bind outlives the call
        node.stores = [Store(site, text_of(at), rt.where, kind, "tensor")]


def _saves(name: str, profile: Any, t: Tensor, others: list[Any]) -> tuple[int, tuple]:
    if name in (
        "zero",
        "fill",
        "copy",
        "normal",
        "uniform",
        "random",
        "bernoulli",
        "exponential",
        "squeeze",
        "unsqueeze",
        "t",
        "transpose",
        "resize",
        "set",
    ):
        return NEVER, ()
    tensors = [o for o in others if type(o) is Tensor or (type(o) is Sym and o.node is not None)]
    if profile is None:
        scalar = (
            scalar_profile(table.method, name, [t, *others], {})
            if tensors
            else table.method(name + "#scalar")
        )
        profile = scalar or table.method(name)
    if profile is None:
        return DEPENDS, ()
    bound: list[Any] = [t, *others][: len(profile.args)]
    mask = "".join("1" if node_of(b) is not None else "0" for b in bound).ljust(len(profile.args), "0")
    fact = profile.fact(mask)
    if fact is None:
        return NEVER, ()
    saved = []
    for k in fact.saved:
        # What the operation overwrites cannot be saved by reference: torch saves a copy of it.
        if 0 < k < len(bound):
            entry = saved_entry(bound[k], profile.args[k])
            if entry is not None and entry[0] is not t.storage:
                saved.append(entry)
    if fact.results:
        saved.append((t.storage, 0, None, "result"))
    return _ANSWERS[fact.raises], tuple(saved)


def set_index(rt: Any, t: Tensor, key: Any, value: Any, site: Site) -> None:
    """``t[key] = value``: a copy into a view of t (CopySlices), or an ``index_put_`` for tensor indices."""
    form = _form(key)
    profile = table.method("setitem" + form)
    saves_profile = profile
    if form in ("#int", "#slice", "#ellipsis") and rt.grad:
        # The write goes through a view: torch rebases the whole history (CopySlices).
        modify_slice(rt, t, value, site)
        return
    modify(rt, t, "setitem", [value], site, saves_profile)


def modify_slice(rt: Any, t: Tensor, value: Any, site: Site) -> None:
    """A write through a view: the base's node becomes a CopySlices, which always fails a second walk."""
    edge = node_of(value)
    if t.is_leaf and t.leaf_grad or t.base is not None and t.base.is_leaf and t.base.leaf_grad:
        rt.shared.observe.leaf_inplace(rt, t, site, "setitem")
    if rt.trying and (t.requires_grad or edge is not None):
        rt.happen()
    if unknown_inside(value):
        doubt(rt, t.base or t)
        doubt(rt, t)
    bump_only = not (t.requires_grad or edge is not None)
    if bump_only:
        bump(rt, t, site, "setitem")
        return
    rt.events += 1
    base = t.base or t
    under = base.edge()
    inputs = tuple(e for e in (under, edge) if e is not None)
    node = rt.record("copy_slices", inputs, ALWAYS, site)
    node.guess = max((e.guess for e in inputs), default=0)
    remember(rt, node, site)
    bump(rt, t, site, "setitem")
    base.node = node
    base.leaf_grad = False
    base.gen += 1
    if t is base:
        t.node = node


def _form(key: Any) -> str:
    from .rows import index_form

    if type(key) is slice and key.start is None and key.stop is None and key.step is None:
        return "#full"
    form = index_form(key)
    return {"#list": "#tensor", "#none": "#full"}.get(form, form)


def detach_(rt: Any, t: Tensor, site: Site) -> Tensor:
    """``t.detach_()``; raises on a view, as torch does."""
    from ..signals import Raised

    if t.base is not None and rt.grad and t.node is not None:
        raise Raised("RuntimeError", sure=True)
    if rt.trying and t.requires_grad:
        rt.happen()
    if t.requires_grad:
        rt.events += 1
    if t.node is not None and t.storage.saved:
        t.node.detached = t.storage.detached = True
    t.node = None
    t.leaf_grad = False
    return t
