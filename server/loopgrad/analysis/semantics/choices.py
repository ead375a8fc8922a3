"""What depends on an unknown choice: constants that a condition chose between, and entries that an unknown key names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..nesting import relevant
from ..signals import Raised
from ..tape import Tensor
from ..values import CONST, MISSING, LDict, Sym
from ..where import Site


def is_choice(value: Any) -> bool:
    """Whether a value is one constant or another, as a condition comes out."""
    return type(value) is Sym and value.op == "phi" and all(_constant(side) for side in value.args[1:])


def _constant(value: Any) -> bool:
    return type(value) in CONST and type(value) is not slice or is_choice(value)


def spread(rt: Any, choice: Sym, of: Callable[[Any], Any], site: Site) -> Any:
    """``of`` a choice: of the one constant or of the other, by the same condition. MISSING where that is no constant."""
    cond = choice.args[0]
    try:
        yes, no = of(choice.args[1]), of(choice.args[2])
    except Raised:
        return MISSING  # an error of the one side is none of the other
    if not (_constant(yes) and _constant(no)):
        return MISSING
    if type(yes) is type(no) and type(yes) in CONST and yes == no:
        return yes
    key = ("phi", cond.key, stamp(yes), stamp(no))
    return rt.compound(key, "any", "phi", (cond, yes, no), site)


def spread_either(rt: Any, a: Any, b: Any, of: Callable[[Any, Any], Any], site: Site) -> Any:
    """``of`` two operands, of which one is a choice and the other a constant. MISSING where they are not."""
    if is_choice(a) and type(b) in CONST:
        return spread(rt, a, lambda side: of(side, b), site)
    if is_choice(b) and type(a) in CONST:
        return spread(rt, b, lambda side: of(a, side), site)
    return MISSING


def stamp(value: Any) -> Any:
    """What tells a constant or an unknown from another: ``1`` is not ``True``."""
    return value.key if type(value) is Sym else (type(value).__name__, value)


def settled(rt: Any, value: Any, site: Site) -> Any:
    """The constant behind a choice, which is decided: how often a loop turns, which element is meant."""
    value = rt.resolve(value)
    while is_choice(value):
        value = rt.resolve(value.args[1] if rt.part(value.args[0], site) else value.args[2])
    return value


def element(rt: Any, items: Sequence[Any], key: Any, site: Site) -> Any:
    """The element that an unknown index names; MISSING where one of them may stand for all."""
    if type(key) is Tensor or key.node is not None or len(items) < 2:
        return MISSING
    if len(items) == 2:  # `(h, h.detach())[args.cut]`
        return _either(rt, key, items[1], items[0], site)
    return _any(rt, items, site)


def entry(rt: Any, table: LDict, key: Any, site: Site, default: Any = MISSING) -> Any:
    """The entry that an unknown key names; MISSING where one of them may stand for all."""
    if type(key) is not Sym or table.open:
        return MISSING
    if all(type(k) is bool for k in table) and len(table) + (default is not MISSING) >= 2:
        return _either(rt, key, table.get(True, default), table.get(False, default), site)
    return _any(rt, [*table.values(), *([] if default is MISSING else [default])], site)


def _either(rt: Any, key: Sym, yes: Any, no: Any, site: Site) -> Any:
    if _constant(yes) and _constant(no):
        return spread(
            rt, Sym(("phi", key.key, id(site)), "any", "phi", (key, yes, no)), lambda side: side, site
        )
    if relevant(yes) or relevant(no) or type(yes) is not type(no):
        return yes if rt.part(key, site) else no
    return MISSING


def _any(rt: Any, values: Sequence[Any], site: Site) -> Any:
    """An unknown one of several values that a program asks about; what is only used may be any of them."""
    if not all(map(_constant, values)) or len({stamp(value) for value in values}) < 2:
        return MISSING
    numeric = all(type(value) in (int, float) for value in values)
    return rt.fresh(site, "number" if numeric else "any")
