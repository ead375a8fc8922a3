"""Expressions lowered to closures: ``lower(node, scope)(frame)`` gives the value.

Each expression is lowered once; executing it is then a call. What an operation *means* is not here
but in ``loopgrad.analysis.semantics`` (Python) and ``loopgrad.analysis.torch_model`` (torch).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from ..runtime import Frame
from ..signals import Raised
from ..values import CONST, MISSING, Obj, Sym
from .scope import Scope

Eval = Callable[[Frame], Any]

OPERATORS: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("sub", operator.sub),
    ast.Mult: ("mul", operator.mul),
    ast.Div: ("truediv", operator.truediv),
    ast.FloorDiv: ("floordiv", operator.floordiv),
    ast.Mod: ("mod", operator.mod),
    ast.Pow: ("pow", operator.pow),
    ast.MatMult: ("matmul", operator.matmul),
    ast.BitAnd: ("and", operator.and_),
    ast.BitOr: ("or", operator.or_),
    ast.BitXor: ("xor", operator.xor),
    ast.LShift: ("lshift", operator.lshift),
    ast.RShift: ("rshift", operator.rshift),
}

_NUMBERS = frozenset({int, float, bool, complex})
#: A constant larger than this is not computed; it becomes unknown.
BIG = 1 << 16


def lower(node: ast.expr, scope: Scope) -> Eval:
    """Lower one expression."""
    run = _LOWER[type(node)](node, scope)
    watch = scope.file.watch
    return run if watch is None else watch.reading(node, run)


def _constant(node: ast.Constant, scope: Scope) -> Eval:
    value = node.value
    return lambda f: value


def _name(node: ast.Name, scope: Scope) -> Eval:
    name = node.id
    kind, hops = scope.lookup(name)
    if kind == "local":

        def load(f: Frame) -> Any:
            try:
                return f.vars[name]
            except KeyError:
                raise Raised("UnboundLocalError") from None

        return load
    if kind == "outer":

        def load_outer(f: Frame) -> Any:
            frame: Any = f
            for _ in range(hops):
                frame = frame.outer
            try:
                return frame.vars[name]
            except KeyError:
                raise Raised("NameError") from None

        return load_outer
    if kind == "class":

        def load_class(f: Frame) -> Any:
            value = f.vars.get(name, MISSING)
            if value is MISSING:
                value = f.globals.get(name, MISSING)
            if value is MISSING:
                value = f.rt.shared.modules.read(f.rt, f.globals, name)
            return value if value is not MISSING else f.rt.shared.objects.builtin(f.rt, name)

        return load_class

    top: Scope | None = scope
    while top is not None and top.kind != "module":
        top = top.parent
    bound = top is not None and name in top.locals

    def load_global(f: Frame) -> Any:
        value = f.globals.get(name, MISSING)
        if value is not MISSING:
            return value
        if bound:
            value = f.rt.shared.modules.read(f.rt, f.globals, name)
            if value is not MISSING:
                return value
        if bound and not f.rt.lenient:
            raise Raised("NameError")
        return f.rt.shared.objects.builtin(f.rt, name)

    return load_global


def const_op(fn: Callable[[Any, Any], Any], op: str, a: Any, b: Any) -> Any:
    """Compute an operation on constants; MISSING where it would be too large, Raised where Python raises."""
    try:
        if op in ("mul", "pow", "lshift"):
            if op == "pow" and not (abs(a) < 1e6 and abs(b) < 64):
                return MISSING
            if op == "lshift" and not b < 128:
                return MISSING
            if op == "mul":
                if type(a) is int and type(b) is int and a.bit_length() + b.bit_length() > BIG:
                    return MISSING
                for x, y in ((a, b), (b, a)):
                    if type(x) in (str, bytes, tuple) and isinstance(y, int) and len(x) * y > BIG:
                        return MISSING
        elif op == "add" and type(a) in (str, bytes) and type(a) is type(b) and len(a) + len(b) > BIG:
            return MISSING
        return fn(a, b)
    except ZeroDivisionError:
        raise Raised("ZeroDivisionError") from None
    except (TypeError, ValueError, OverflowError, MemoryError) as error:
        if type(a) in CONST and type(b) in CONST:
            raise Raised(type(error).__name__) from None
        return MISSING


def _binop(node: ast.BinOp, scope: Scope) -> Eval:
    op, fn = OPERATORS[type(node.op)]
    left, right = lower(node.left, scope), lower(node.right, scope)
    site = scope.site(node)
    if op == "mod" and id(node) not in scope.idle:

        def modulo(f: Frame) -> Any:
            a, b = left(f), right(f)
            if type(a) is int and type(b) is int:
                if b > 1:
                    turns = f.rt.turns
                    turns["every", b] = turns.get(("every", b), 0) + 1
                return const_op(fn, op, a, b)
            return f.rt.shared.ops.binary(f.rt, op, fn, a, b, site)

        return modulo
    if op in ("add", "sub", "mul", "truediv", "floordiv"):
        plain = op in ("add", "sub")

        def arithmetic(f: Frame) -> Any:
            a, b = left(f), right(f)
            if type(a) in _NUMBERS and type(b) in _NUMBERS:
                return fn(a, b) if plain else const_op(fn, op, a, b)
            return f.rt.shared.ops.binary(f.rt, op, fn, a, b, site)

        return arithmetic
    return lambda f: f.rt.shared.ops.binary(f.rt, op, fn, left(f), right(f), site)


def _unary(node: ast.UnaryOp, scope: Scope) -> Eval:
    operand = lower(node.operand, scope)
    site = scope.site(node)
    if isinstance(node.op, ast.Not):

        def negate(f: Frame) -> Any:
            value = operand(f)
            known = f.rt.known(value, site)
            if known is not None:
                return not known
            if type(value) is not Sym:
                value = f.rt.fresh(site, "bool")
            return Sym(("not", value.key), "bool", "not", (value,))

        return negate
    name = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}[type(node.op)]
    return lambda f: f.rt.shared.ops.unary(f.rt, name, operand(f), site)


def _attribute(node: ast.Attribute, scope: Scope) -> Eval:
    value = lower(node.value, scope)
    name = node.attr
    site = scope.site(node)

    def load(f: Frame) -> Any:
        obj = value(f)
        if type(obj) is Obj:
            found = obj.attrs.get(name, MISSING)
            if found is not MISSING:
                return found
        return f.rt.shared.objects.get(f.rt, obj, name, site)

    return load


def _subscript(node: ast.Subscript, scope: Scope) -> Eval:
    value, index = lower(node.value, scope), lower(node.slice, scope)
    site = scope.site(node)
    return lambda f: f.rt.shared.objects.item(f.rt, value(f), index(f), site)


def _slice(node: ast.Slice, scope: Scope) -> Eval:
    parts = [lower(p, scope) if p is not None else None for p in (node.lower, node.upper, node.step)]

    def run(f: Frame) -> Any:
        values = [p(f) if p is not None else None for p in parts]
        return slice(*values)

    return run


def _lambda(node: ast.Lambda, scope: Scope) -> Eval:
    from .functions import lower_function

    return lower_function(node, scope)


def _named(node: ast.NamedExpr, scope: Scope) -> Eval:
    from .targets import target

    value = lower(node.value, scope)
    store = target(node.target, scope)

    def run(f: Frame) -> Any:
        v = value(f)
        store(f, v)
        return v

    return run


def _await(node: ast.Await, scope: Scope) -> Eval:
    return lower(node.value, scope)


def _starred(node: ast.Starred, scope: Scope) -> Eval:
    return lower(node.value, scope)


def _yield(node: Any, scope: Scope) -> Eval:
    # A yield inside a larger expression: its value is what send() gave, which nobody knows.
    site = scope.site(node)
    value = lower(node.value, scope) if node.value is not None else None

    def run(f: Frame) -> Any:
        if value is not None:
            value(f)
        return f.rt.fresh(site)

    return run


def _comprehension(node: Any, scope: Scope) -> Eval:
    from .loops import lower_comprehension

    return lower_comprehension(node, scope)


def _unknown(node: Any, scope: Scope) -> Eval:
    site = scope.site(node)
    return lambda f: f.rt.fresh(site)


def _display(node: Any, scope: Scope) -> Eval:
    from . import literals

    kind = type(node)
    if kind is ast.Dict:
        return literals.lower_dict(node, scope)
    if kind is ast.JoinedStr:
        return literals.lower_joined(node, scope)
    if kind is ast.FormattedValue:
        return literals.lower_formatted(node, scope)
    return literals.lower_sequence(node, scope)


def _condition(node: Any, scope: Scope) -> Eval:
    from . import conditions

    kind = type(node)
    if kind is ast.Compare:
        return conditions.lower_compare(node, scope)
    return conditions.lower_boolop(node, scope) if kind is ast.BoolOp else conditions.lower_ifexp(node, scope)


def _call(node: ast.Call, scope: Scope) -> Eval:
    from .calls import lower_call

    return lower_call(node, scope)


_LOWER: dict[type, Callable[[Any, Scope], Eval]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.BinOp: _binop,
    ast.UnaryOp: _unary,
    ast.BoolOp: _condition,
    ast.Compare: _condition,
    ast.IfExp: _condition,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Tuple: _display,
    ast.List: _display,
    ast.Set: _display,
    ast.Dict: _display,
    ast.JoinedStr: _display,
    ast.FormattedValue: _display,
    ast.Call: _call,
    ast.Lambda: _lambda,
    ast.NamedExpr: _named,
    ast.Await: _await,
    ast.Starred: _starred,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension,
}
for _extra in ("TemplateStr", "Interpolation"):
    if hasattr(ast, _extra):
        _LOWER[getattr(ast, _extra)] = _unknown

__all__ = ["Eval", "const_op", "lower"]
