"""``with``: entering and leaving context managers; grad mode is one of them."""

from __future__ import annotations

from typing import Any

from ..signals import Raised
from ..tape import Tensor
from ..values import MISSING, Bound, Iter, Obj, Sym
from ..where import Site


class Token:
    """What entering a context manager gave, and the grad mode before it."""

    __slots__ = ("grad", "inference", "mode_site", "value")

    def __init__(self, value: Any, grad: bool, inference: bool, mode_site: Any = None) -> None:
        self.mode_site = mode_site
        self.value = value
        self.grad = grad
        self.inference = inference


def enter(rt: Any, manager: Any, site: Site) -> Token:
    """``manager.__enter__()``."""
    if type(manager) is Sym:
        manager = rt.resolve(manager)
        if type(manager) is Sym and manager.op == "phi":
            manager = manager.args[1 if rt.part(manager.args[0], site) else 2]
    token = Token(manager, rt.grad, rt.inference, rt.mode_site)
    kind = type(manager)
    if kind is Obj:
        if manager.is_a("gradmode"):
            grad, inference = manager.data
            if type(grad) is Sym:
                grad = rt.truth(grad, site)
            if "prev" in manager.attrs:
                token.grad = manager.attrs["prev"]  # set_grad_enabled took effect when it was made
            if grad is not None:
                rt.grad = grad
            if not rt.grad or inference:
                rt.mode_site = site
            rt.inference = rt.inference or inference
            token.value = None
            return token
        if manager.is_a("generator-context"):
            value = rt.shared.iteration.advance(rt, manager.data, site)
            if value is MISSING:
                raise Raised("RuntimeError")
            token.value = value
            return token
        method = manager.cls.find("__enter__")
        if method is not MISSING:
            token.value = rt.shared.calls.call(rt, Bound(method, manager), [], {}, site)
    elif kind is Sym:
        token.value = rt.child(manager, "__enter__") if manager.kind != "object" else manager
    elif kind is Tensor or kind is Iter:
        token.value = manager
    return token


def leave(rt: Any, manager: Any, token: Token, site: Site, error: str | None) -> bool:
    """``manager.__exit__(...)``; True where it swallows the exception."""
    if type(manager) is Sym:
        manager = rt.resolve(manager)
    swallow = False
    if type(manager) is Obj:
        if manager.is_a("generator-context"):
            if error is None:
                rt.shared.iteration.advance(rt, manager.data, site)
        elif manager.is_a("suppress"):
            swallow = error is not None and (
                not manager.data or error in manager.data or "Exception" in manager.data
            )
        elif not manager.is_a("gradmode"):
            method = manager.cls.find("__exit__")
            if method is not MISSING:
                extra: list[Any] = [None, None, None] if error is None else [error, rt.fresh(site), None]
                result = rt.shared.calls.call(rt, Bound(method, manager), extra, {}, site)
                swallow = error is not None and rt.known(result) is True
    restore(rt, token, manager)
    return swallow


def restore(rt: Any, token: Token, manager: Any = None) -> None:
    """Put the grad mode back to what it was before the ``with``."""
    if (
        manager is None
        or type(manager) is Obj
        and (manager.is_a("gradmode") or manager.is_a("generator-context"))
    ):
        rt.grad, rt.inference, rt.mode_site = token.grad, token.inference, token.mode_site
