"""ignite: an ``Engine`` calls its process function for each batch, and its handlers around it."""

from __future__ import annotations

from typing import Any

from ..semantics.calls import arg
from ..values import MISSING, Class, LDict, LList, Native, Obj
from ..where import Site
from . import drive

STATE = drive.model("State", {})
#: Where an event comes in the run; ``every`` and the like make a filtered one of it.
EVENT = drive.model("Events", {"__call__": lambda rt, site, args, kwargs: _filtered(args[0], kwargs)})
EVENT.ns["__or__"] = Native("__or__", lambda rt, site, args, kwargs: _either(args[0], args[1]))
EVENTS = Class("Events")
for _name in (
    "STARTED COMPLETED EPOCH_STARTED EPOCH_COMPLETED ITERATION_STARTED ITERATION_COMPLETED GET_BATCH_STARTED "
    "GET_BATCH_COMPLETED EXCEPTION_RAISED TERMINATE"
).split():
    EVENTS.ns[_name] = Obj(EVENT, ((_name, None),))


def _filtered(event: Obj, kwargs: dict) -> Obj:
    every = kwargs.get("every")
    return Obj(EVENT, tuple((name, every if type(every) is int else MISSING) for name, _ in event.data))


def _either(event: Obj, other: Any) -> Obj:
    return Obj(
        EVENT, (*event.data, *(other.data if type(other) is Obj and type(other.data) is tuple else ()))
    )


def _init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    engine = args[0]
    engine.attrs["_process"] = arg(args, kwargs, 1, "process_function")
    engine.attrs["_handlers"] = LList()
    state = engine.attrs["state"] = Obj(STATE)
    state.attrs.update(metrics=LDict(open=True), output=None, epoch=0, iteration=0)


def _add(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``add_event_handler(event, handler, *args, **kwargs)``."""
    engine, event, handler = args[0], arg(args, kwargs, 1, "event_name"), arg(args, kwargs, 2, "handler")
    handlers = engine.attrs.get("_handlers")
    if type(event) is Obj and event.cls is EVENT and type(handlers) is LList:
        named = {k: v for k, v in kwargs.items() if k not in ("event_name", "handler")}
        rt.note_list(handlers)
        for name, every in event.data:
            list.append(handlers, (name, every, handler, tuple(args[3:]), LDict(named)))
    return rt.fresh(site, "object")


def _on(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``@engine.on(event)``."""

    def add(rt_: Any, s: Site, a: list, k: dict) -> Any:
        _add(rt_, s, [args[0], arg(args, kwargs, 1, "event_name"), a[0], *args[2:]], {})
        return a[0]

    return Native("on", add)


def _fire(rt: Any, engine: Obj, event: str, count: int, site: Site) -> None:
    for name, every, handler, extra, named in list(engine.attrs.get("_handlers") or ()):
        if name != event or every is MISSING or type(every) is int and count % every:
            continue
        given = {k: v for k, v in named.items() if type(k) is str}
        takes = drive.fitting(handler, [engine, *extra])
        drive.call(rt, handler, takes if len(takes) > len(extra) else list(extra), site, given)


def _run(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``engine.run(data, max_epochs)``."""
    engine, data = args[0], arg(args, kwargs, 1, "data")
    state, process = engine.attrs["state"], engine.attrs["_process"]
    count = [0]

    def batch(index: int, value: Any) -> None:
        count[0] += 1
        state.attrs.update(iteration=count[0], batch=value)
        _fire(rt, engine, "ITERATION_STARTED", count[0], site)
        state.attrs["output"] = drive.call(rt, process, [engine, value], site)
        _fire(rt, engine, "ITERATION_COMPLETED", count[0], site)

    def epoch(index: int, _: Any) -> None:
        state.attrs["epoch"] = index + 1
        _fire(rt, engine, "EPOCH_STARTED", index + 1, site)
        drive.repeat(rt, site, drive.batches(rt, site, data), batch)
        _fire(rt, engine, "EPOCH_COMPLETED", index + 1, site)

    with drive.alive(rt, site, engine=engine):
        _fire(rt, engine, "STARTED", 1, site)
        drive.repeat(rt, site, drive.epochs(rt, site, arg(args, kwargs, 2, "max_epochs", 1)), epoch)
        _fire(rt, engine, "COMPLETED", 1, site)
    return state


ENGINE = drive.model(
    "Engine",
    {"__init__": _init, "add_event_handler": _add, "on": _on, "run": _run},
    quiet="terminate terminate_epoch register_events remove_event_handler has_event_handler fire_event state_dict "
    "load_state_dict set_data",
)


def _trainer(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``create_supervised_trainer(model, optimizer, loss_fn, …)``: forward, loss, backward and step."""
    model, optimizer = arg(args, kwargs, 0, "model"), arg(args, kwargs, 1, "optimizer")
    loss_fn, transform = arg(args, kwargs, 2, "loss_fn"), kwargs.get("output_transform")
    prepare = kwargs.get("prepare_batch")

    def process(rt_: Any, s: Site, a: list, k: dict) -> Any:
        call = rt_.shared.calls.call
        pair = a[1] if prepare is None else call(rt_, prepare, [a[1]], {}, s)
        x, y = rt_.shared.objects.unpack(rt_, pair, 2, None, s)
        guess = call(rt_, model, [x], {}, s)
        loss = call(rt_, loss_fn, [guess, y], {}, s)
        if type(optimizer) is Obj:
            drive.zero_grad(rt_, optimizer, s)
        drive.backward(rt_, loss, s)
        if type(optimizer) is Obj:
            drive.step(rt_, optimizer, s)
        return (
            rt_.fresh(s, "number") if transform is None else call(rt_, transform, [x, y, guess, loss], {}, s)
        )

    engine = Obj(ENGINE)
    _init(rt, site, [engine, Native("update", process)], {})
    return engine


def _evaluator(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``create_supervised_evaluator``: an engine whose outputs carry no graph, and are not looked at."""
    engine = Obj(ENGINE)
    _init(rt, site, [engine, Native("inference", lambda rt_, s, a, k: rt_.fresh(s, "object"))], {})
    return engine


def _parallel_run(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``parallel.run(training, config, …)`` calls ``training(local_rank, config, …)``."""
    return drive.call(rt, args[1], [rt.fresh(site, "number"), *args[2:]], site, kwargs)


PARALLEL = drive.model(
    "Parallel",
    {
        "__enter__": lambda rt, site, args, kwargs: args[0],
        "__exit__": lambda rt, site, args, kwargs: None,
        "run": _parallel_run,
    },
)


def _first(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``idist.auto_model(model)``: a wrapped module is called as before."""
    return args[0] if args else rt.fresh(site)


NAMES: dict[str, Any] = {
    "Parallel": PARALLEL,
    "auto_model": Native("auto_model", _first),
    "auto_optim": Native("auto_optim", _first),
    "Engine": ENGINE,
    "DeterministicEngine": ENGINE,
    "Events": EVENTS,
    "State": STATE,
    "create_supervised_trainer": Native("create_supervised_trainer", _trainer),
    "create_supervised_evaluator": Native("create_supervised_evaluator", _evaluator),
}
