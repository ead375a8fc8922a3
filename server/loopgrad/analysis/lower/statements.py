"""Statements lowered to closures.

``run(frame)`` executes a statement and returns ``None`` or how control leaves it (:data:`BREAK`,
:data:`CONTINUE`, :data:`RETURN`). A statement that yields has a generator form beside it
(``loopgrad.analysis.lower.generators``), so that generators suspend where Python suspends them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..runtime import Frame
from ..signals import Budget, Raised
from ..tape import Tensor
from ..values import CONST, LDict, LList, Obj
from .expressions import OPERATORS, lower
from .functions import lower_class, lower_function
from .imports import lower_import
from .scope import Scope
from .targets import deleter, target
from .trips import is_count
from .waived import NOT, failed

BREAK, CONTINUE, RETURN = "break", "continue", "return"
Run = Callable[[Frame], Any]


def block(body: list[ast.stmt], scope: Scope) -> Run:
    """A sequence of statements."""
    runs = [statement(s, scope) for s in body if not _empty(s)]
    if not runs:
        return lambda f: None
    if len(runs) == 1:
        return runs[0]

    def run(f: Frame) -> Any:
        for r in runs:
            signal = r(f)
            if signal is not None:
                return signal
        return None

    return run


def gen_block(body: list[ast.stmt], scope: Scope) -> Run:
    from .generators import gen_block as lowered

    return lowered(body, scope)


def _empty(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Pass, ast.Global, ast.Nonlocal)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def statement(node: ast.stmt, scope: Scope) -> Run:
    """Lower one statement; the result counts a step and checks the budget."""
    scope.stmt = node
    line = node.lineno
    if _is_plain_def(node, scope):
        return _plain_def(node, scope, line)
    inner = _LOWER[type(node)](node, scope)

    def run(f: Frame) -> Any:
        rt = f.rt
        rt.steps += 1
        if rt.steps > rt.limit:
            raise Budget("steps", line)
        try:
            return inner(f)
        except Raised as error:
            instead = failed(f, error, node, scope)
            if instead is NOT:
                raise
            return instead

    return run


def _expr(node: ast.Expr, scope: Scope) -> Run:
    value = lower(node.value, scope)
    site = scope.site(node.value)
    dropped = (
        isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and node.value.func.attr in ("detach", "requires_grad_")
        and not node.value.args
    )
    if dropped:
        assert isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute)
        owner = lower(node.value.func.value, scope)
        attr = node.value.func.attr

        def run_dropped(f: Frame) -> None:
            obj = owner(f)
            result = f.rt.shared.calls.call(
                f.rt, f.rt.shared.objects.get(f.rt, obj, attr, site), [], {}, site
            )
            if attr == "detach" and type(obj) is Tensor:
                f.rt.shared.tensors.dropped_detach(f.rt, obj, site)
            del result

        return run_dropped

    def run(f: Frame) -> None:
        value(f)

    return run


def _assign(node: ast.Assign, scope: Scope) -> Run:
    value = lower(node.value, scope)
    stores = [target(t, scope) for t in node.targets]
    if len(stores) == 1:
        store = stores[0]
        if is_count(node):

            def run_count(f: Frame) -> None:
                store(f, value(f) * f.rt.times)

            return run_count

        def run(f: Frame) -> None:
            store(f, value(f))

        return run

    def run_many(f: Frame) -> None:
        v = value(f)
        for s in stores:
            s(f, v)

    return run_many


def _annassign(node: ast.AnnAssign, scope: Scope) -> Run:
    if node.value is None:
        if scope.kind == "class" and isinstance(node.target, ast.Name):
            name = node.target.id

            def declare(f: Frame) -> None:
                f.vars.setdefault("__fields__", []).append(name)

            return declare
        return lambda f: None
    value, store = lower(node.value, scope), target(node.target, scope)
    field = node.target.id if scope.kind == "class" and isinstance(node.target, ast.Name) else None

    def run(f: Frame) -> None:
        if field is not None:
            f.vars.setdefault("__fields__", []).append(field)
        store(f, value(f))

    return run


def _augassign(node: ast.AugAssign, scope: Scope) -> Run:
    op, fn = OPERATORS[type(node.op)]
    load = lower(_as_load(node.target), scope)
    value = lower(node.value, scope)
    site = scope.site(node)
    store = target(node.target, scope)
    if isinstance(node.target, ast.Name):

        def run(f: Frame) -> None:
            old = load(f)
            new = value(f)
            store(f, f.rt.shared.ops.inplace(f.rt, op, fn, old, new, site))

        return run
    # `obj.attr += v` evaluates obj once; evaluating it twice is harmless here but for calls inside.
    return lambda f: store(f, f.rt.shared.ops.inplace(f.rt, op, fn, load(f), value(f), site))


def _as_load(node: Any) -> Any:
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Name(node.id, ast.Load()), node)
    if isinstance(node, ast.Attribute):
        return ast.copy_location(ast.Attribute(node.value, node.attr, ast.Load()), node)
    return ast.copy_location(ast.Subscript(node.value, node.slice, ast.Load()), node)


def _return(node: ast.Return, scope: Scope) -> Run:
    if node.value is None:

        def run_none(f: Frame) -> str:
            f.ret = None
            return RETURN

        return run_none
    value = lower(node.value, scope)

    def run(f: Frame) -> str:
        f.ret = value(f)
        return RETURN

    return run


def _raise(node: ast.Raise, scope: Scope) -> Run:
    exc = lower(node.exc, scope) if node.exc is not None else None

    def run(f: Frame) -> None:
        if exc is None and f.rt.error is not None:
            raise f.rt.error
        value = exc(f) if exc is not None else None
        if type(value) in CONST and value is not None:
            raise Raised("TypeError")
        raise Raised(f.rt.shared.exceptions.exception_name(value), value)

    return run


_ASSERTION = frozenset({"AssertionError", "Exception", "BaseException"})


def _assert(node: ast.Assert, scope: Scope) -> Run:
    test = lower(node.test, scope)
    message = lower(node.msg, scope) if node.msg is not None else None
    site = scope.site(node)
    # What a program asserts holds when it runs: only one that says False, or is caught, ends here.
    plain = isinstance(node.test, ast.Constant)

    def run(f: Frame) -> None:
        value = test(f)
        known = f.rt.known(value, site)
        if known is False and (plain or any(caught & _ASSERTION for caught in f.rt.handlers)):
            made = f.rt.shared.exceptions.exception(
                "AssertionError", () if message is None else (message(f),)
            )
            raise Raised("AssertionError", made)

    return run


def _delete(node: ast.Delete, scope: Scope) -> Run:
    drops = [deleter(t, scope) for t in node.targets]

    def run(f: Frame) -> None:
        for drop in drops:
            drop(f)

    return run


def _def(node: Any, scope: Scope) -> Run:
    make = lower_function(node, scope)
    decorators = [lower(d, scope) for d in node.decorator_list]
    store = target(ast.copy_location(ast.Name(node.name, ast.Store()), node), scope)
    site = scope.site(node)

    def run(f: Frame) -> None:
        func: Any = make(f)
        for decorator in reversed(decorators):
            func = f.rt.shared.decorators.decorate(f.rt, decorator(f), func, site)
        store(f, func)

    return run


def _is_plain_def(node: ast.stmt, scope: Scope) -> bool:
    """Whether it is a ``def`` of a module or class that runs nothing else: most of what is imported."""
    if type(node) is not ast.FunctionDef or node.decorator_list:
        return False
    if scope.kind != "module" and (scope.kind != "class" or scope.lookup(node.name)[0] != "class"):
        return False
    defaults = [*node.args.defaults, *node.args.kw_defaults]
    return all(each is None or type(each) is ast.Constant for each in defaults)


def _plain_def(node: Any, scope: Scope, line: int) -> Run:
    make = lower_function(node, scope)
    name = node.name

    def run(f: Frame) -> None:
        rt = f.rt
        rt.steps += 1
        if rt.steps > rt.limit:
            raise Budget("steps", line)
        table = f.vars
        if rt.log is not None:
            rt.note(table, name)
        table[name] = make(f)

    return run


def _class(node: ast.ClassDef, scope: Scope) -> Run:
    make = lower_class(node, scope)
    store = target(ast.copy_location(ast.Name(node.name, ast.Store()), node), scope)
    return lambda f: store(f, make(f))


def _with(node: Any, scope: Scope) -> Run:
    from .protected import lower_with

    return lower_with(node, scope)


def _try(node: Any, scope: Scope) -> Run:
    from .protected import lower_try

    return lower_try(node, scope)


def _if(node: ast.If, scope: Scope) -> Run:
    from .branches import lower_if

    return lower_if(node, scope)


def _for(node: Any, scope: Scope) -> Run:
    from .loops import lower_for

    return lower_for(node, scope)


def _while(node: ast.While, scope: Scope) -> Run:
    from .loops import lower_while

    return lower_while(node, scope)


def _match(node: Any, scope: Scope) -> Run:
    from .branches import lower_match

    return lower_match(node, scope)


def _nothing(node: ast.stmt, scope: Scope) -> Run:
    return lambda f: None


def _break(node: Any, scope: Scope) -> Run:
    def run(f: Frame) -> str:
        return BREAK

    return run


def _continue(node: Any, scope: Scope) -> Run:
    def run(f: Frame) -> str:
        return CONTINUE

    return run


_LOWER: dict[type, Callable[[Any, Scope], Run]] = {
    ast.Expr: _expr,
    ast.Assign: _assign,
    ast.AnnAssign: _annassign,
    ast.AugAssign: _augassign,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Delete: _delete,
    ast.FunctionDef: _def,
    ast.AsyncFunctionDef: _def,
    ast.ClassDef: _class,
    ast.Import: lower_import,
    ast.ImportFrom: lower_import,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.Match: _match,
    ast.Pass: _nothing,
    ast.Global: _nothing,
    ast.Nonlocal: _nothing,
    ast.Break: _break,
    ast.Continue: _continue,
}
for _extra in ("TryStar", "TypeAlias"):
    if hasattr(ast, _extra):
        _LOWER[getattr(ast, _extra)] = _try if _extra == "TryStar" else _nothing

__all__ = [
    "BREAK",
    "CONST",
    "CONTINUE",
    "RETURN",
    "LDict",
    "LList",
    "Obj",
    "block",
    "gen_block",
    "statement",
]
