"""Threads and queues: what goes in comes out."""

from __future__ import annotations

from typing import Any

from ..semantics.calls import arg
from ..signals import Raised
from ..values import (
    Bound,
    Class,
    Func,
    LDict,
    LList,
    Native,
    Obj,
    Sym,
)
from ..where import Site
from .registry import TABLE

QUEUE = Class("Queue")
QUEUE.flags = frozenset({"inert"})


def _queue_init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    args[0].data = LList()


def _queue_put(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    value = arg(args, kwargs, 1, "item")
    rt.note_list(args[0].data)
    list.append(args[0].data, value)


def _queue_get(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    items = args[0].data
    if isinstance(items, LList) and items:
        rt.note_list(items)
        return list.pop(items, 0)
    return rt.fresh(site)


def _queue_empty(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return rt.fresh(site, "bool") if not args[0].data else False


QUEUE.ns.update(
    {
        n: Native(n, f)
        for n, f in {
            "__init__": _queue_init,
            "put": _queue_put,
            "put_nowait": _queue_put,
            "get": _queue_get,
            "get_nowait": _queue_get,
            "empty": _queue_empty,
        }.items()
    }
)
for _name in ("qsize", "full", "join", "task_done"):
    QUEUE.ns[_name] = Native(_name, lambda rt, site, args, kwargs: rt.fresh(site, "number"))
QUEUE.build = lambda rt, cls, args, kwargs, site: Obj(cls, LList())
for _name in (
    "queue.Queue",
    "queue.LifoQueue",
    "queue.SimpleQueue",
    "queue.PriorityQueue",
    "multiprocessing.Queue",
    "torch.multiprocessing.Queue",
):
    TABLE[_name] = QUEUE

THREAD = Class("Thread")
THREAD.flags = frozenset({"inert"})


def _thread_init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    obj = args[0]
    obj.attrs["_target"] = arg(args, kwargs, 2, "target")
    obj.attrs["_args"] = arg(args, kwargs, 4, "args", ())
    obj.attrs["_kwargs"] = kwargs.get("kwargs", LDict())


def _thread_start(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    """The thread's function runs at once: no interleaving is assumed, and nothing it stores is lost."""
    obj = args[0]
    target = obj.attrs.get("_target")
    run = obj.cls.find("run")
    grad, rt.grad = rt.grad, True  # grad mode is per thread
    try:
        if type(run) is Func:
            rt.shared.calls.call(rt, Bound(run, obj), [], {}, site)
        elif target is not None and type(target) is not Sym:
            given = obj.attrs.get("_args", ())
            named = obj.attrs.get("_kwargs")
            rt.shared.calls.call(
                rt,
                target,
                list(given) if isinstance(given, (tuple, LList)) else [],
                dict(named) if isinstance(named, LDict) else {},
                site,
            )
    except Raised as error:
        if getattr(error, "observation", None) is not None:
            raise
    finally:
        rt.grad = grad


THREAD.ns.update({"__init__": Native("__init__", _thread_init), "start": Native("start", _thread_start)})
for _name in ("join", "is_alive", "setDaemon", "set", "wait", "clear", "is_set"):
    THREAD.ns[_name] = Native(_name, lambda rt, site, args, kwargs: rt.fresh(site, "bool"))
THREAD.build = lambda rt, cls, args, kwargs, site: Obj(cls)
TABLE["threading.Thread"] = THREAD
