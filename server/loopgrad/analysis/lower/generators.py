"""The generator form of statements: Python generators that suspend where the program's do.

Only the statements of a generator function that contain a ``yield`` are lowered here; the others run
as everywhere else. Each form yields the values of the program's ``yield`` and returns the control signal.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator
from typing import Any

from ..runtime import Frame
from ..signals import Budget, Raised
from ..values import MISSING, Iter
from ..where import LoopRun, Where
from .branches import lower_cases
from .expressions import lower
from .protected import handler_names
from .scope import Scope, has_yield
from .statements import BREAK, CONTINUE, RETURN, block, statement
from .targets import target
from .yields import Hoist

Gen = Callable[[Frame], Generator[Any, Any, Any]]

#: A generator that never ends is cut when its consumer stops asking; inside one step it may loop this often.
MOST_TRIPS = 512


def gen_block(body: list[ast.stmt], scope: Scope) -> Gen:
    parts: list[tuple[bool, Any]] = []
    for stmt in body:
        if has_yield([stmt]):
            scope.stmt = stmt
            parts.append((True, _gen(stmt, scope)))
        else:
            parts.append((False, statement(stmt, scope)))

    def run(f: Frame) -> Generator[Any, Any, Any]:
        for suspends, part in parts:
            if suspends:
                f.rt.steps += 1
                if f.rt.steps > f.rt.limit:
                    raise Budget("steps", 0)
                signal = yield from part(f)
            else:
                signal = part(f)
            if signal is not None:
                return signal
        return None

    return run


def _yielded(node: Any, scope: Scope) -> Gen:
    """The generator form of an expression that is a yield itself; its result is what was sent."""
    if isinstance(node, ast.Yield):
        value = lower(node.value, scope) if node.value is not None else None

        def give(f: Frame) -> Generator[Any, Any, Any]:
            sent = yield (value(f) if value is not None else None)
            return sent

        return give
    if isinstance(node, ast.YieldFrom):
        inner = lower(node.value, scope)
        site = scope.site(node)

        def give_all(f: Frame) -> Generator[Any, Any, Any]:
            given = inner(f)
            source = f.rt.shared.objects.iterate(f.rt, given, site)
            i, sent = 0, None
            while i < MOST_TRIPS:
                item = source.get(i) if sent is None else given.send(sent)
                if item is MISSING:
                    break
                sent = yield item
                if type(given) is not Iter or given.send is None:
                    sent = None
                i += 1
            ended = getattr(given, "source", None)
            return ended[1] if type(ended) is tuple else None

        return give_all
    return _with_yields(node, scope, lower)


def _with_yields(node: Any, scope: Scope, lowered: Callable[[Any, Scope], Callable[[Frame], Any]]) -> Gen:
    """The generator form of an expression or a simple statement, ``lowered`` without its yields."""
    hoist, stmt = Hoist(scope), scope.stmt
    rest = hoist.rest(node)
    before = gen_block(hoist.before, scope)
    scope.stmt = stmt
    plain, names = lowered(rest, scope), hoist.names

    def run(f: Frame) -> Generator[Any, Any, Any]:
        yield from before(f)
        result = plain(f)
        for name in names:
            f.rt.put(f.vars, name, None)
        return result

    return run


def _gen(node: ast.stmt, scope: Scope) -> Gen:
    if isinstance(node, ast.Expr):
        value = _yielded(node.value, scope)

        def run(f: Frame) -> Generator[Any, Any, Any]:
            yield from value(f)
            return None

        return run
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        assert node.value is not None
        value = _yielded(node.value, scope)
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        stores = [target(t, scope) for t in targets]

        def assign(f: Frame) -> Generator[Any, Any, Any]:
            v = yield from value(f)
            for store in stores:
                store(f, v)
            return None

        return assign
    if isinstance(node, ast.Return):
        assert node.value is not None
        value = _yielded(node.value, scope)

        def leave(f: Frame) -> Generator[Any, Any, Any]:
            f.ret = yield from value(f)
            return RETURN

        return leave
    special = _COMPOUND.get(type(node))
    return special(node, scope) if special is not None else _with_yields(node, scope, statement)


def _if(node: ast.If, scope: Scope) -> Gen:
    test = _yielded(node.test, scope)
    body, orelse = gen_block(node.body, scope), gen_block(node.orelse, scope)
    site = scope.site(node.test)

    def run(f: Frame) -> Generator[Any, Any, Any]:
        if f.rt.truth((yield from test(f)), site):
            return (yield from body(f))
        return (yield from orelse(f))

    return run


def _for(node: Any, scope: Scope) -> Gen:
    iterable, store = _yielded(node.iter, scope), target(node.target, scope)
    body, orelse = gen_block(node.body, scope), gen_block(node.orelse, scope)
    site = scope.site(node)

    def run(f: Frame) -> Generator[Any, Any, Any]:
        rt = f.rt
        source = rt.shared.objects.iterate(rt, (yield from iterable(f)), site)
        loop = LoopRun(site, "for")
        i = 0
        while i < MOST_TRIPS:
            item = source.get(i)
            if item is MISSING:
                break
            parent = rt.where
            rt.where = Where(parent, None, loop, i + 1)
            store(f, item)
            signal = yield from body(f)
            if signal is not None and signal is not CONTINUE:
                return None if signal is BREAK else signal
            i += 1
        return (yield from orelse(f))

    return run


def _while(node: ast.While, scope: Scope) -> Gen:
    test = _yielded(node.test, scope)
    body, orelse = gen_block(node.body, scope), gen_block(node.orelse, scope)
    site = scope.site(node.test)

    def run(f: Frame) -> Generator[Any, Any, Any]:
        rt = f.rt
        i = 0
        loop = LoopRun(scope.site(node), "while")
        while i < MOST_TRIPS:
            known = rt.known((yield from test(f)), site)
            if known is False or (known is None and i >= 4):
                return (yield from orelse(f))
            rt.where = Where(rt.where, None, loop, i + 1)
            signal = yield from body(f)
            if signal is not None and signal is not CONTINUE:
                return None if signal is BREAK else signal
            i += 1
        return None

    return run


def _with(node: Any, scope: Scope) -> Gen:
    items = [
        (
            _yielded(i.context_expr, scope),
            target(i.optional_vars, scope) if i.optional_vars is not None else None,
            scope.site(i.context_expr),
        )
        for i in node.items
    ]
    body = gen_block(node.body, scope)

    def run(f: Frame) -> Generator[Any, Any, Any]:
        rt = f.rt
        opened: list[Any] = []
        for expr, store, site in items:
            manager = yield from expr(f)
            token = rt.shared.contexts.enter(rt, manager, site)
            opened.append((manager, token, site))
            if store is not None:
                store(f, token.value)
        try:
            signal = yield from body(f)
        except Raised as error:
            for manager, token, site in opened[::-1]:
                if rt.shared.contexts.leave(rt, manager, token, site, error.kind):
                    return None
            raise
        for manager, token, site in opened[::-1]:
            rt.shared.contexts.leave(rt, manager, token, site, None)
        return signal

    return run


def _try(node: Any, scope: Scope) -> Gen:
    body, orelse, final = (gen_block(b, scope) for b in (node.body, node.orelse, node.finalbody))
    handlers = [(handler_names([h]), h.name, gen_block(h.body, scope)) for h in node.handlers]

    def guarded(f: Frame) -> Generator[Any, Any, Any]:
        try:
            signal = yield from body(f)
        except Raised as error:
            for caught, name, run in handlers:
                if f.rt.shared.exceptions.catches(f.rt, caught, error):
                    if name:
                        f.rt.put(f.vars, name, f.rt.shared.exceptions.exception_value(f.rt, error))
                    return (yield from run(f))
            raise
        if signal is None:
            signal = yield from orelse(f)
        return signal

    def run_all(f: Frame) -> Generator[Any, Any, Any]:
        try:
            signal = yield from guarded(f)
        except Raised:
            after = yield from final(f)
            if after is not None:
                return after
            raise
        held = f.ret
        after = yield from final(f)
        if after is not None:
            return after
        f.ret = held
        return signal

    return run_all


def _match(node: Any, scope: Scope) -> Gen:
    subject = _yielded(node.subject, scope)
    chosen = lower_cases(node, scope, gen_block)

    def run(f: Frame) -> Generator[Any, Any, Any]:
        body = chosen(f, (yield from subject(f)))
        return (yield from body(f)) if body is not None else None

    return run


_COMPOUND: dict[type, Callable[[Any, Scope], Gen]] = {
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.Match: _match,
}
if hasattr(ast, "TryStar"):
    _COMPOUND[ast.TryStar] = _try

__all__ = ["block", "gen_block"]
