"""What models of frameworks share: running a framework's own loop, and calling the user's code from it.

A framework calls the user's step, hooks and closures from loops that stand in no file in reach. They run here at the
place that started them (``trainer.fit(…)``), in implicit loops: what happens in them is reported in the user's code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..lower.trips import Plan
from ..runtime import Frame
from ..tape import Tensor
from ..torch_model import autograd
from ..values import MISSING, Bound, Class, Func, LDict, LList, Native, Obj, Sym
from ..where import FRAMEWORK, LoopRun, Site, Where

Fn = Callable[[Any, Site, list, dict], Any]


def inside(rt: Any, site: Site) -> Site:
    """The place from which a framework calls: no line of the user's, so a story leads on into what is called."""
    if site.func == FRAMEWORK:
        return site
    made = rt.shared.inside.get(site)
    if made is None:
        made = rt.shared.inside[site] = Site(site.file, site.node, site.stmt, FRAMEWORK)
    return made


@contextmanager
def alive(rt: Any, site: Site, **held: Any) -> Iterator[None]:
    """While a framework runs, it holds these values, as variables of its own."""
    rt.frames.append(Frame(rt, site.file, {}, dict(held), None, None))
    try:
        yield
    finally:
        rt.frames.pop()


def repeat(rt: Any, site: Site, source: Any, body: Callable[[int, Any], Any]) -> None:
    """``for i, item in enumerate(source): body(i, item)``, as far as it has to run to be known.

    ``source`` is what ``iterate`` gives. An implicit loop at ``site``; its iterations are decided as those of any loop.
    """
    loop = LoopRun(site, "framework", implicit=True)
    parent = rt.where
    plan = Plan(rt, source.length, source.random, source.items, source.finite)
    loop.turns = plan.base
    loop.parent = rt.loops[-1] if rt.loops else None
    rt.loops.append(loop)
    i: int | None = 0
    try:
        while i is not None:
            rt.where = Where(parent, None, loop, i + 1)
            item = source.get(i)
            if item is MISSING:
                break
            rt.steps += 1
            body(i, item)
            item = None
            rt.shared.growth.end_of_iteration(rt, loop, i + 1, None)
            i = plan.next(i, source.length)
        rt.shared.growth.end_of_loop(rt, loop)
    finally:
        rt.loops.pop()
        rt.where = parent


def epochs(rt: Any, site: Site, count: Any) -> Any:
    """A source of epoch numbers; ``count`` as the user gave it: a number, or unknown."""
    return rt.shared.objects.iterate(rt, range(count) if type(count) is int else rt.fresh(site), site)


def batches(rt: Any, site: Site, data: Any) -> Any:
    """A source of batches of a loader, of several loaders (each batch unknown), or of what is not known."""
    several = data.values() if type(data) is LDict else data if type(data) in (tuple, LList) else ()
    if data is None or any(type(each) is Obj for each in several):
        data = rt.fresh(site)
    return rt.shared.objects.iterate(rt, data, site)


def fitting(fn: Any, args: list) -> list:
    """As many of the arguments as a function of the user's takes: frameworks look at its signature too."""
    func, given = (fn.func, 1) if type(fn) is Bound else (fn, 0)
    if type(func) is not Func or func.code.args.vararg is not None:
        return args
    return args[: max(len(func.code.params) - given, 0)]


def call(rt: Any, fn: Any, args: list, site: Site, kwargs: dict[str, Any] | None = None) -> Any:
    """Call a function of the user's with what it takes of these arguments, and unknowns for what else it wants."""
    given = fitting(fn, args)
    func, bound = (fn.func, 1) if type(fn) is Bound else (fn, 0)
    if type(func) is Func:
        named = kwargs or {}
        needed = func.code.params[bound + len(given) : len(func.code.params) - len(func.defaults)]
        given = [*given, *(rt.fresh(site) for name in needed if name not in named)]
    return rt.shared.calls.call(rt, fn, given, kwargs or {}, inside(rt, site))


def own(obj: Any, name: str) -> Any:
    """A method that the user's class defines, bound; None where only the framework's class has it, or none."""
    if type(obj) is not Obj:
        return None
    value = obj.attrs.get(name, MISSING)
    if value is not MISSING:
        return value if type(value) in (Func, Bound, Native) else None
    value = obj.cls.find(name)
    return Bound(value, obj) if type(value) is Func else getattr(value, "func", None)


