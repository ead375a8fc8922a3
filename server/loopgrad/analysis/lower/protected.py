"""Statements that something follows whatever happens in them: ``with`` and ``try``."""

from __future__ import annotations

import ast
from typing import Any

from ..runtime import Frame
from ..signals import Ended, Raised
from .expressions import lower
from .scope import Scope, text_of
from .statements import Run, block
from .targets import target


def lower_with(node: Any, scope: Scope) -> Run:
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


def lower_try(node: Any, scope: Scope) -> Run:
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
