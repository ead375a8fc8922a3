"""Calling: functions, methods, classes, instances and what is out of reach."""

from __future__ import annotations

from typing import Any

from ..lower.functions import bind_arguments
from ..runtime import Frame
from ..signals import Raised
from ..tape import Tensor
from ..values import (
    CONST,
    MISSING,
    Bound,
    Class,
    ClassMethod,
    Func,
    Namespace,
    Native,
    Obj,
    Partial,
    StaticMethod,
    Super,
    Sym,
)
from ..where import Site, Where

#: Deeper than this a call is not followed; its result is unknown and the file is partly analysed.
MOST_DEPTH = 100


def native(rt: Any, fn: Native, args: list, kwargs: dict[str, Any], site: Site) -> Any:
    """Call a model of a library's function. One that does not fit how it is called says nothing of the result."""
    try:
        return fn.fn(rt, site, args, kwargs)
    except (IndexError, KeyError, TypeError, ValueError, AttributeError):
        return rt.fresh(site)


def call(rt: Any, fn: Any, args: list, kwargs: dict[str, Any], site: Site) -> Any:
    """``fn(*args, **kwargs)``."""
    kind = type(fn)
    if kind is Native:
        return native(rt, fn, args, kwargs, site)
    if kind is Func:
        return function(rt, fn, args, kwargs, site)
    if kind is Bound:
        func = fn.func
        inner = type(func)
        if inner is Native:
            return native(rt, func, [fn.self, *args], kwargs, site)
        if inner is Func:
            return function(rt, func, [fn.self, *args], kwargs, site)
        if inner is StaticMethod:
            return call(rt, func.func, args, kwargs, site)
        if inner is ClassMethod:
            owner = fn.self if type(fn.self) is Class else fn.self.cls
            return call(rt, Bound(func.func, owner), args, kwargs, site)
        if inner is Sym:
            return rt.shared.unknowns.call(rt, func, args, kwargs, site)
        return call(rt, func, [fn.self, *args] if inner is not Obj else args, kwargs, site)
    if kind is Class:
        return rt.shared.classes.instantiate(rt, fn, args, kwargs, site)
    if kind is Obj:
        method = fn.cls.find("__call__")
        if method is not MISSING:
            return call(rt, Bound(method, fn), args, kwargs, site)
        if fn.cls.opaque:
            return rt.shared.unknowns.call(rt, Sym(("obj", fn.cls.name)), [fn, *args], kwargs, site)
        raise Raised("TypeError")
    if kind is Partial:
        return call(rt, fn.func, [*fn.args, *args], {**fn.kwargs, **kwargs}, site)
    if kind is Sym:
        resolved = rt.resolve(fn)
        if resolved is not fn:
            return call(rt, resolved, args, kwargs, site)
        if fn.op == "phi":
            return call(rt, fn.args[1 if rt.part(fn.args[0], site) else 2], args, kwargs, site)
        return rt.shared.unknowns.call(rt, fn, args, kwargs, site)
    if kind is Namespace:
        return rt.shared.unknowns.call(rt, Sym(("lib", fn.name)), args, kwargs, site)
    if kind is StaticMethod:
        return call(rt, fn.func, args, kwargs, site)
    if kind is Super:
        return rt.fresh(site)
    if kind in CONST or kind is Tensor:
        raise Raised("TypeError")
    return rt.fresh(site)


def function(rt: Any, func: Func, args: list, kwargs: dict[str, Any], site: Site) -> Any:
    """Execute a function of the user's."""
    code = func.code
    if code.run is None:
        code.prepare()
    if rt.depth >= MOST_DEPTH:
        rt.partial.append((code.site.file.path, code.node.lineno, "depth"))
        return rt.fresh(site)
    rt.shared.ran.add(id(code.node))
    active = rt.active.setdefault(id(code), [])
    if len(active) >= 2 and _same_walk(active[-1], args):
        return rt.fresh(
            site, "any", node=next((a.node for a in args if type(a) is Sym and a.node), None), guess=2
        )
    variables = bind_arguments(rt, func, args, kwargs, site)
    frame = Frame(rt, code.scope.file, func.globals, variables, func.outer, func)
    if func.owner is not None:
        frame.cls = func.owner
        if code.params:
            frame.self = variables.get(code.params[0])
    if code.is_gen:
        return rt.shared.iteration.generator(rt, code.gen(frame), frame, site)
    parent, grad, inference = rt.where, rt.grad, rt.inference
    rt.where = Where(parent, site, None, 0, rt.serial)
    rt.depth += 1
    rt.frames.append(frame)
    mode = func.mode
    if mode is not None:
        before = rt.mode_site
        rt.grad = mode[0] if mode[0] is not None else rt.grad
        rt.inference = rt.inference or mode[1]
        if not rt.grad or rt.inference:
            rt.mode_site = mode[2]
    active.append(args)
    try:
        code.run(frame)
        return frame.ret
    finally:
        active.pop()
        if mode is not None:
            rt.grad, rt.inference, rt.mode_site = grad, inference, before
        rt.frames.pop()
        rt.depth -= 1
        rt.where = parent
        release(frame, code)


def _same_walk(before: list, now: list) -> bool:
    """Whether a function calls itself on a part of an unknown, all else as before: a walk over what is not known."""
    return any(type(value) is Sym for value in now) and all(
        type(value) is Sym or value is other or (type(value) in CONST and value == other)
        for value, other in zip(now, before)
    )


def release(frame: Frame, code: Any) -> None:
    """Drop the variables that no inner function reads, as the end of a call does in Python.

    Without it, an inner function that is part of a reference cycle would keep every local alive and
    a graph would seem to be kept.
    """
    captured = code.captured
    if not captured:
        frame.vars = {}
        return
    for name in [n for n in frame.vars if n not in captured]:
        del frame.vars[name]


def arg(args: list, kwargs: dict[str, Any], index: int, name: str, default: Any = None) -> Any:
    """The argument of a native call by position or name."""
    if len(args) > index:
        return args[index]
    return kwargs.get(name, default)
