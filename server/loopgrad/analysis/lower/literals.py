"""Displays and strings lowered to closures: tuples, lists, sets, dicts, f-strings."""

from __future__ import annotations

import ast
from typing import Any

from ..runtime import Frame
from ..signals import Raised
from ..values import CONST, LDict, LList, LSet, Sym, hashable
from .expressions import Eval, lower
from .scope import Scope


def lower_sequence(node: Any, scope: Scope) -> Eval:
    starred = any(isinstance(e, ast.Starred) for e in node.elts)
    parts = [lower(e.value if isinstance(e, ast.Starred) else e, scope) for e in node.elts]
    site = scope.site(node)
    if not starred:
        if isinstance(node, ast.Tuple):
            return lambda f: tuple([p(f) for p in parts])
        if isinstance(node, ast.List):
            return lambda f: LList([p(f) for p in parts])
        return lambda f: LSet([hashable(p(f)) for p in parts])
    flags = [isinstance(e, ast.Starred) for e in node.elts]

    def run(f: Frame) -> Any:
        out: list[Any] = []
        is_open = False
        for part, star in zip(parts, flags):
            value = part(f)
            if star:
                items, more = f.rt.shared.objects.listed(f.rt, value, site)
                out.extend(items)
                is_open = is_open or more
            else:
                out.append(value)
        if isinstance(node, ast.Tuple):
            return tuple(out)
        return (
            LList(out, is_open) if isinstance(node, ast.List) else LSet([hashable(v) for v in out], is_open)
        )

    return run


def lower_dict(node: ast.Dict, scope: Scope) -> Eval:
    pairs = [
        (lower(k, scope) if k is not None else None, lower(v, scope)) for k, v in zip(node.keys, node.values)
    ]
    site = scope.site(node)

    def run(f: Frame) -> Any:
        out = LDict()
        for key, value in pairs:
            if key is None:
                f.rt.shared.objects.merge(f.rt, out, value(f), site)
            else:
                out[hashable(key(f))] = value(f)
        return out

    return run


def lower_joined(node: ast.JoinedStr, scope: Scope) -> Eval:
    parts = [lower(v, scope) for v in node.values]
    site = scope.site(node)

    def run(f: Frame) -> Any:
        pieces = [p(f) for p in parts]
        if all(type(p) is str for p in pieces):
            return "".join(pieces)
        key = (
            "fstr",
            id(site),
            *(p.key if type(p) is Sym else p for p in pieces if type(p) in CONST or type(p) is Sym),
        )
        return Sym(key, "str")

    return run


def lower_formatted(node: ast.FormattedValue, scope: Scope) -> Eval:
    value = lower(node.value, scope)
    spec = lower(node.format_spec, scope) if node.format_spec is not None else None
    site = scope.site(node)
    convert = {-1: None, 115: str, 114: repr, 97: ascii}[node.conversion]

    def run(f: Frame) -> Any:
        v = value(f)
        how = spec(f) if spec is not None else ""
        if type(v) in CONST and type(how) is str:
            try:
                return format(convert(v) if convert is not None else v, how)
            except (ValueError, TypeError) as error:
                raise Raised(type(error).__name__) from None
        shown = f.rt.shared.objects.text(f.rt, v, convert is repr, site)
        if type(shown) is str and type(how) is str:
            try:
                return format(shown, how)
            except (ValueError, TypeError):
                return Sym(("fmt", id(site)), "str")
        return shown if type(shown) is Sym else f.rt.fresh(site, "str")

    return run
