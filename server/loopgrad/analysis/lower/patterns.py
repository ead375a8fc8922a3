"""``match`` patterns lowered to tests: ``test(frame, value)`` gives True, False or None (unknown)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..runtime import Frame
from ..tape import Tensor
from ..values import CONST, MISSING, Class, LDict, LList, Obj, Sym
from .expressions import lower
from .scope import Scope
from .targets import target

Test = Callable[[Frame, Any], "bool | None"]


def _bind(name: str | None, node: ast.AST, scope: Scope) -> Callable[[Frame, Any], None] | None:
    if name is None:
        return None
    return target(ast.copy_location(ast.Name(name, ast.Store()), node), scope)


def _every(results: list[bool | None]) -> bool | None:
    if any(r is False for r in results):
        return False
    return None if any(r is None for r in results) else True


def pattern(node: Any, scope: Scope) -> Test:
    """Lower one pattern."""
    if isinstance(node, ast.MatchValue):
        expected = lower(node.value, scope)
        site = scope.site(node.value)
        return lambda f, v: f.rt.known(
            f.rt.shared.ops.compare(f.rt, "eq", lambda a, b: a == b, v, expected(f), site)
        )
    if isinstance(node, ast.MatchSingleton):
        return lambda f, v: (v is node.value) if type(v) is not Sym else None
    if isinstance(node, ast.MatchAs):
        inner = pattern(node.pattern, scope) if node.pattern is not None else None
        bind = _bind(node.name, node, scope)

        def capture(f: Frame, v: Any) -> bool | None:
            fits = inner(f, v) if inner is not None else True
            if fits is not False and bind is not None:
                bind(f, v)
            return fits

        return capture
    if isinstance(node, ast.MatchOr):
        tests = [pattern(p, scope) for p in node.patterns]

        def either(f: Frame, v: Any) -> bool | None:
            unknown = False
            for test in tests:
                fits = test(f, v)
                if fits:
                    return True
                unknown = unknown or fits is None
            return None if unknown else False

        return either
    if isinstance(node, ast.MatchSequence):
        return _sequence(node, scope)
    if isinstance(node, ast.MatchMapping):
        return _mapping(node, scope)
    if isinstance(node, ast.MatchClass):
        return _class(node, scope)
    return lambda f, v: None


def _sequence(node: ast.MatchSequence, scope: Scope) -> Test:
    star = next((i for i, p in enumerate(node.patterns) if isinstance(p, ast.MatchStar)), None)
    tests: list[Any] = []
    for p in node.patterns:
        tests.append(_bind(p.name, p, scope) if isinstance(p, ast.MatchStar) else pattern(p, scope))

    def run(f: Frame, v: Any) -> bool | None:
        if not isinstance(v, (tuple, LList)):
            return None if type(v) is Sym else False
        n, items = len(tests), list(v)
        if star is None:
            if len(items) != n:
                return False
            return _every([t(f, x) for t, x in zip(tests, items)])
        if len(items) < n - 1:
            return False
        after = n - star - 1
        results = [t(f, x) for t, x in zip(tests[:star], items)]
        if after:
            results += [t(f, x) for t, x in zip(tests[star + 1 :], items[-after:])]
        fits = _every(results)
        if fits is not False and tests[star] is not None:
            tests[star](f, LList(items[star : len(items) - after]))
        return fits

    return run


def _mapping(node: ast.MatchMapping, scope: Scope) -> Test:
    keys = [lower(k, scope) for k in node.keys]
    tests = [pattern(p, scope) for p in node.patterns]
    rest = _bind(node.rest, node, scope)

    def run(f: Frame, v: Any) -> bool | None:
        if type(v) is not LDict:
            return None if type(v) is Sym else False
        used = []
        results: list[bool | None] = []
        for key, test in zip(keys, tests):
            k = key(f)
            used.append(k)
            value = v.get(k, MISSING)
            if value is MISSING:
                return None if v.open else False
            results.append(test(f, value))
        fits = _every(results)
        if fits is not False and rest is not None:
            rest(f, LDict({k: x for k, x in v.items() if k not in used}, v.open))
        return fits

    return run


_BUILTIN = {
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "bytes": bytes,
    "tuple": tuple,
    "list": LList,
    "dict": LDict,
}


def _class(node: ast.MatchClass, scope: Scope) -> Test:
    cls = lower(node.cls, scope)
    positional = [pattern(p, scope) for p in node.patterns]
    named = [(k, pattern(p, scope)) for k, p in zip(node.kwd_attrs, node.kwd_patterns)]
    site = scope.site(node.cls)

    def run(f: Frame, v: Any) -> bool | None:
        rt = f.rt
        fits = rt.known(rt.shared.classes.isinstance(rt, v, cls(f), site))
        if fits is False:
            return False
        results: list[bool | None] = [fits]
        if type(v) is Obj:
            names = v.cls.find("__match_args__")
            order = list(names) if isinstance(names, tuple) else [n for n, _ in v.cls.fields or []]
            for name, test in zip(order, positional):
                results.append(test(f, rt.shared.objects.get(rt, v, name, site)))
            for name, test in named:
                results.append(test(f, rt.shared.objects.get(rt, v, name, site)))
        elif positional and (type(v) in CONST or isinstance(v, (tuple, LList, LDict, Tensor))):
            results.append(positional[0](f, v))
        return _every(results)

    return run


__all__ = ["Class", "pattern"]
