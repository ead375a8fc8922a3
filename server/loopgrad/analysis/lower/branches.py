"""``if`` and ``match``: a known condition takes one side, an unknown one is tried on both.

Trying works in three steps. The less usual side runs with an undo log and is rolled back; the usual
side runs with a log and stays. If neither did anything that a graph could notice (no backward, no
store of a graph, no jump), the sides are merged: a constant that differs becomes a ``phi`` that the
condition resolves later. Otherwise the condition is *decided*, and the other side is run as a path of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..nesting import relevant
from ..runtime import Frame
from ..semantics.choices import stamp
from ..semantics.unknowns import SINKS
from ..signals import Abort, Budget, Ended, Raised
from ..tape import Tensor
from ..undo import WHOLE, Log, Slot
from ..values import CONST, MISSING, LDict, LList, LSet, Obj, Sym
from .expressions import lower
from .scope import Scope
from .statements import Run, block

_LEAVING = (ast.Break, ast.Continue, ast.Return, ast.Raise)


def leaves(body: list[ast.stmt]) -> bool:
    """Whether a block always ends by leaving (break, continue, return, raise, sys.exit)."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, _LEAVING):
        return True
    if isinstance(last, ast.If):
        return leaves(last.body) and leaves(last.orelse)
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        return _called(last.value.func) in ("exit", "_exit", "quit")
    return False


def fails(body: list[ast.stmt]) -> bool:
    """Whether a block always ends in an exception: working code takes the other side."""
    if not body:
        return False
    last = body[-1]
    return isinstance(last, ast.Raise) or isinstance(last, ast.If) and fails(last.body) and fails(last.orelse)


