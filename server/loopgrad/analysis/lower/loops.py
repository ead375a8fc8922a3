"""Loops, executed iteration by iteration, and comprehensions.

Iterations 1, 2, 3, 4 run from the state the last one left; :mod:`loopgrad.analysis.lower.trips` says which
come after them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..runtime import Frame
from ..signals import Raised
from ..tape import Tensor
from ..values import MISSING, Iter, LDict, LList, LSet, Obj, Sym, hashable
from ..where import LoopRun, Where
from .expressions import lower
from .nodes import FILLS, walk_all
from .scope import Scope, bind
from .statements import BREAK, CONTINUE, RETURN, Run, block
from .targets import target
from .trips import Plan
from .waived import fetched


def changed_names(body: list[ast.stmt]) -> tuple[list[str], list[str]]:
    """The plain names that a loop body counts with, and those of containers that it fills.

    Counters among the first are unknown once a loop is cut; the second may then hold more.
    """
    counted: set[str] = set()
    filled: set[str] = set()
    for node in walk_all(body):
        kind = type(node)
        if kind is ast.AugAssign:
            if type(node.target) is ast.Name:
                counted.add(node.target.id)
        elif kind is ast.Call:
            fn = node.func
            if type(fn) is ast.Attribute and fn.attr in FILLS and type(fn.value) is ast.Name:
                filled.add(fn.value.id)
        elif kind is ast.Subscript and type(node.ctx) is ast.Store and type(node.value) is ast.Name:
            filled.add(node.value.id)
    return sorted(counted), sorted(filled)


def opened(f: Frame, names: list[str]) -> None:
    """After a cut loop, the containers that it filled hold more than is seen."""
    for name in names:
        value = f.vars.get(name, MISSING)
        if value is MISSING:
            value = f.globals.get(name, MISSING)
        if type(value) in (LList, LDict, LSet) and not value.open:
            f.rt.note_slot(value, "open")
            value.open = True


def forget(f: Frame, names: list[str], before: dict[str, Any], site: Any) -> None:
    """After a cut loop, a number that still changed from iteration to iteration is unknown."""
    for name in names:
        value = f.vars.get(name, MISSING)
        table = f.vars
        if value is MISSING:
            value, table = f.globals.get(name, MISSING), f.globals
        if type(value) in (int, float) and before.get(name, value) != value:
            number = f.rt.fresh(site, "number")
            if type(value) is int:
                f.rt.whole.add(number.key)
            f.rt.put(table, name, number)


def numbers(f: Frame, names: list[str]) -> dict[str, Any]:
    return {n: f.vars.get(n, f.globals.get(n)) for n in names}


def is_part(item: Any, inside: bool = False) -> bool:
    """Whether an element is a module, a parameter or a name, or has one in it: ``(name, layer)``."""
    if type(item) is tuple:
        return not inside and any(is_part(each, True) for each in item[:8])
    if type(item) is Tensor:
        return item.is_param
    return type(item) is str or type(item) is Obj and item.is_a("module")


def brings_data(item: Any) -> bool:
    """Whether an element is a batch: a tensor or an unknown, or a tuple with one."""
    return type(item) in (Tensor, Sym) or type(item) is tuple and any(type(v) in (Tensor, Sym) for v in item)


def lower_for(node: Any, scope: Scope) -> Run:
    iterable = lower(node.iter, scope)
    store = target(node.target, scope)
    body = block(node.body, scope)
    orelse = block(node.orelse, scope) if node.orelse else None
    site, iter_site = scope.site(node), scope.site(node.iter)
    counters, filled = changed_names(node.body)

    def run(f: Frame) -> Any:
        rt = f.rt
        value: Any = None
        try:
            value = iterable(f)
            rt.ask(value)
            source = rt.shared.objects.iterate(rt, value, iter_site)
        except Raised as error:
            source = fetched(f, error, node, iter_site)
        loop = LoopRun(site, "for")
        loop.seq = rt.seq
        parent = rt.where
        plan = Plan(rt, source.length, source.random, source.items, source.finite)
        loop.turns = plan.base
        if type(value) is Iter:
            loop.over = value
        loop.parent = rt.loops[-1] if rt.loops else None
        rt.loops.append(loop)
        i = 0
        cut = False
        before: dict[str, Any] = {}
        try:
            while True:
                # Fetching the element is part of its iteration: a loader's collation records there.
                seq = rt.seq
                rt.where = Where(parent, None, loop, i + 1)
                try:
                    item = source.get(i)
                except Raised as error:
                    source = fetched(f, error, node, iter_site)
                    item = source.get(i)
                if item is MISSING:
                    break
                if counters:
                    before = numbers(f, counters)
                if i == 0:
                    loop.structural = is_part(item)
                    loop.steps = source.steps
                    if not source.steps and brings_data(item):
                        for outer in rt.loops:
                            outer.steps = False
                store(f, item)
                item = None
                signal = body(f)
                if signal is not None and signal is not CONTINUE:
                    if signal is not BREAK:
                        return signal
                    rt.shared.growth.broken_off(rt, loop)
                    return None
                idle = signal is CONTINUE and rt.seq == seq and len(loop.executed) < rt.shared.growth.CHECK_AT
                if not idle or not plan.skipped(source.length):
                    rt.shared.growth.end_of_iteration(rt, loop, i + 1, f)
                following = plan.next(i, source.length)
                if following is None:
                    cut = not source.steps or source.get(i + 1) is not MISSING
                    break
                i = following
            rt.shared.growth.end_of_loop(rt, loop, not cut)
        finally:
            rt.loops.pop()
            rt.where = parent
        if cut:
            forget(f, counters, before, site)
            opened(f, filled)
        if orelse is not None:
            return orelse(f)
        return None

    return run


def lower_while(node: ast.While, scope: Scope) -> Run:
    # The test's own limit is how long the loop runs, nothing that changes inside of it.
    scope.idle.update(id(each) for each in walk_all([node.test]) if isinstance(each, ast.Compare))
    test = lower(node.test, scope)
    body = block(node.body, scope)
    orelse = block(node.orelse, scope) if node.orelse else None
    site, test_site = scope.site(node), scope.site(node.test)
    endless = isinstance(node.test, ast.Constant)
    counters, filled = changed_names(node.body)

    def run(f: Frame) -> Any:
        rt = f.rt
        loop = LoopRun(site, "while")
        loop.seq = rt.seq
        parent = rt.where
        plan = Plan(rt, None, False)
        loop.turns = plan.base
        loop.parent = rt.loops[-1] if rt.loops else None
        rt.loops.append(loop)
        i = 0
        cut = broke = False
        before: dict[str, Any] = {}
        try:
            while True:
                known = rt.known(test(f), test_site)
                if known is False:
                    break
                if i >= plan.most(known, endless):
                    cut = True
                    break
                rt.steps += 1
                rt.where = Where(parent, None, loop, i + 1)
                if counters:
                    before = numbers(f, counters)
                signal = body(f)
                if signal is not None and signal is not CONTINUE:
                    if signal is BREAK:
                        broke = True
                        break
                    return signal
                rt.shared.growth.end_of_iteration(rt, loop, i + 1, f)
                i += 1
            if broke:
                rt.shared.growth.broken_off(rt, loop)
            else:
                rt.shared.growth.end_of_loop(rt, loop)
        finally:
            rt.loops.pop()
            rt.where = parent
        if cut:
            forget(f, counters, before, site)
            opened(f, filled)
        if orelse is not None and not broke:
            return orelse(f)
        return None

    return run


#: In between the elements of a comprehension: whether a filter kept them is not known.
DOUBT = object()


def lower_comprehension(node: Any, scope: Scope) -> Callable[[Frame], Any]:
    """List, set and dict comprehensions and generator expressions; a scope of their own."""
    inner = Scope("function", scope.name, scope.file, scope)
    inner.stmt = scope.stmt
    bind(inner, [g.target for g in node.generators], None)
    first = lower(node.generators[0].iter, scope)
    levels = []
    for k, gen in enumerate(node.generators):
        source = None if k == 0 else lower(gen.iter, inner)
        levels.append(
            (source, target(gen.target, inner), [lower(c, inner) for c in gen.ifs], scope.site(gen.iter))
        )
    if isinstance(node, ast.DictComp):
        key, value = lower(node.key, inner), lower(node.value, inner)
    else:
        key, value = None, lower(node.elt, inner)
    site = scope.site(node)
    kind = type(node)
    in_class = scope.kind == "class"
    at_module = scope.kind == "module"

    def frame_for(f: Frame) -> Frame:
        frame = Frame(f.rt, f.file, f.globals, {}, None if at_module else f.outer if in_class else f, f.func)
        frame.cls, frame.self = f.cls, f.self
        return frame

    def run(f: Frame) -> Any:
        rt = f.rt
        frame = frame_for(f)
        start = first(f)
        if kind is ast.GeneratorExp:
            return rt.shared.objects.generator(
                rt, lazily(frame, start, 0, LoopRun(site, "comprehension")), frame, site
            )
        out: Any = LDict() if kind is ast.DictComp else LList()
        opened = unsure = False
        rt.frames.append(frame)
        try:
            for item in lazily(frame, start, 0, LoopRun(site, "comprehension")):
                if item is MISSING:
                    opened = True
                elif item is DOUBT:
                    opened = unsure = True
                elif key is not None:
                    out[hashable(item[0])] = item[1]
                else:
                    out.append(item)
        finally:
            rt.frames.pop()
        if kind is ast.SetComp:
            return LSet([hashable(v) for v in out], opened)
        out.open = opened
        if unsure and type(out) is LList:
            out.unsure = True
        return out

    def lazily(frame: Frame, start: Any, level: int, loop: LoopRun) -> Any:
        """Yields the elements; MISSING once where the loop was cut."""
        rt = frame.rt
        source, store, tests, iter_site = levels[level]
        values = rt.shared.objects.iterate(rt, start if source is None else source(frame), iter_site)
        parent = rt.where
        trips = values.length if values.length is not None and values.length <= 64 else 3
        i = 0
        while True:
            item = values.get(i)
            if item is MISSING:
                return
            if i >= trips:
                yield MISSING
                return
            rt.where = Where(parent, None, loop, i + 1)
            try:
                store(frame, item)
                keep: bool | None = True
                for test in tests:
                    known = rt.known(test(frame), iter_site)
                    if known is False:
                        keep = False
                        break
                    if known is None:
                        keep = None
                if keep is not False:
                    if level + 1 < len(levels):
                        yield from lazily(frame, None, level + 1, loop)
                    elif key is not None:
                        yield (key(frame), value(frame))
                    else:
                        yield value(frame)
                    if keep is None and i == 0:
                        yield DOUBT
            finally:
                rt.where = parent
            i += 1

    return run


__all__ = ["RETURN", "Raised", "Sym", "lower_comprehension", "lower_for", "lower_while"]
