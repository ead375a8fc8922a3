"""Conditions lowered to closures: ``and`` and ``or``, comparisons, ``a if c else b``.

What is not known is put together as Python evaluates it, and decided only where something could notice.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from ..runtime import Frame
from ..signals import Raised
from ..values import CONST, MISSING, Sym
from .expressions import Eval, lower
from .nodes import walk
from .scope import Scope

COMPARISONS: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("eq", operator.eq),
    ast.NotEq: ("ne", operator.ne),
    ast.Lt: ("lt", operator.lt),
    ast.LtE: ("le", operator.le),
    ast.Gt: ("gt", operator.gt),
    ast.GtE: ("ge", operator.ge),
    ast.Is: ("is", operator.is_),
    ast.IsNot: ("isnot", operator.is_not),
    ast.In: ("in", lambda a, b: a in b),
    ast.NotIn: ("notin", lambda a, b: a not in b),
}


def calls_inside(node: ast.AST) -> bool:
    """Whether evaluating this could have an effect: it calls something that is not plainly a question."""
    for inner in walk(node):
        if isinstance(inner, ast.Call):
            fn = inner.func
            name = fn.id if isinstance(fn, ast.Name) else fn.attr if isinstance(fn, ast.Attribute) else ""
            if name not in _QUESTIONS:
                return True
        elif isinstance(inner, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
            return True
    return False


_QUESTIONS = frozenset(
    "len isinstance hasattr callable getattr size dim numel is_tensor is_available get keys values items startswith endswith "
    "lower upper strip int float str bool abs min max all any issubclass type isnan isinf isfinite item sum exists isdir isfile "
    "device_count get_rank get_world_size is_initialized is_main_process".split()
)


def lower_boolop(node: ast.BoolOp, scope: Scope) -> Eval:
    """``and``/``or``: short-circuits where known; stays one unknown where evaluating on has no effect."""
    parts = [lower(v, scope) for v in node.values]
    effects = [calls_inside(v) for v in node.values]
    stop = isinstance(node.op, ast.Or)
    op = "or" if stop else "and"
    site = scope.site(node)
    last = len(parts) - 1

    def run(f: Frame) -> Any:
        rt = f.rt
        pending: list[Sym] = []
        for i, part in enumerate(parts):
            try:
                value = part(f)
            except Raised:
                if not pending:
                    raise
                value = rt.fresh(site, "bool")
            if i == last and not pending:
                return value
            known = rt.known(value, site)
            if known is None:
                if type(value) is not Sym:
                    if i == last:
                        pending.append(rt.fresh(site, "bool"))
                        break
                    if rt.decide(rt.fresh(site, "bool"), site) is stop:
                        return value
                    continue
                carries = value.node is not None
                if i < last and (effects[i + 1] or carries):
                    for sym in pending:
                        if rt.decide(sym, site) is stop:
                            return sym
                    pending = []
                    if rt.decide(value, site) is stop:
                        return value
                    continue
                pending.append(value)
            elif known is stop:
                if not pending:
                    return value
                if value is not stop:  # `a or default`: which of the two it is stays open
                    if type(value) in CONST or type(value) is Sym:
                        return _choice(rt, pending, value, stop, site)
                    for sym in pending:
                        if rt.decide(sym, site) is stop:
                            return sym
                    return value
                pending.append(_true_sym(stop))
            elif i == last:
                if type(value) is not bool:
                    for sym in pending:
                        if rt.decide(sym, site) is stop:
                            return sym
                    return value
        if len(pending) == 1:
            return pending[0]
        return rt.compound((op, *(s.key for s in pending)), "bool", op, tuple(pending), site)

    return run


def _true_sym(value: bool) -> Any:
    return Sym(("const", value), "bool", "phi", (True, value, value))


def _choice(rt: Any, pending: list[Sym], value: Any, stop: bool, site: Any) -> Any:
    result = value
    for sym in reversed(pending):
        args = (sym, sym, result) if stop else (sym, result, sym)
        result = rt.compound(("choice", sym.key, stop), "any", "phi", args, site)
    return result


def count_up(rt: Any, mark: int, kind: str, a: int, limit: int) -> None:
    """Note that a test compares what goes up, a counter or a length, with a limit above it."""
    last = rt.counts.get(mark)
    rt.counts[mark] = a
    if last is not None and last < a < limit > 1:
        turns = rt.turns
        turns[kind, limit] = turns.get((kind, limit), 0) + 1


def _of_numbers(node: ast.expr) -> bool:
    """Whether an expression is a few whole numbers: ``(1, 3)``."""
    return isinstance(node, (ast.Tuple, ast.List, ast.Set)) and all(
        isinstance(each, ast.Constant) and type(each.value) is int for each in node.elts
    )


def _counted_in(node: ast.Compare, left: Eval, right: Eval, fn: Any, site: Any) -> Eval:
    """``i in (1, 3)``: behind the last of the numbers it is another condition for good."""
    mark = id(node)
    name = COMPARISONS[type(node.ops[0])][0]
    behind = 1 + max((each.value for each in node.comparators[0].elts), default=0)  # type: ignore[attr-defined]

    def run(f: Frame) -> Any:
        a, b = left(f), right(f)
        if type(a) is int:
            count_up(f.rt, mark, "from", a, behind)
        return f.rt.shared.ops.compare(f.rt, name, fn, a, b, site)

    return run


def lower_compare(node: ast.Compare, scope: Scope) -> Eval:
    left = lower(node.left, scope)
    site = scope.site(node)
    pairs = [(*COMPARISONS[type(op)], lower(c, scope)) for op, c in zip(node.ops, node.comparators)]
    if len(pairs) == 1:
        name, fn, right = pairs[0]
        mark = id(node)
        kind = (
            "length" if isinstance(node.left, ast.Call) and ast.unparse(node.left.func) == "len" else "from"
        )
        counting = name not in ("is", "isnot", "in", "notin") and mark not in scope.idle
        if name in ("in", "notin") and _of_numbers(node.comparators[0]):
            return _counted_in(node, left, right, fn, site)

        def single(f: Frame) -> Any:
            a, b = left(f), right(f)
            if counting and type(a) is int and type(b) is int:
                count_up(f.rt, mark, kind, a, b)
                return fn(a, b)
            return f.rt.shared.ops.compare(f.rt, name, fn, a, b, site)

        return single

    def chain(f: Frame) -> Any:
        a = left(f)
        result: Any = True
        pending: list[Sym] = []
        for name, fn, right in pairs:
            b = right(f)
            result = f.rt.shared.ops.compare(f.rt, name, fn, a, b, site)
            known = f.rt.known(result, site)
            if known is False:
                return False
            if known is None:
                pending.append(result if type(result) is Sym else f.rt.fresh(site, "bool"))
            a = b
        if pending:
            return (
                pending[0]
                if len(pending) == 1
                else f.rt.compound(("and", *(s.key for s in pending)), "bool", "and", tuple(pending), site)
            )
        return result

    return chain


def lower_ifexp(node: ast.IfExp, scope: Scope) -> Eval:
    test, body, other = lower(node.test, scope), lower(node.body, scope), lower(node.orelse, scope)
    plain = not calls_inside(node.body) and not calls_inside(node.orelse)
    site = scope.site(node)

    def run(f: Frame) -> Any:
        rt = f.rt
        cond = test(f)
        known = rt.known(cond, site)
        if known is None:
            if type(cond) is not Sym:
                cond = rt.fresh(site, "bool")
            if plain:
                try:
                    a, b = body(f), other(f)
                except Raised:
                    a = b = MISSING
                if (type(a) in CONST or type(a) is Sym and a.node is None) and (
                    type(b) in CONST or type(b) is Sym and b.node is None
                ):
                    if a is b:
                        return a
                    return rt.compound(("phi", cond.key, id(site)), "any", "phi", (cond, a, b), site)
            known = rt.decide(cond, site)
        return body(f) if known else other(f)

    return run
