"""Decorators, and functions that run in a grad mode of their own."""

from __future__ import annotations

from typing import Any

from ..values import MISSING, Bound, Class, Func, Namespace, Native, Obj, Partial, Sym
from ..where import Site


def decorate(rt: Any, decorator: Any, target: Any, site: Site) -> Any:
    """``@decorator`` on a function or class."""
    kind = type(decorator)
    if kind is Sym or kind is Namespace:
        return target
    if kind is Obj and decorator.is_a("gradmode"):
        return in_mode(rt, decorator, target, site)
    if kind is Class and "gradmode" in decorator.flags:
        return with_mode(target, (*decorator.ns["mode"], site))
    if kind in (Native, Func, Bound, Partial, Class, Obj):
        made = rt.shared.calls.call(rt, decorator, [target], {}, site)
        return target if type(made) is Sym and type(target) is Class else made
    return target


def in_mode(rt: Any, manager: Obj, target: Any, site: Site) -> Any:
    """``torch.no_grad()(target)``; ``set_grad_enabled``, which took effect when it was made, gives that up."""
    if "prev" in manager.attrs:
        rt.grad = manager.attrs["prev"]
    return with_mode(target, (*manager.data, manager.site or site))


def with_mode(target: Any, mode: Any) -> Any:
    """A function that runs in a grad mode; ``mode`` is (grad, inference, the place that set it)."""
    if type(target) is Bound and type(target.func) is Func:
        return Bound(with_mode(target.func, mode), target.self)
    if (
        type(target) in (Bound, Partial, Native)
        or type(target) is Obj
        and target.cls.find("__call__") is not MISSING
    ):
        return Native("in_mode", lambda rt, site, args, kwargs: _run_in(rt, target, mode, args, kwargs, site))
    if type(target) is not Func:
        return target
    made = Func(target.code, target.name, target.globals, target.outer)
    made.defaults, made.kwdefaults, made.owner = target.defaults, target.kwdefaults, target.owner
    made.attrs = target.attrs
    made.mode = mode
    return made


def _run_in(rt: Any, target: Any, mode: Any, args: list, kwargs: dict, site: Site) -> Any:
    before = rt.grad, rt.inference, rt.mode_site
    rt.grad = mode[0] if mode[0] is not None else rt.grad
    rt.inference = rt.inference or mode[1]
    if not rt.grad or rt.inference:
        rt.mode_site = mode[2]
    try:
        return rt.shared.calls.call(rt, target, args, kwargs, site)
    finally:
        rt.grad, rt.inference, rt.mode_site = before
