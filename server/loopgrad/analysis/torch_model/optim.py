"""``torch.optim``, gradient scaling and schedulers."""

from __future__ import annotations

from typing import Any

from ..semantics.calls import arg
from ..signals import Raised
from ..tape import Tensor
from ..values import Class, LDict, LList, Native, Obj, Sym
from ..where import LoopRun, Site, Where
from . import nn, tensors
from .tensors import bump

OPTIMIZER: Class = Class("Optimizer")
OPTIMIZER.flags = frozenset({"optimizer"})
#: How often a closure is called within one step of LBFGS, at least, where its iterations are not fewer.
LBFGS_CALLS = 3


def _init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    obj = args[0]
    given = arg(args, kwargs, 1, "params")
    obj.site = site
    groups = LList()
    if type(given) is Tensor:
        raise Raised("TypeError")
    items, more = rt.shared.objects.listed(rt, given, site) if given is not None else ([], True)
    plain: list[Any] = []
    for item in items:
        if type(item) is LDict:
            group = LDict(item, open=True)  # the defaults are there too
            inner = item.get("params")
            values, open_ = (
                ([inner], False) if type(inner) is Tensor else rt.shared.objects.listed(rt, inner, site)
            )
            group["params"] = LList(values, open_)
            for key, value in kwargs.items():
                group.setdefault(key, value)
            groups.append(group)
        elif type(item) is tuple and len(item) == 2 and type(item[1]) is Tensor:
            plain.append(item[1])
        else:
            plain.append(item)
    # The second argument is the rate, or a user's super().__init__(params, defaults).
    rate = kwargs.get("lr", arg(args, kwargs, 2, "lr", 0.001))
    if plain or more or not groups:
        groups.insert(
            0,
            LDict(
                {"params": LList(plain, more), **({} if type(rate) is LDict else {"lr": rate})},
                True,
            ),
        )
    defaults = arg(args, kwargs, 2, "defaults")
    for group in groups:
        if type(group) is not LDict:
            continue
        if type(defaults) is LDict:
            for key, value in defaults.items():
                group.setdefault(key, value)
        group.setdefault("lr", rt.fresh(site, "number"))
        if obj.cls.name == "LBFGS":
            group.setdefault("max_iter", arg(args, kwargs, 3, "max_iter", 20))
            group.setdefault("line_search_fn", arg(args, kwargs, 8, "line_search_fn", None))
        # A torch optimizer's groups have keys of its own; a user's have those of its defaults.
        group.open = group.open or obj.cls.node is None or type(defaults) is not LDict or defaults.open
    obj.data = groups
    rt.put(obj.attrs, "param_groups", groups)
    rt.put(obj.attrs, "state", LDict(open=True))
    rt.optimizers.append(obj)
    for t in held(obj):
        t.held = True
        if t.node is not None and t.guess == 0:
            raise Raised("ValueError")


def held(obj: Obj) -> list[Tensor]:
    """The tensors an optimizer steps."""
    out = []
    groups = obj.attrs.get("param_groups")
    for group in groups if isinstance(groups, LList) else ():
        if isinstance(group, LDict):
            inner = group.get("params")
            for value in inner if isinstance(inner, (LList, tuple)) else ():
                if type(value) is Tensor:
                    out.append(value)
    return out