def hook(rt: Any, obj: Any, name: str, args: list, site: Site) -> Any:
    """Call a hook if the user's class defines it."""
    method = own(obj, name)
    return call(rt, method, args, site) if method is not None else None


def backward(rt: Any, loss: Any, site: Site, kwargs: dict[str, Any] | None = None) -> None:
    """``loss.backward(…)`` as a framework calls it with what its own ``backward`` was given."""
    if type(loss) in (Tensor, Sym):
        known = ("gradient", "retain_graph", "create_graph", "inputs")
        given = {name: value for name, value in (kwargs or {}).items() if name in known}
        autograd.tensor_backward(rt, loss, [], given, site)


def detached(rt: Any, value: Any, site: Site, depth: int = 3) -> Any:
    """A value with its tensors cut from their graphs, through containers: what a framework keeps or hands on."""
    if type(value) is Tensor:
        return rt.shared.tensors.method(rt, value, "detach", [], {}, site)
    if type(value) is Sym:
        return Sym(("detached", value.key), value.kind) if value.node is not None else value
    if depth and type(value) is tuple:
        return tuple(detached(rt, each, site, depth - 1) for each in value)
    if depth and type(value) is LList:
        return LList([detached(rt, each, site, depth - 1) for each in value], value.open)
    if depth and type(value) is LDict:
        return LDict({k: detached(rt, each, site, depth - 1) for k, each in value.items()}, value.open)
    return value


@contextmanager
def evaluating(rt: Any, site: Site, *modules: Any) -> Iterator[None]:
    """``model.eval()`` and no recording, as for validation; both are put back afterwards."""
    from ..torch_model import nn

    modes = [(each, each.attrs.get("training", True)) for each in modules if type(each) is Obj]
    for module, _ in modes:
        nn._train(rt, site, [module, False], {})
    grad, mode_site = rt.grad, rt.mode_site
    rt.grad, rt.mode_site = False, site
    try:
        yield
    finally:
        rt.grad, rt.mode_site = grad, mode_site
        for module, mode in modes:
            nn._train(rt, site, [module, mode], {})


def optimizers_in(value: Any, depth: int = 3) -> list[Obj]:
    """The optimizers in what a function of the user's gave: one, several, or in dicts beside their schedulers."""
    if type(value) is Obj:
        return [value] if value.is_a("optimizer") else []
    if type(value) is LDict:
        return optimizers_in(value.get("optimizer"), depth - 1)
    found: list[Obj] = []
    if depth and type(value) in (tuple, LList):
        for each in value:
            found += [one for one in optimizers_in(each, depth - 1) if one not in found]
    return found


def step(rt: Any, optimizer: Any, site: Site, closure: Any = None) -> Any:
    """``optimizer.step(closure)``: the user's own class of an optimizer has a step of its own."""
    method = rt.shared.objects.get(rt, optimizer, "step", site)
    return rt.shared.calls.call(rt, method, [] if closure is None else [closure], {}, inside(rt, site))


def zero_grad(rt: Any, optimizer: Any, site: Site) -> None:
    rt.shared.calls.call(
        rt, rt.shared.objects.get(rt, optimizer, "zero_grad", site), [], {}, inside(rt, site)
    )


def unknown(rt: Any, name: str, args: list, kwargs: dict, site: Site) -> Any:
    """The call of a library's function on what its model does not know."""
    return rt.shared.unknowns.call(rt, Sym(("lib", name)), args, kwargs, site)


# -- building models --------------------------------------------------------------------------------------


def model(name: str, methods: dict[str, Fn], *bases: Class, quiet: str = "", same: str = "") -> Class:
    """A class of a library. What it is not said to have is unknown.

    ``quiet`` names methods whose result carries no graph and that keep nothing; ``same`` those that give what they
    are given first (``unwrap_model``), or nothing.
    """
    cls = Class(name, bases)
    cls.flags |= {"library"}
    for method in quiet.split():
        cls.ns[method] = Native(method, _quiet)
    for method in same.split():
        cls.ns[method] = Native(method, _same)
    for method, fn in methods.items():
        cls.ns[method] = Native(method, fn)
    if not bases:
        cls.ns.setdefault("__init__", Native("__init__", _quiet))
        cls.build = lambda rt, made, args, kwargs, site: Obj(made)
    return cls


def _quiet(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return rt.fresh(site, "object")


def _same(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return args[1] if len(args) > 1 else next(iter(kwargs.values()), None)
