"""Not recording at all: ``with torch.no_grad():`` around statements, or on a whole function."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from loopgrad.analysis.where import Site
from loopgrad.model import Step

from ..context import Context
from ..syntax import Function, Loop
from .edits import File

HEADER = "with torch.no_grad():"
DECORATOR = "torch.no_grad()"

_PLAIN = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)


def wrap_all(found: Sequence[tuple[File, ast.stmt]], header: str = HEADER) -> list[Step]:
    """Each statement under the header; those that follow each other in a block under one."""
    steps: list[Step] = []
    done: set[int] = set()
    wanted = {id(statement) for _, statement in found}
    for file, statement in found:
        if id(statement) in done:
            continue
        block = file.tree.block(statement)
        first = last = next((i for i, each in enumerate(block) if each is statement), 0)
        while first > 0 and id(block[first - 1]) in wanted:
            first -= 1
        while last + 1 < len(block) and id(block[last + 1]) in wanted:
            last += 1
        done.update(id(each) for each in block[first : last + 1])
        steps.append(file.step("wrap", block[first], header, block[last]))
    return steps


def neighbours(file: File, statement: ast.stmt) -> list[ast.stmt]:
    """The statement and those right beside it that call the same thing: three encodings, one block."""
    callee = _callee(statement)
    block = file.tree.block(statement)
    at = next((i for i, each in enumerate(block) if each is statement), None)
    if callee is None or at is None:
        return [statement]
    first = last = at
    while first > 0 and _callee(block[first - 1]) == callee:
        first -= 1
    while last + 1 < len(block) and _callee(block[last + 1]) == callee:
        last += 1
    return block[first : last + 1]


def _callee(statement: ast.stmt) -> str | None:
    value = getattr(statement, "value", None)
    if not isinstance(statement, _PLAIN) or value is None:
        return None
    while isinstance(value, (ast.Call, ast.Attribute, ast.Subscript)):
        if isinstance(value, ast.Call):
            inner = value.func
            if isinstance(inner, ast.Name):
                return inner.id
            if isinstance(inner, ast.Attribute) and isinstance(inner.value, (ast.Name, ast.Attribute)):
                return ast.unparse(inner)
            value = inner
        else:
            value = value.value
    return None


def wrap_building(site: Site, context: Context) -> list[Step]:
    """The statement that builds at a site, with its neighbours, under ``no_grad``."""
    return wrap_buildings([site], context)


def wrap_buildings(sites: list[Site], context: Context) -> list[Step]:
    """The statements that build at several sites, each with its neighbours, under as few headers as will do."""
    found: list[tuple[File, ast.stmt]] = []
    for site in sites:
        file = File(context, context.path(site))
        statement = file.tree.statement(site.node)
        if statement is not None and isinstance(statement, (*_PLAIN, ast.Return)):
            found += [(file, each) for each in neighbours(file, statement)]
    found.sort(key=lambda each: (each[0].path, each[1].lineno))
    return wrap_all(found)


def wrap_loop(site: Site, context: Context) -> list[Step]:
    """A whole loop under ``no_grad``."""
    file = File(context, context.path(site))
    return [file.step("wrap", site.node, HEADER, site.node)] if isinstance(site.node, Loop) else []


def decorate(site: Site, context: Context) -> list[Step]:
    """The function around a site under ``no_grad``: for one that evaluates and does nothing else."""
    file = File(context, context.path(site))
    function = file.tree.function(site.node)
    if function is None or function.name == "__init__" or isinstance(function, ast.AsyncFunctionDef):
        return []
    own = [each for each in ast.walk(function) if isinstance(each, (ast.Yield, ast.YieldFrom))]
    if own or any(isinstance(each, Function) and each is not function for each in ast.walk(function)):
        return []
    return [file.step("decorate", function, DECORATOR)]
