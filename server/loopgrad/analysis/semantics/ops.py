"""What Python's operators mean on abstract values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .. import cuts
from ..lower.expressions import const_op
from ..nesting import parts_of
from ..signals import Raised
from ..tape import Tensor
from ..values import (
    CONST,
    MISSING,
    MOST_ITEMS,
    Bound,
    Class,
    Func,
    LDict,
    LList,
    LSet,
    Namespace,
    Native,
    Obj,
    Sym,
    UserModule,
    capped,
)
from ..where import Site
from .choices import is_choice, settled, spread, spread_either

_DUNDER = {
    "add": "__add__",
    "sub": "__sub__",
    "mul": "__mul__",
    "truediv": "__truediv__",
    "floordiv": "__floordiv__",
    "mod": "__mod__",
    "pow": "__pow__",
    "matmul": "__matmul__",
    "and": "__and__",
    "or": "__or__",
    "xor": "__xor__",
    "lshift": "__lshift__",
    "rshift": "__rshift__",
}
_COMPARE_DUNDER = {
    "eq": "__eq__",
    "ne": "__ne__",
    "lt": "__lt__",
    "le": "__le__",
    "gt": "__gt__",
    "ge": "__ge__",
}
_FLIP = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def key_of(value: Any) -> Any:
    """A hashable identity of a value for the keys of what is derived from it."""
    kind = type(value)
    if kind is Sym:
        return value.key
    if kind in CONST and kind is not slice:
        return (kind.__name__, value)
    if kind is tuple:
        return tuple(key_of(v) for v in value)
    return ("id", kind.__name__)


def has_identity(value: Any) -> bool:
    """Whether ``key_of`` names this very value, so that the same question has the same answer."""
    kind = type(value)
    return (
        kind is Sym
        or (kind in CONST and kind is not slice)
        or (kind is tuple and all(map(has_identity, value)))
    )


def concrete(value: Any) -> bool:
    """A constant through and through."""
    kind = type(value)
    return kind in CONST or (kind is tuple and all(concrete(v) for v in value))


def binary(rt: Any, op: str, fn: Callable[[Any, Any], Any], a: Any, b: Any, site: Site) -> Any:
    """``a <op> b``."""
    ta, tb = type(a), type(b)
    if ta is Sym:
        a = rt.resolve(a)
        ta = type(a)
    if tb is Sym:
        b = rt.resolve(b)
        tb = type(b)
    if ta is Obj and tb is Tensor and a.cls.find(_DUNDER.get(op, "")) is not MISSING:
        return _user(rt, op, a, b, site)
    if ta is Tensor or tb is Tensor:
        return rt.shared.tensors.binary(rt, op, a, b, site)
    if (ta is Sym and a.node is not None) or (tb is Sym and b.node is not None):
        return rt.shared.tensors.binary(rt, op, a, b, site)
    if rt.mixed:
        rt.ask(a)
        rt.ask(b)
    if ta is Sym or tb is Sym:
        found = spread_either(rt, a, b, lambda x, y: binary(rt, op, fn, x, y, site), site)
        if found is not MISSING:
            return found
    if ta in CONST and tb in CONST:
        result = const_op(fn, op, a, b)
        return result if result is not MISSING else rt.fresh(site, "number")
    if ta is tuple and tb is tuple and op == "add":
        return a + b if len(a) + len(b) <= MOST_ITEMS else rt.fresh(site)
    if ta is LList and tb is LList and op == "add":
        return capped([*a, *b], a.open or b.open)
    if op == "mul" and (ta in (LList, tuple) or tb in (LList, tuple)):
        return _repeat(rt, a, b, site)
    if ta is str and op == "mod":
        return _percent(rt, a, b, site)
    if ta is LDict and tb is LDict and op == "or":
        out = LDict(a, a.open or b.open)
        out.update(b)
        return out
    if ta is LSet and tb is LSet and op in ("or", "and", "sub", "xor"):
        return LSet(fn(set(a), set(b)), a.open or b.open)
    if ta is Obj or tb is Obj:
        found = _user(rt, op, a, b, site)
        if found is not MISSING:
            return found
    if ta is Sym or tb is Sym:
        return _derived(rt, op, a, b, site)
    if ta is tuple and tb is tuple:
        return rt.fresh(site)
    if (ta in CONST or ta in (tuple, LList, LDict)) and (tb in CONST or tb in (tuple, LList, LDict)):
        raise Raised("TypeError")
    return rt.fresh(site)


def _derived(rt: Any, op: str, a: Any, b: Any, site: Site) -> Any:
    """An operation on an unknown: the same operation on the same unknowns is the same unknown."""
    if op == "mod" and type(b) is int and b == 1 and type(a) is Sym and _whole(rt, a.key):
        return 0
    # What comes of an unknown may be a tensor, unless both sides are plainly numbers.
    kind = "number" if _numeric(a) and _numeric(b) else "any"
    if (
        (type(a) is Sym and a.kind == "str")
        or (type(b) is Sym and b.kind == "str")
        or str in (type(a), type(b))
    ):
        kind = "str"
    if has_identity(a) and has_identity(b):
        key = (op, key_of(a), key_of(b))
        if parts_of(key, 24) < 24:
            rt.results.add(key)
            made = Sym(key, kind)
            made.cut = cuts.of((a, b))
            return made
    made = rt.fresh(site, kind)
    rt.results.add(made.key)
    made.cut = cuts.of((a, b))
    return made


def _whole(rt: Any, key: Any) -> bool:
    """Whether an unknown is a whole number: a counter, or the sum of one and a number."""
    while key not in rt.whole:
        if type(key) is not tuple or len(key) != 3 or key[0] not in ("add", "sub"):
            return False
        if type(key[2]) is not tuple or key[2][0] != "int":
            return False
        key = key[1]
    return True


def _numeric(value: Any) -> bool:
    return value.kind == "number" if type(value) is Sym else type(value) in (int, float, bool, complex)


def _repeat(rt: Any, a: Any, b: Any, site: Site) -> Any:
    seq, count = (a, b) if type(a) in (LList, tuple) else (b, a)
    count = settled(rt, count, site)
    if type(count) is not int:
        items = list(seq) * 3
        return LList(items, True) if type(seq) is LList else tuple(items)
    n = max(count, 0)
    if n * len(seq) > 4096:
        n = max(1, 64 // max(len(seq), 1))
        return LList(list(seq) * n, True) if type(seq) is LList else tuple(list(seq) * n)
    return LList(list(seq) * n, seq.open) if type(seq) is LList else seq * n


def _percent(rt: Any, template: str, value: Any, site: Site) -> Any:
    if concrete(value):
        try:
            return template % value
        except (TypeError, ValueError, KeyError) as error:
            raise Raised(type(error).__name__) from None
    return rt.fresh(site, "str")


def _user(rt: Any, op: str, a: Any, b: Any, site: Site) -> Any:
    name = _DUNDER.get(op)
    if name is None:
        return MISSING
    if type(a) is Obj:
        method = a.cls.find(name)
        if method is not MISSING:
            result = rt.shared.calls.call(rt, Bound(method, a), [b], {}, site)
            if result is not NotImplemented:
                return result
    if type(b) is Obj:
        method = b.cls.find("__r" + name[2:])
        if method is not MISSING:
            return rt.shared.calls.call(rt, Bound(method, b), [a], {}, site)
    return rt.fresh(site)


def unary(rt: Any, op: str, value: Any, site: Site) -> Any:
    """``-v``, ``+v``, ``~v``."""
    if type(value) is Sym:
        value = rt.resolve(value)
    if is_choice(value):
        found = spread(rt, value, lambda side: unary(rt, op, side, site), site)
        if found is not MISSING:
            return found
    kind = type(value)
    if kind is Tensor or (kind is Sym and value.node is not None):
        if op == "pos":
            return value
        return rt.shared.tensors.apply(rt, "neg" if op == "neg" else "bitwise_not", [value], {}, site)
    if kind in (int, float, bool, complex):
        fn = {"neg": operator.neg, "pos": operator.pos, "invert": operator.invert}[op]
        try:
            return fn(value)  # type: ignore[operator]
        except TypeError:
            raise Raised("TypeError") from None
    if kind is Obj:
        method = value.cls.find({"neg": "__neg__", "pos": "__pos__", "invert": "__invert__"}[op])
        if method is not MISSING:
            return rt.shared.calls.call(rt, Bound(method, value), [], {}, site)
    if kind is Sym:
        return Sym((op, value.key), value.kind if value.kind in ("number", "any", "tensor") else "any")
    return rt.fresh(site)


def compare(rt: Any, op: str, fn: Callable[[Any, Any], Any], a: Any, b: Any, site: Site) -> Any:
    """A comparison: True, False, an unknown, or a boolean tensor."""
    ta, tb = type(a), type(b)
    if ta is Sym:
        a = rt.resolve(a)
        ta = type(a)
    if tb is Sym:
        b = rt.resolve(b)
        tb = type(b)
    if rt.mixed:
        rt.ask(a)
        rt.ask(b)
        found = _of_two(rt, op, a, b)
        if found is not MISSING:
            return found
    if ta is Sym or tb is Sym:
        found = spread_either(rt, a, b, lambda x, y: compare(rt, op, fn, x, y, site), site)
        if found is not MISSING:
            return found
    if op == "is" or op == "isnot":
        return _identity(rt, op, a, b)
    if op == "in" or op == "notin":
        found = rt.shared.objects.contains(rt, b, a, site)
        return found if op == "in" else _negated(rt, found)
    if ta is Tensor or tb is Tensor:
        if a is None or b is None or ta is str or tb is str:
            return op == "ne"
        return rt.shared.tensors.graphless(rt, site, "bool")
    if ta in CONST and tb in CONST:
        try:
            return fn(a, b)
        except TypeError:
            raise Raised("TypeError") from None
    if ta is Obj or tb is Obj:
        owner, other, name = (a, b, op) if ta is Obj else (b, a, _FLIP[op])
        method = owner.cls.find(_COMPARE_DUNDER[name])
        if method is not MISSING:
            return rt.shared.calls.call(rt, Bound(method, owner), [other], {}, site)
        if type(owner.data) in CONST and owner.data is not None and type(other) in CONST:
            return fn(owner.data, other) if ta is Obj else fn(other, owner.data)
        if op in ("eq", "ne") and tb is not Sym and ta is not Sym:
            if type(owner.data) is tuple and type(other) is tuple:
                return compare(rt, op, fn, owner.data, other, site)
            if owner.cls.fields is not None and type(other) is Obj and other.cls is owner.cls:
                same = compare(
                    rt,
                    "eq",
                    operator.eq,
                    tuple(owner.attrs.get(n) for n, _ in owner.cls.fields),
                    tuple(other.attrs.get(n) for n, _ in owner.cls.fields),
                    site,
                )
                return same if op == "eq" else _negated(rt, same)
            return (a is b) == (op == "eq")
    if ta in (Func, Class, Native, Namespace, UserModule) or tb in (
        Func,
        Class,
        Native,
        Namespace,
        UserModule,
    ):
        if op in ("eq", "ne") and ta is not Sym and tb is not Sym:
            return _one(rt, a, b) == (op == "eq")
    if ta is not Sym and tb is not Sym:
        return _containers(rt, op, fn, a, b, site)
    if op == "ne":
        return _negated(rt, compare(rt, "eq", operator.eq, a, b, site))
    if op == "eq" and ta is not Sym:
        a, b = b, a
    if has_identity(a) and has_identity(b):
        if op == "eq" and key_of(a) == key_of(b):
            return True
        # a == "x" and a != "x", a > 0 and not a <= 0 are the same question.
        if op == "ge":
            return _negated(rt, Sym(("lt", key_of(a), key_of(b)), "compare", "lt", (a, b)))
        if op == "le":
            return _negated(rt, Sym(("gt", key_of(a), key_of(b)), "compare", "gt", (a, b)))
        return Sym((op, key_of(a), key_of(b)), "compare", op, (a, b))
    return rt.fresh(site, "compare")


def _of_two(rt: Any, op: str, a: Any, b: Any) -> Any:
    """Whether something inert (a logger, a scheduler) is there, where one branch made it and another did not."""
    value, other = (a, b) if type(a) is Obj else (b, a)
    sides = rt.either(value)
    if sides is None or op not in ("is", "isnot", "eq", "ne") or type(other) not in CONST:
        return MISSING
    cond, yes, no = sides
    same = [type(side) is type(other) and side == other for side in (yes, no)]
    answers = [one == (op in ("is", "eq")) for one in same]
    if answers[0] == answers[1]:
        return answers[0]
    return Sym(("phi", cond.key, *answers), "bool", "phi", (cond, *answers))


def _negated(rt: Any, value: Any) -> Any:
    known = rt.known(value)
    if known is not None:
        return not known
    if type(value) is not Sym:
        return value
    return Sym(("not", value.key), "bool", "not", (value,))


def _one(rt: Any, a: Any, b: Any) -> bool:
    """Whether two things are one. The type of a tensor is Variable too: that is what old code asks for."""
    kinds = rt.shared.tensor_classes
    return a is b or type(a) is Class and type(b) is Class and a in kinds and b in kinds


def _identity(rt: Any, op: str, a: Any, b: Any) -> Any:
    yes = op == "is"
    if type(b) is Sym and type(a) is not Sym:
        a, b = b, a
    if type(a) is Sym:
        if b is None or type(b) is bool:
            if a.node is not None or a.kind in ("number", "str", "bool", "object", "compare", "call"):
                if b is None or a.kind in ("number", "str", "object"):
                    return not yes
            if rt.facts.get(a.key, ("", None))[0] == "truthy" and not b:
                return not yes
            if b is None and rt.is_something(a):
                return not yes
            sym = Sym(("is", a.key, b), "bool", "is", (a, b))
            known = rt.known(sym)
            if known is not None:
                return known is yes
            return sym if yes else Sym(("not", sym.key), "bool", "not", (sym,))
        if type(b) is Sym:
            if a.key == b.key:
                return yes
            sym = Sym(("is", a.key, b.key), "bool")
            return sym if yes else Sym(("not", sym.key), "bool", "not", (sym,))
        sym = Sym(("is", a.key, key_of(b)), "bool")
        return sym if yes else Sym(("not", sym.key), "bool", "not", (sym,))
    if type(a) in CONST and type(b) in CONST:
        return (type(a) is type(b) and a == b) is yes
    return _one(rt, a, b) is yes


def _containers(rt: Any, op: str, fn: Any, a: Any, b: Any, site: Site) -> Any:
    ta, tb = type(a), type(b)
    if ta is LSet and tb is LSet and not (a.open or b.open):
        answer = fn(set(a), set(b))
        return answer if all(map(concrete, (*a, *b))) else rt.fresh(site, "compare")
    if ta is LDict and tb is LDict and op in ("eq", "ne"):
        if a.open or b.open:
            return rt.fresh(site, "compare")
        same: Any = set(a) == set(b)
        for key in a if same else ():
            same = rt.known(compare(rt, "eq", operator.eq, a[key], b[key], site))
            if same is None:
                return rt.fresh(site, "compare")
            if not same:
                break
        return same if op == "eq" else not same
    if ta is tb and ta in (tuple, LList):
        if ta is LList and (a.open or b.open):
            return rt.fresh(site, "compare")
        if op in ("eq", "ne"):
            same = len(a) == len(b)
            for x, y in zip(a, b) if same else ():
                same = rt.known(compare(rt, "eq", operator.eq, x, y, site))
                if same is None:
                    return rt.fresh(site, "compare")
                if not same:
                    break
            return same if op == "eq" else not same
        for x, y in zip(a, b):
            same = rt.known(compare(rt, "eq", operator.eq, x, y, site))
            if same is None:
                return rt.fresh(site, "compare")
            if not same:
                return compare(rt, op, fn, x, y, site)
        return fn(len(a), len(b))
    if op in ("eq", "ne"):
        return op == "ne"
    return rt.fresh(site, "compare")


def inplace(rt: Any, op: str, fn: Callable[[Any, Any], Any], old: Any, new: Any, site: Site) -> Any:
    """``old <op>= new``: in place for a tensor or list, a new object otherwise."""
    if type(old) is Sym:
        old = rt.resolve(old)
    kind = type(old)
    if kind is Tensor:
        return rt.shared.tensors.inplace(rt, op, old, new, site)
    if kind is LList and op == "add":
        rt.note_list(old)
        items, more = rt.shared.objects.listed(rt, new, site)
        list.extend(old, items[: MOST_ITEMS - len(old)] if len(old) < MOST_ITEMS else ())
        old.open = old.open or more or len(old) >= MOST_ITEMS
        return old
    if kind is LList and op == "mul":
        repeated = _repeat(rt, old, new, site)
        rt.note_list(old)
        old[:] = repeated
        return old
    if kind is LDict and op == "or":
        rt.shared.objects.merge(rt, old, new, site)
        return old
    if kind is LSet and type(new) is LSet:
        rt.note_set(old)
        result = fn(set(old), set(new))
        old.clear()
        old.update(result)
        return old
    if kind is Obj:
        name = "__i" + _DUNDER.get(op, "__add__")[2:]
        method = old.cls.find(name)
        if method is not MISSING:
            return rt.shared.calls.call(rt, Bound(method, old), [new], {}, site)
    return binary(rt, op, fn, old, new, site)
