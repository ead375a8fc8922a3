"""``heapq`` and ``bisect``: lists that are kept in order.

Where the order is known, a heap is held as a sorted list: its first element is the smallest, as in Python; where the
others stand nobody should rely on. Where it is not known, what is put in is kept, and what is taken out of it or read
from it is one of its elements by chance.
"""

from __future__ import annotations

import ast
import bisect
import itertools
from typing import Any

from ..lower.scope import text_of
from ..semantics.calls import arg
from ..semantics.containers import plain
from ..signals import Raised
from ..values import CONST, MISSING, LList
from ..where import Site
from .chance_model import drawn, perhaps
from .registry import native


def _key(rt: Any, item: Any, key: Any, site: Site) -> Any:
    """What an element is ordered by: a constant, a tuple as far as it is known, or MISSING."""
    value = rt.resolve(rt.shared.calls.call(rt, key, [item], {}, site) if key is not None else item)
    if type(value) is tuple:
        return tuple(itertools.takewhile(lambda part: part is not MISSING, map(plain, value))) or MISSING
    return plain(value)


def _place(keys: list[Any], key: Any, left: bool) -> int | None:
    """Where an element goes among others; None where the keys do not tell."""
    if key is MISSING or any(each is MISSING for each in keys):
        return None
    if type(key) is tuple and any(each == key for each in keys):
        return None  # what follows decides, and is not known
    try:
        return bisect.bisect_left(keys, key) if left else bisect.bisect_right(keys, key)
    except TypeError:
        raise Raised("TypeError") from None


def _put(rt: Any, items: Any, value: Any, key: Any, site: Site, left: bool = False) -> None:
    if type(items) is not LList:
        return
    if type(value) not in CONST:
        held = site.node.args[0] if isinstance(site.node, ast.Call) and site.node.args else None
        rt.stored(value, site, text_of(held) if held is not None else "?", "append")
    rt.note_list(items)
    _insert(rt, items, value, key, site, left)


def _insert(rt: Any, items: list, value: Any, key: Any, site: Site, left: bool = False) -> None:
    at = _place([_key(rt, item, key, site) for item in items], _key(rt, value, key, site), left)
    if at is None and items:
        items[:] = [perhaps(rt, item, site) for item in items]
        value = perhaps(rt, value, site)
    list.insert(items, len(items) if at is None else at, value)


def _take(rt: Any, items: Any, site: Site) -> Any:
    if type(items) is not LList:
        return rt.fresh(site)
    if not items:
        if items.open:
            return rt.fresh(site)
        raise Raised("IndexError")
    rt.note_list(items)
    return list.pop(items, 0)


@native("bisect.insort", "bisect.insort_right")
def _insort(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    _put(rt, args[0], args[1], kwargs.get("key"), site)


@native("bisect.insort_left")
def _insort_left(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    _put(rt, args[0], args[1], kwargs.get("key"), site, left=True)


@native("heapq.heappush")
def _heappush(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    _put(rt, args[0], args[1], None, site)


@native("heapq.heappop")
def _heappop(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return _take(rt, args[0], site)


@native("heapq.heappushpop")
def _heappushpop(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    _put(rt, args[0], args[1], None, site)
    return _take(rt, args[0], site)


@native("heapq.heapreplace")
def _heapreplace(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    taken = _take(rt, args[0], site)
    _put(rt, args[0], args[1], None, site)
    return taken


@native("heapq.heapify")
def _heapify(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    items = args[0]
    if type(items) is LList:
        rt.note_list(items)
        before = list(items)
        del items[:]
        for item in before:
            _insert(rt, items, item, None, site)


@native("heapq.nlargest", "heapq.nsmallest")
def _some(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    count = arg(args, kwargs, 0, "n")
    items, more = rt.shared.objects.listed(rt, arg(args, kwargs, 1, "iterable"), site)
    if type(count) is not int or more or not items:
        return LList(items, True)
    return LList(
        [drawn(rt, items, site) for _ in range(min(count, len(items), 8))], min(count, len(items)) > 8
    )
