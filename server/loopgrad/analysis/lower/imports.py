"""Imports lowered to closures: what they execute now, and the names that they bind when those are first read."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..runtime import Frame
from .scope import Scope
from .targets import target

Run = Callable[[Frame], Any]


def lower_import(node: Any, scope: Scope) -> Run:
    if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
        site = scope.site(node)
        return lambda f: f.rt.shared.modules.star(f.rt, f, node.module or "", node.level, site)
    parts = [(alias, imported(alone(node, alias), scope)) for alias in node.names]

    def run(f: Frame) -> None:
        modules = f.rt.shared.modules
        for alias, bind in parts:
            if binds_package(node, alias):
                bind(f)
                continue
            if isinstance(node, ast.Import):
                modules.ready(f.rt, alias.name, 0, (), f.file)
            else:
                modules.ready(f.rt, node.module or "", node.level, (alias.name,), f.file)
            if not modules.later(f, alias.asname or alias.name, bind):
                bind(f)

    return run


def alone(node: Any, alias: ast.alias) -> ast.stmt:
    """One name of an import, as an import."""
    if isinstance(node, ast.Import):
        return ast.copy_location(ast.Import([alias]), node)
    return ast.copy_location(ast.ImportFrom(node.module, [alias], node.level), node)


def binds_package(node: ast.stmt, alias: ast.alias) -> bool:
    """Whether it is ``import a.b``: what that binds is ``a``, which other imports change as well."""
    return isinstance(node, ast.Import) and alias.asname is None and "." in alias.name


def imported(node: Any, scope: Scope) -> Run:
    """An import of one name: binds it."""
    site = scope.site(node)
    alias = node.names[0]
    bound = alias.asname or (alias.name.split(".")[0] if isinstance(node, ast.Import) else alias.name)
    store = target(ast.copy_location(ast.Name(bound, ast.Store()), node), scope)
    if isinstance(node, ast.Import):
        name, whole = alias.name, alias.asname is not None
        return lambda f: store(f, f.rt.shared.modules.load(f.rt, name, whole, f.file, site))
    module, level, name = node.module or "", node.level, alias.name
    return lambda f: store(f, f.rt.shared.modules.member(f.rt, module, level, name, f.file, site))
