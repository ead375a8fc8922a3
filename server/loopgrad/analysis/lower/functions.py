"""Functions, lambdas and classes lowered to closures, and what binding arguments means."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..runtime import Frame
from ..signals import Raised
from ..values import CONST, MORE, Class, Func, LDict, Obj
from ..where import Site
from .nodes import walk_all
from .scope import Scope, bind, has_yield


class Code:
    """A function's code: lowered when it is first called, so that a file costs what is run of it."""

    __slots__ = (
        "args",
        "body",
        "captured",
        "gen",
        "is_gen",
        "name",
        "node",
        "owner",
        "params",
        "scope",
        "site",
        "stmt",
        "run",
    )

    def __init__(self, node: Any, scope: Scope) -> None:
        self.node = node
        self.scope = scope
        #: The statement that a lambda stands in, known while that is lowered.
        self.stmt = scope.stmt
        self.name = getattr(node, "name", "<lambda>")
        a: ast.arguments = node.args
        self.params = [p.arg for p in [*a.posonlyargs, *a.args]]
        self.args = a
        self.is_gen = False
        self.run: Callable[[Frame], Any] | None = None
        self.gen: Callable[[Frame], Any] | None = None
        self.site = Site(scope.file, node, node, scope.name)

    def prepare(self) -> None:
        """Lower the body."""
        from .expressions import lower
        from .statements import block, gen_block

        body = self.node.body
        self.is_gen = not isinstance(self.node, ast.Lambda) and has_yield(body)
        inner = Scope("function", self.name, self.scope.file, self.scope)
        inner = bind(inner, [body] if isinstance(self.node, ast.Lambda) else body, self.args)
        self.captured = (
            inner.captured | names_inside(body if isinstance(body, list) else [body]) & inner.locals
        )
        if isinstance(self.node, ast.Lambda):
            inner.stmt = self.stmt
            expr = lower(body, inner)

            def evaluate(f: Frame) -> Any:
                f.ret = expr(f)

            self.run = evaluate
        elif self.is_gen:
            self.gen = gen_block(body, inner)
            self.run = lambda f: None
        else:
            self.run = block(body, inner)


def names_inside(body: list[Any]) -> set[str]:
    """The names that functions, generators and classes inside a body read: these variables outlive the call.

    Inner functions are lowered at their first call, which may come after this one has returned.
    """
    outlive = [node for node in walk_all(body) if type(node) in _OUTLIVE]
    return {node.id for node in walk_all(outlive) if type(node) is ast.Name} if outlive else set()


_OUTLIVE = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.GeneratorExp, ast.ClassDef})


def lower_function(node: Any, scope: Scope) -> Callable[[Frame], Any]:
    """A ``def`` or ``lambda``: evaluates to a :class:`Func` closed over the frame."""
    from .expressions import lower

    code = Code(node, scope)
    a: ast.arguments = node.args
    defaults = [lower(d, scope) for d in a.defaults]
    kwdefaults = [(p.arg, lower(d, scope)) for p, d in zip(a.kwonlyargs, a.kw_defaults) if d is not None]
    name = code.name

    def make(f: Frame) -> Func:
        func = Func(code, name, f.globals, f if scope.kind != "module" else None)
        if scope.kind == "class":
            func.outer = f.outer
        if func.outer is not None:
            f.rt.knots.append(func.outer)
        if defaults:
            func.defaults = tuple(d(f) for d in defaults)
        if kwdefaults:
            func.kwdefaults = {k: d(f) for k, d in kwdefaults}
        return func

    return make


def bind_arguments(rt: Any, func: Func, args: list, kwargs: dict[str, Any], site: Any) -> dict[str, Any]:
    """The variables of a call. A missing argument is Python's TypeError; at an entry point it is unknown."""
    a: ast.arguments = func.code.args
    params: list[str] = func.code.params
    out: dict[str, Any] = {}
    n = len(params)
    given = len(args)
    if given <= n:
        for name, value in zip(params, args):
            out[name] = value
    else:
        for name, value in zip(params, args):
            out[name] = value
        if a.vararg is None and MORE not in kwargs:
            raise Raised("TypeError")
    if a.vararg is not None:
        out[a.vararg.arg] = tuple(args[n:])
    extra: dict[str, Any] | None = None
    more = False
    if kwargs:
        only = {p.arg for p in a.kwonlyargs}
        for name, value in kwargs.items():
            if name is MORE:
                more = True
            elif name in only or (name in params and name not in out):
                out[name] = value
            elif a.kwarg is not None:
                if extra is None:
                    extra = {}
                extra[name] = value
            else:
                raise Raised("TypeError")
    if a.kwarg is not None:
        out[a.kwarg.arg] = LDict(extra or {}, open=more)
    defaults = func.defaults
    first = n - len(defaults)
    for i in range(given if given < n else n, n):
        name = params[i]
        if name not in out:
            if more:
                out[name] = rt.fresh(site)
            elif i >= first:
                out[name] = defaults[i - first]
            else:
                raise Raised("TypeError")
    for p in a.kwonlyargs:
        if p.arg not in out:
            if more:
                out[p.arg] = rt.fresh(site)
            elif p.arg in func.kwdefaults:
                out[p.arg] = func.kwdefaults[p.arg]
            else:
                raise Raised("TypeError")
    return out


def lower_class(node: ast.ClassDef, scope: Scope) -> Callable[[Frame], Any]:
    """A ``class`` statement: evaluates to a :class:`Class`."""
    from .expressions import lower
    from .statements import block

    inner = bind(Scope("class", node.name, scope.file, scope), node.body, None)
    inner.stmt = node
    bases = [lower(b.value if isinstance(b, ast.Starred) else b, scope) for b in node.bases]
    keywords = [(k.arg, lower(k.value, scope)) for k in node.keywords if k.arg]
    body = block(node.body, inner)
    decorators = [lower(d, scope) for d in node.decorator_list]
    site = scope.site(node)
    name = node.name

    def make(f: Frame) -> Any:
        rt = f.rt
        parents = [b(f) for b in bases]
        ns: dict[str, Any] = {}
        frame = Frame(rt, f.file, f.globals, ns, f if scope.kind != "module" else None, f.func)
        if scope.kind == "class":
            frame.outer = f.outer
        body(frame)
        made = rt.shared.classes.build(rt, name, parents, ns, node, {k: v(f) for k, v in keywords}, site)
        if isinstance(made, Class):
            for value in ns.values():
                kind = type(value)
                if kind is Func:
                    value.owner = made
                elif kind not in CONST:
                    for inner_func in (getattr(value, "func", None), getattr(value, "getter", None)):
                        if type(inner_func) is Func:
                            inner_func.owner = made
        for decorator in reversed(decorators):
            made = rt.shared.decorators.decorate(rt, decorator(f), made, site)
        return made

    return make


__all__ = ["Code", "Obj", "bind_arguments", "lower_class", "lower_function"]
