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
from ..signals import Budget, Ended, Raised
from ..tape import Tensor
from ..values import CONST, LDict, LList, Obj
from .expressions import OPERATORS, lower
from .functions import lower_class, lower_function
from .imports import lower_import
from .scope import Scope, text_of
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
    items = [
        (
            lower(i.context_expr, scope),
            target(i.optional_vars, scope) if i.optional_vars is not None else None,
            scope.site(i.context_expr),
        )
        for i in node.items
    ]
    body = block(node.body, scope)

    def run(f: Frame) -> Any:
        rt = f.rt
        enter, leave = rt.shared.contexts.enter, rt.shared.contexts.leave
        opened: list[Any] = []
        try:
            for expr, store, site in items:
                manager = expr(f)
                token = enter(rt, manager, site)
                opened.append((manager, token, site))
                if store is not None:
                    store(f, token.value)
            signal = body(f)
        except Raised as error:
            for manager, token, site in opened[::-1]:
                if leave(rt, manager, token, site, error.kind):
                    return None
            raise
        except BaseException:
            for _, token, _ in opened[::-1]:
                rt.shared.contexts.restore(rt, token)
            raise
        for manager, token, site in opened[::-1]:
            leave(rt, manager, token, site, None)
        return signal

    return run


def handler_names(handlers: list[ast.ExceptHandler]) -> frozenset[str]:
    names: set[str] = set()
    for h in handlers:
        if h.type is None:
            names.add("BaseException")
            continue
        kinds = h.type.elts if isinstance(h.type, ast.Tuple) else [h.type]
        names.update(text_of(k).rsplit(".", 1)[-1] for k in kinds)
    return frozenset(names)


def _try(node: Any, scope: Scope) -> Run:
    body = block(node.body, scope)
    handlers = [
        (
            handler_names([h]),
            h.name,
            block(h.body, scope),
            lower(h.type, scope) if h.type is not None else None,
        )
        for h in node.handlers
    ]
    orelse = block(node.orelse, scope) if node.orelse else None
    final = block(node.finalbody, scope) if node.finalbody else None
    names = handler_names(node.handlers)

    def protected(f: Frame) -> Any:
        rt = f.rt
        depth = len(rt.handlers)
        rt.handlers.append(names)
        try:
            signal = body(f)
        except Raised as error:
            del rt.handlers[depth:]
            for caught, name, run, _ in handlers:
                if rt.shared.exceptions.catches(rt, caught, error):
                    if name:
                        value = rt.shared.exceptions.exception_value(rt, error)
                        rt.put(f.vars if f.func is not None or f.cls else f.globals, name, value)
                    before, rt.error = rt.error, error
                    try:
                        return run(f)
                    finally:
                        rt.error = before
            raise
        finally:
            del rt.handlers[depth:]
        if signal is None and orelse is not None:
            return orelse(f)
        return signal

    main = protected if handlers else (body if orelse is None else protected)
    if final is None:
        return main

    def run(f: Frame) -> Any:
        try:
            signal = main(f)
        except (Raised, Ended):
            held = f.ret
            after = final(f)
            if after is not None:
                return after
            f.ret = held
            raise
        held = f.ret
        after = final(f)
        if after is not None:
            return after
        f.ret = held
        return signal

    return run


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