def ends_loop(body: list[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, (ast.Break, ast.Raise)):
        return True
    return isinstance(last, ast.Expr)


def only_reports(body: list[ast.stmt]) -> bool:
    """Whether a block does nothing but print, log or draw, which no graph notices."""
    return all(
        isinstance(each, ast.Pass)
        or isinstance(each, ast.Expr)
        and isinstance(each.value, ast.Call)
        and _called(each.value.func) in SINKS
        for each in body
    )


def _called(fn: ast.expr) -> str:
    return fn.attr if isinstance(fn, ast.Attribute) else fn.id if isinstance(fn, ast.Name) else ""


def lower_if(node: ast.If, scope: Scope) -> Run:
    if only_reports(node.body) and only_reports(node.orelse):
        # `if i % 100 == 0: print(...)` is no reason to run up to iteration 100.
        tests = (each for each in ast.walk(node.test) if isinstance(each, (ast.BinOp, ast.Compare)))
        scope.idle.update(id(each) for each in tests)
    test, site = lower(node.test, scope), scope.site(node.test)
    body, orelse = block(node.body, scope), block(node.orelse, scope)
    body_leaves, else_leaves = leaves(node.body), leaves(node.orelse)
    hint: bool | None = None
    flip = True
    if fails(node.body) != fails(node.orelse):
        hint = fails(node.orelse)
    elif body_leaves != else_leaves:
        hint = not body_leaves
        # A side that only ends the loop or fails is a shorter run of the same loop, not another program.
    if body_leaves != else_leaves:
        flip = not ends_loop(node.body if body_leaves else node.orelse)
    mark = id(node)

    def run(f: Frame) -> Any:
        rt = f.rt
        cond = test(f)
        known = rt.known(cond, site)
        if known is not None:
            return body(f) if known else orelse(f)
        if type(cond) is not Sym:
            cond = rt.fresh(site, "bool")
        side = rt.each_time.get(id(site), hint)
        if rt.shared.significant.get(mark):
            return body(f) if rt.decide(cond, site, side, flip) else orelse(f)
        return attempt(f, cond, body, orelse, site, side, mark, flip)

    return run


def attempt(
    f: Frame, cond: Sym, body: Run, orelse: Run, site: Any, hint: bool | None, mark: int, flip: bool
) -> Any:
    """Try both sides of an unknown condition; merge them or decide."""
    rt = f.rt
    usual = hint if hint is not None else usual_side(rt, cond)
    first, second = (body, orelse) if usual else (orelse, body)
    other = _try_side(f, second)
    if other is None:
        rt.shared.significant[mark] = True
        return body(f) if rt.decide(cond, site, hint, flip) else orelse(f)
    outer, log = rt.log, Log()
    events, place, grad = rt.events, len(rt.trace), rt.grad
    rt.log = log
    try:
        signal = first(f)
    except (Raised, Ended):
        # The run ends in this branch: whether it is taken decides that.
        rt.shared.significant[mark] = True
        tail = rt.trace[place:]
        del rt.trace[place:]
        rt.decide(cond, site, usual, flip)
        rt.trace.extend(tail)
        raise
    finally:
        rt.log = outer
        if outer is not None:
            for key, entry in log.items():
                outer.setdefault(key, entry)
    if signal is None and rt.events == events and rt.grad == grad and not _matters(log, other):
        _merge(rt, cond, usual, log, other, site, mark)
        return None
    rt.shared.significant[mark] = True
    tail = rt.trace[place:]
    del rt.trace[place:]
    rt.decide(cond, site, usual, flip)
    rt.trace.extend(tail)
    return signal


def usual_side(rt: Any, cond: Sym) -> bool:
    if cond.op == "not":
        return not usual_side(rt, cond.args[0]) if type(cond.args[0]) is Sym else False
    if cond.op == "and":
        return all(usual_side(rt, a) for a in cond.args if type(a) is Sym)
    if cond.op == "or":
        return any(usual_side(rt, a) for a in cond.args if type(a) is Sym)
    if cond.op == "phi":
        return bool(rt.known(cond.args[1])) if rt.known(cond.args[1]) is not None else True
    return bool(rt.usual(cond))


def _try_side(f: Frame, side: Run) -> dict[Any, tuple] | None:
    """Run one side and roll it back; what it wrote, or None where it does more than write harmlessly."""
    rt = f.rt
    outer, log = rt.log, Log()
    events, place, facts = rt.events, len(rt.trace), len(rt.seen)
    where, depth, grad, handlers = rt.where, rt.depth, rt.grad, len(rt.handlers)
    frames = len(rt.frames)
    rt.log = log
    rt.trying += 1
    result: dict[Any, tuple] | None = None
    try:
        signal = side(f)
        if signal is None and rt.events == events and len(rt.trace) == place and rt.grad == grad:
            result = {}
            for key, (obj, name, old) in log.items():
                if name is WHOLE and isinstance(obj, (list, set)):
                    new: Any = list(obj)
                elif name is WHOLE:
                    new = MISSING
                elif type(name) is Slot:
                    new = getattr(obj, name)
                else:
                    new = obj.get(name, MISSING)
                result[key] = (obj, name, old, new)
    except (Abort, Raised, Ended):
        result = None
    except Budget:
        rt.trying -= 1
        rt.log = outer
        raise
    rt.trying -= 1
    rt.log = outer
    log.undo()
    del rt.trace[place:]
    del rt.seen[facts:]
    del rt.handlers[handlers:]
    del rt.frames[frames:]
    rt.where, rt.depth, rt.grad, rt.events = where, depth, grad, events
    return result


def _matters(log: Log, other: dict[Any, tuple]) -> bool:
    for obj, name, old in log.values():
        if _entry_matters(obj, name, old, _current(obj, name)):
            return True
    if any(_entry_matters(obj, name, old, new) for obj, name, old, new in other.values()):
        return True
    grads = {key: entry[0] for key, entry in (*log.items(), *other.items()) if _is_grad(entry[1])}
    return any(_clears(log, other, key, leaf) for key, leaf in grads.items())


def _is_grad(name: Any) -> bool:
    return type(name) is Slot and name == "grad"


def _clears(log: Log, other: dict[Any, tuple], key: Any, leaf: Any) -> bool:
    """Whether one side alone clears a gradient: an optimizer steps what has one."""
    theirs = other[key][3] if key in other else log[key][2]
    return (leaf.grad is None) is not (theirs is None)


def _current(obj: Any, name: Any) -> Any:
    if name is WHOLE:
        return list(obj) if isinstance(obj, (list, set)) else obj
    if type(name) is Slot:
        return getattr(obj, name)
    return obj.get(name, MISSING)


def _entry_matters(obj: Any, name: Any, old: Any, new: Any) -> bool:
    if name is WHOLE and isinstance(obj, (LList, LSet)):
        return any(relevant(v) for v in [*old, *new][:64])
    return relevant(old) or relevant(new)


def _merge(rt: Any, cond: Sym, usual: bool, log: Log, other: dict[Any, tuple], site: Any, mark: int) -> None:
    """Join the two sides at every place that either wrote."""
    for key, (obj, name, old, new) in other.items():
        if type(name) is Slot:
            continue
        mine = _current(obj, name)
        if name is WHOLE:
            if not _alike(mine, new):
                rt.mixed[id(obj)] = (obj, mark, None)
            continue
        if key not in log and new is MISSING:
            continue
        if mine is new:
            continue
        _join(rt, cond, usual, obj, name, mine, new, site, mark)
        del old
    for key, (obj, name, old) in list(log.items()):
        if key in other or type(name) is Slot:
            continue
        mine = _current(obj, name)
        if name is WHOLE:
            if not _alike(mine, list(old)):
                rt.mixed[id(obj)] = (obj, mark, None)
        elif mine is not old:
            _join(rt, cond, usual, obj, name, mine, old, site, mark)


def _join(
    rt: Any, cond: Sym, usual: bool, obj: Any, name: Any, mine: Any, other: Any, site: Any, mark: int
) -> None:
    if obj is rt.assign or obj is rt.facts:
        return
    if mine is MISSING or other is MISSING:
        rt.mixed[id(obj)] = (obj, mark, None)  # whether it has this entry
        # An entry under an unknown key may be there or not; the entries that are there stand for it.
        if mine is MISSING and not (type(obj) is LDict and type(name) in (Sym, Tensor)):
            rt.put(obj, name, other)
    elif _plain(mine) and _plain(other):
        if type(mine) is type(other) and mine == other:
            return
        yes, no = (mine, other) if usual else (other, mine)
        key = ("phi", cond.key, name, stamp(yes), stamp(no))
        rt.put(obj, name, rt.compound(key, "any", "phi", (cond, yes, no), site))
    else:
        _join_values(rt, cond, usual, obj, name, mine, other, mark)


def _join_values(
    rt: Any, cond: Sym, usual: bool, obj: Any, name: Any, mine: Any, other: Any, mark: int
) -> None:
    """Join two values of which one at least is more than a constant or an unknown: one of them stands for both."""
    if type(mine) is Tensor and type(other) is Tensor and mine.storage is not other.storage:
        for one, two in ((mine.storage, other.storage), (other.storage, mine.storage)):
            rt.merged[id(one)] = (one, two, mark)
    if not _alike(mine, other):
        # `mask = None` or a tensor: what follows goes on with the tensor, and may not ask whether it is one.
        kept = other if type(mine) in CONST or mine == () else mine
        if kept is other:
            rt.put(obj, name, kept)
        if type(mine) is Tensor and type(other) is Tensor and mine.not_float == other.not_float:
            mine.length = mine.shape = None
        elif type(kept) is Obj and kept.is_a("inert"):
            rt.mixed[id(kept)] = (kept, mark, (cond, mine, other) if usual else (cond, other, mine))
        elif type(kept) is not Sym:
            rt.mixed[id(kept)] = (kept, mark, None)


def _alike(mine: Any, other: Any) -> bool:
    """Whether every question about two values has the same answer, as far as a graph could notice."""
    kind = type(mine)
    if kind is not type(other):
        return False
    if kind is Obj:
        return mine.cls is other.cls
    if kind is LDict:
        return list(mine) == list(other)
    if isinstance(mine, (tuple, list)):
        return len(mine) == len(other) and all(
            a is b or _plain(a) and _plain(b) and stamp(a) == stamp(b) for a, b in zip(mine, other)
        )
    if kind is LSet:
        return set(mine) == set(other)
    if kind is Tensor:
        return (mine.length, mine.shape, mine.not_float) == (other.length, other.shape, other.not_float)
    return True


def _plain(value: Any) -> bool:
    return type(value) in CONST and type(value) is not slice or (type(value) is Sym and value.node is None)


def lower_match(node: Any, scope: Scope) -> Run:
    """``match``: each case's pattern is a test; what cannot be decided is unknown."""
    subject = lower(node.subject, scope)
    chosen = lower_cases(node, scope, block)

    def run(f: Frame) -> Any:
        body = chosen(f, subject(f))
        return body(f) if body is not None else None

    return run


def lower_cases(
    node: Any, scope: Scope, lowered: Callable[[list[ast.stmt], Scope], Run]
) -> Callable[[Frame, Any], Run | None]:
    """The choice of a ``match``: which case's body a value takes, each ``lowered`` in one form or the other."""
    from .patterns import pattern

    site = scope.site(node.subject)
    cases: list[tuple[Any, Any, Run, bool | None]] = []
    for case in node.cases:
        guard = lower(case.guard, scope) if case.guard is not None else None
        rest = node.cases[len(cases) + 1 :]
        # A case that only leaves is not the usual one, where others do something.
        hint: bool | None = None
        if leaves(case.body) and not all(leaves(each.body) for each in rest):
            hint = False
        elif not leaves(case.body) and rest and all(leaves(each.body) for each in rest):
            hint = True
        cases.append((pattern(case.pattern, scope), guard, lowered(case.body, scope), hint))

    def chosen(f: Frame, value: Any) -> Run | None:
        rt = f.rt
        value = rt.resolve(value)
        rt.ask(value)
        for test, guard, body, hint in cases:
            fits = test(f, value)
            if fits is None:
                fits = rt.decide(rt.fresh(site, "bool"), site, hint, hint is None)
            if not fits:
                continue
            if guard is not None and not rt.truth(guard(f), site):
                continue
            return body
        return None

    return chosen
