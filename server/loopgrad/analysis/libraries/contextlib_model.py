"""``contextlib``: generator contexts, also as decorators, exit stacks, ``nullcontext`` and ``suppress``."""

from __future__ import annotations

from typing import Any

from ..signals import Raised
from ..values import Class, Iter, LList, Native, Obj, Partial
from ..where import Site
from .registry import native


@native("contextlib.contextmanager")
def _contextmanager(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    fn = args[0]

    def run(rt_: Any, s: Site, a: list, k: dict) -> Any:
        made = Obj(GENERATOR_CONTEXT)
        made.data = rt_.shared.calls.call(rt_, fn, a, k, s)
        made.attrs["again"] = Native("again", lambda rt2, s2, _a, _k: run(rt2, s2, a, k))
        return made if type(made.data) is Iter else rt_.fresh(s, "object")

    made = Native(getattr(fn, "name", "context"), run)
    return made


GENERATOR_CONTEXT = Class("GeneratorContext")
GENERATOR_CONTEXT.flags = frozenset({"generator-context"})


def _decorating(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``@context()`` on a function: each call of it enters a context of its own."""
    context, fn = args

    def run(rt_: Any, s: Site, a: list, k: dict) -> Any:
        manager = rt_.shared.calls.call(rt_, context.attrs["again"], [], {}, s)
        token = rt_.shared.contexts.enter(rt_, manager, s)
        try:
            result = rt_.shared.calls.call(rt_, fn, a, k, s)
        except Raised as error:
            if not rt_.shared.contexts.leave(rt_, manager, token, s, error.kind):
                raise
            return None
        rt_.shared.contexts.leave(rt_, manager, token, s, None)
        return result

    return Native(getattr(fn, "name", "decorated"), run)


GENERATOR_CONTEXT.ns["__call__"] = Native("__call__", _decorating)


@native("contextlib.nullcontext")
def _nullcontext(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    made = Obj(NULL)
    made.data = args[0] if args else None
    return made


NULL = Class("nullcontext")
NULL.flags = frozenset({"inert"})
NULL.ns["__enter__"] = Native("__enter__", lambda rt, site, args, kwargs: args[0].data)
NULL.ns["__exit__"] = Native("__exit__", lambda rt, site, args, kwargs: None)


@native("contextlib.suppress")
def _suppress(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    made = Obj(SUPPRESS)
    made.data = frozenset(getattr(a, "name", "") for a in args)
    return made


SUPPRESS = Class("suppress")
SUPPRESS.flags = frozenset({"suppress", "inert"})


@native("contextlib.ExitStack")
def _exit_stack(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    made = Obj(EXIT_STACK)
    made.attrs["entered"] = LList()
    return made


def _enter_context(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    stack, manager = args
    token = rt.shared.contexts.enter(rt, manager, site)
    rt.put(stack.attrs, "entered", LList([*stack.attrs["entered"], (manager, token)]))
    return token.value


def _callback(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    stack, fn, *rest = args
    rt.put(stack.attrs, "entered", LList([*stack.attrs["entered"], (Partial(fn, rest, kwargs), None)]))
    return fn


def _close(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    _unwind(rt, site, args[:1], {})


def _unwind(rt: Any, site: Site, args: list, kwargs: dict) -> bool:
    """Leaves what was entered, the last first; True where one of them swallows the exception."""
    stack = args[0]
    error = args[1] if len(args) > 1 and type(args[1]) is str else None
    entered = list(stack.attrs["entered"])
    rt.put(stack.attrs, "entered", LList())
    swallowed = False
    for manager, token in reversed(entered):
        if type(manager) is Partial:
            rt.shared.calls.call(rt, manager, [], {}, site)
        elif rt.shared.contexts.leave(rt, manager, token, site, error):
            error, swallowed = None, True
    return swallowed


EXIT_STACK = Class("ExitStack")
EXIT_STACK.flags = frozenset({"inert"})
EXIT_STACK.ns.update(
    __enter__=Native("__enter__", lambda rt, site, args, kwargs: args[0]),
    __exit__=Native("__exit__", _unwind),
    close=Native("close", _close),
    enter_context=Native("enter_context", _enter_context),
    callback=Native("callback", _callback),
    push=Native("push", lambda rt, site, args, kwargs: args[1]),
)
