"""Assignment targets lowered to closures: ``target(node, scope)(frame, value)``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..runtime import Frame
from ..values import CONST, GRAPHLESS, MISSING, Obj
from .expressions import lower
from .scope import Scope, text_of

StoreTo = Callable[[Frame, Any], None]


def target(node: ast.expr, scope: Scope) -> StoreTo:
    """Lower one assignment target."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        store = _name(node, scope) if isinstance(node, ast.Name) else _attribute(node, scope)
        watch = scope.file.watch
        return store if watch is None else watch.storing(node, store)
    if isinstance(node, ast.Subscript):
        return _subscript(node, scope)
    if isinstance(node, (ast.Tuple, ast.List)):
        return _unpack(node, scope)
    if isinstance(node, ast.Starred):
        return target(node.value, scope)
    lower(node, scope)
    return lambda f, value: None


def _name(node: ast.Name, scope: Scope) -> StoreTo:
    name = node.id
    kind, hops = scope.lookup(name)
    site = scope.site(node)
    if kind in ("local", "class"):

        def store(f: Frame, value: Any) -> None:
            rt = f.rt
            if type(value) not in GRAPHLESS:
                rt.stored(value, site, name, "name")
            if rt.log is not None:
                rt.note(f.vars, name)
            f.vars[name] = value

        return store
    if kind == "outer":

        def store_outer(f: Frame, value: Any) -> None:
            frame: Any = f
            for _ in range(hops):
                frame = frame.outer
            f.rt.stored(value, site, name, "nonlocal")
            f.rt.put(frame.vars, name, value)

        return store_outer

    lives = "name" if scope.kind == "module" else "nonlocal"

    def store_global(f: Frame, value: Any) -> None:
        rt = f.rt
        if type(value) not in GRAPHLESS:
            rt.stored(value, site, name, lives)
        if rt.log is not None:
            rt.shared.modules.read(rt, f.globals, name)  # what it is on the other side
        rt.put(f.globals, name, value)

    return store_global


def _attribute(node: ast.Attribute, scope: Scope) -> StoreTo:
    owner = lower(node.value, scope)
    name, text, site = node.attr, text_of(node), scope.site(node)

    def store(f: Frame, value: Any) -> None:
        obj = owner(f)
        rt = f.rt
        if type(value) not in CONST:
            rt.stored(value, site, text, "attribute")
        rt.shared.objects.set(rt, obj, name, value, site)

    return store


def _subscript(node: ast.Subscript, scope: Scope) -> StoreTo:
    owner, index = lower(node.value, scope), lower(node.slice, scope)
    text, site = text_of(node), scope.site(node)
    base = text_of(node.value)

    def store(f: Frame, value: Any) -> None:
        obj, key = owner(f), index(f)
        rt = f.rt
        if type(value) not in CONST:
            rt.stored(value, site, text if len(text) < 40 else base, "item")
        rt.shared.objects.set_item(rt, obj, key, value, site)

    return store


def _unpack(node: Any, scope: Scope) -> StoreTo:
    parts = [target(e, scope) for e in node.elts]
    star = next((i for i, e in enumerate(node.elts) if isinstance(e, ast.Starred)), None)
    site = scope.site(node)
    count = len(parts)

    def store(f: Frame, value: Any) -> None:
        items = f.rt.shared.objects.unpack(f.rt, value, count, star, site)
        for part, item in zip(parts, items):
            part(f, item)

    return store


def deleter(node: ast.expr, scope: Scope) -> Callable[[Frame], None]:
    """``del target``."""
    if isinstance(node, ast.Name):
        name = node.id
        kind, hops = scope.lookup(name)

        def drop(f: Frame) -> None:
            frame: Any = f
            if kind == "outer":
                for _ in range(hops):
                    frame = frame.outer
            table = f.globals if kind == "global" else frame.vars
            if kind == "global":
                f.rt.shared.modules.read(f.rt, table, name)
            f.rt.note(table, name)
            table.pop(name, None)

        return drop
    if isinstance(node, ast.Attribute):
        owner, attr = lower(node.value, scope), node.attr

        def drop_attr(f: Frame) -> None:
            obj = owner(f)
            if type(obj) is Obj and obj.attrs.get(attr, MISSING) is not MISSING:
                f.rt.note(obj.attrs, attr)
                del obj.attrs[attr]

        return drop_attr
    if isinstance(node, ast.Subscript):
        holder, index = lower(node.value, scope), lower(node.slice, scope)
        site = scope.site(node)
        return lambda f: f.rt.shared.objects.del_item(f.rt, holder(f), index(f), site)
    if isinstance(node, (ast.Tuple, ast.List)):
        parts = [deleter(e, scope) for e in node.elts]

        def drop_all(f: Frame) -> None:
            for part in parts:
                part(f)

        return drop_all
    return lambda f: None