def _step(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    obj = args[0]
    closure = arg(args, kwargs, 1, "closure")
    rt.happen()
    result = None
    if closure is not None and type(closure) is not Sym:
        result = _closure(rt, obj, closure, site)
    update(rt, obj, site)
    rt.stepped.append(obj)
    for loop in rt.loops:
        loop.steps, loop.trains = False, True
    rt.step_marks.append(len(rt.passes))
    for hook in obj.attrs.get("_post_hooks") or ():
        rt.shared.calls.call(rt, hook, [obj, (), LDict()], {}, site)
    return result


def _closure(rt: Any, obj: Obj, closure: Any, site: Site) -> Any:
    """Evaluate a closure with grad mode on; LBFGS calls it several times, stepping between."""
    grad, rt.grad = rt.grad, True
    parent = rt.where
    try:
        if obj.cls.name != "LBFGS":
            return rt.shared.calls.call(rt, closure, [], {}, site)
        loop = LoopRun(site, "closure", implicit=True)
        rt.loops.append(loop)
        result = None
        try:
            for k in range(_calls(obj)):
                rt.where = Where(parent, None, loop, k + 1)
                value = rt.shared.calls.call(rt, closure, [], {}, site)
                result = value if k == 0 else result
                update(rt, obj, site)
                if _ungraded(obj):
                    break  # nothing to go along: the gradient is zero
        finally:
            rt.loops.pop()
        return result
    finally:
        rt.where, rt.grad = parent, grad


def _ungraded(obj: Obj) -> bool:
    """Whether none of an optimizer's parameters has a gradient, all of them being known."""
    groups = obj.attrs.get("param_groups")
    inner = (
        [group.get("params") for group in groups if isinstance(group, LDict)]
        if isinstance(groups, LList)
        else []
    )
    known = all(type(each) is LList and not each.open for each in inner)
    values = [value for each in inner if isinstance(each, (LList, tuple)) for value in each]
    return known and bool(values) and all(type(value) is Tensor and value.grad is None for value in values)


def _calls(obj: Obj) -> int:
    """How often LBFGS calls its closure in one step: once an iteration, and once more in a line search."""
    groups = obj.attrs.get("param_groups")
    group = groups[0] if isinstance(groups, LList) and groups and isinstance(groups[0], LDict) else LDict()
    most = group.get("max_iter")
    if type(most) is not int:
        return LBFGS_CALLS
    return min(LBFGS_CALLS, max(most, 1) + (group.get("line_search_fn") is not None))


def update(rt: Any, obj: Obj, site: Site) -> None:
    """The in-place update of every parameter that has a gradient.

    LBFGS moves all along one vector, in which those without a gradient stand with zeros.
    """
    params = held(obj)
    if obj.cls.name != "LBFGS":
        params = [t for t in params if t.grad is not None]
    elif all(t.grad is None for t in params):
        return
    for t in params:
        bump(rt, t, site, "step")


def _zero_grad(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    keep = arg(args, kwargs, 1, "set_to_none", True) is False
    for t in held(args[0]):
        if keep and t.grad is not None:
            if t.grad.node is not None:
                rt.happen()
            elif rt.log is not None:
                rt.note_slot(t.grad.storage, "version")
            t.grad.storage.version += 1
            t.grad.node = None
        else:
            nn.drop_grad(rt, t)


def _add_group(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    group = arg(args, kwargs, 1, "param_group")
    if type(group) is LDict:
        made = LDict(group)
        values, more = rt.shared.objects.listed(rt, group.get("params"), site)
        made["params"] = LList(values, more)
        rt.note_list(args[0].data)
        list.append(args[0].data, made)
        for t in held(args[0]):
            t.held = True


def _state(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return rt.fresh(site, "object")


def _post_hook(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    hooks = args[0].attrs.setdefault("_post_hooks", LList())
    list.append(hooks, args[1])
    return rt.fresh(site, "object")


for _name, _fn in {
    "__init__": _init,
    "step": _step,
    "zero_grad": _zero_grad,
    "add_param_group": _add_group,
    "state_dict": _state,
    "load_state_dict": _state,
    "train": _state,
    "eval": _state,
    "register_step_post_hook": _post_hook,
}.items():
    OPTIMIZER.ns[_name] = Native(_name, _fn)

_CLASSES: dict[str, Class] = {"Optimizer": OPTIMIZER}
NAMES = frozenset(
    "SGD Adam AdamW Adamax Adagrad Adadelta RMSprop Rprop NAdam RAdam ASGD SparseAdam LBFGS Adafactor Muon".split()
)


def optimizer_class(name: str) -> Class | None:
    if name not in NAMES and name != "Optimizer":
        return None
    if name not in _CLASSES:
        _CLASSES[name] = Class(name, (OPTIMIZER,))
    return _CLASSES[name]


# -- schedulers and scaling --------------------------------------------------------------------------------

SCHEDULER = Class("LRScheduler")
SCHEDULER.flags = frozenset({"inert"})
SCHEDULER.opaque = True
for _name in ("step", "state_dict", "load_state_dict", "get_last_lr", "__init__"):
    SCHEDULER.ns[_name] = Native(_name, lambda rt, site, args, kwargs: rt.fresh(site, "object"))
SCHEDULER.build = lambda rt, cls, args, kwargs, site: Obj(cls)


def _scale(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    value = arg(args, kwargs, 1, "outputs")
    if type(value) in (Tensor, Sym):
        return tensors.apply(rt, "mul", [value, tensors.graphless(rt, site)], {}, site)
    items, more = rt.shared.objects.listed(rt, value, site)
    return LList([_scale(rt, site, [args[0], v], {}) for v in items], more)


def _scaler_step(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    optimizer = arg(args, kwargs, 1, "optimizer")
    if type(optimizer) is Obj and optimizer.is_a("optimizer"):
        return rt.shared.calls.call(
            rt, rt.shared.objects.get(rt, optimizer, "step", site), args[2:], {}, site
        )
    return rt.fresh(site)


SCALER: Class = Class("GradScaler")
SCALER.flags = frozenset({"inert"})
for _name, _fn in {"scale": _scale, "step": _scaler_step}.items():
    SCALER.ns[_name] = Native(_name, _fn)
for _name in ("__init__", "update", "unscale_", "state_dict", "load_state_dict", "get_scale", "is_enabled"):
    SCALER.ns[_name] = Native(_name, lambda rt, site, args, kwargs: rt.fresh(site, "number"))
SCALER.build = lambda rt, cls, args, kwargs, site: Obj(cls)
