"""Calls lowered to closures: arguments are evaluated in Python's order, a method call finds its owner first."""

from __future__ import annotations

import ast
from typing import Any

from ..runtime import Frame
from ..tape import Tensor
from ..values import MISSING, MORE, LDict, LList, Namespace, Obj
from .expressions import Eval, lower
from .scope import Scope


def lower_call(node: ast.Call, scope: Scope) -> Eval:
    site = scope.site(node)
    star = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
    args = [lower(a.value if isinstance(a, ast.Starred) else a, scope) for a in node.args]
    flags = [isinstance(a, ast.Starred) for a in node.args]
    keywords = [(k.arg, lower(k.value, scope)) for k in node.keywords]

    def arguments(f: Frame) -> tuple[list, dict]:
        if not star:
            return [a(f) for a in args], ({k: v(f) for k, v in keywords} if keywords else {})
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for a, flag in zip(args, flags):
            value = a(f)
            if flag:
                items, more = f.rt.shared.objects.listed(f.rt, value, site)
                positional.extend(items)
                if more:
                    named[MORE] = True
            else:
                positional.append(value)
        for k, v in keywords:
            if k is None:
                table = LDict()
                f.rt.shared.objects.merge(f.rt, table, v(f), site)
                named.update({str(n): x for n, x in table.items() if type(n) is str})
                if table.open:
                    named[MORE] = True
            else:
                named[k] = v(f)
        return positional, named

    if isinstance(node.func, ast.Attribute):
        owner = lower(node.func.value, scope)
        name = node.func.attr

        def method(f: Frame) -> Any:
            obj = owner(f)
            rt = f.rt
            kind = type(obj)
            if kind is Tensor:
                positional, named = arguments(f)
                rt.current = site
                return rt.shared.tensors.method(rt, obj, name, positional, named, site)
            if kind is Namespace:
                fn = rt.shared.objects.get(rt, obj, name, site)
            elif kind is Obj:
                fn = obj.attrs.get(name, MISSING)
                if fn is MISSING:
                    fn = rt.shared.objects.get(rt, obj, name, site)
            elif kind is LList and name == "append" and len(args) == 1 and not star:
                value = args[0](f)
                rt.shared.objects.append(rt, obj, value, site, node.func)
                return None
            else:
                fn = rt.shared.objects.get(rt, obj, name, site)
            positional, named = arguments(f)
            rt.current = site
            return rt.shared.calls.call(rt, fn, positional, named, site)

        return method
    if isinstance(node.func, ast.Name) and node.func.id == "super" and scope.kind != "module":
        return lower_super(node, scope, args)
    func = lower(node.func, scope)

    def call(f: Frame) -> Any:
        fn = func(f)
        positional, named = arguments(f)
        rt = f.rt
        rt.current = site
        if fn is rt.shared.objects.locals_function:
            return LDict(f.vars)
        return rt.shared.calls.call(rt, fn, positional, named, site)

    return call


def lower_super(node: ast.Call, scope: Scope, args: list[Eval]) -> Eval:
    site = scope.site(node)

    def run(f: Frame) -> Any:
        values = [a(f) for a in args]
        return f.rt.shared.objects.super_of(f.rt, f, values, site)

    return run
