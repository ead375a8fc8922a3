"""``torch.nn``: modules, parameters and containers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..knowledge import torch_table as table
from ..runtime import CONST, Raised
from ..semantics.calls import arg
from ..tape import Storage, Tensor
from ..values import MISSING, Bound, Class, LDict, LList, Native, Obj, Sym, tensors_in
from ..where import Site
from . import tensors
from .tensors import bump

MODULE = Class("Module")
MODULE.flags = frozenset({"module"})


def parameter(rt: Any, site: Site | None, label: str, wants: bool = True) -> Tensor:
    """A new parameter: a leaf of its own."""
    t = tensors.graphless(rt, site)
    t.leaf_grad = wants
    t.is_param = True
    rt.serial += 1
    t.label = f"{label}#{rt.serial}"
    return t


def own_parameters(obj: Obj) -> Iterator[tuple[str, Tensor]]:
    for name, value in obj.attrs.items():
        if type(value) is Tensor and value.is_param:
            yield name, value


def named_children(obj: Obj) -> Iterator[tuple[str, Any]]:
    for name, value in list(obj.attrs.items()):
        if type(value) is Obj and value.is_a("module"):
            yield name, value


def walk(obj: Obj, prefix: str = "", seen: set[int] | None = None) -> Iterator[tuple[str, Obj]]:
    """The module and every module inside it, as ``named_modules`` gives them."""
    seen = seen if seen is not None else set()
    if id(obj) in seen:
        return
    seen.add(id(obj))
    yield prefix, obj
    for name, child in named_children(obj):
        yield from walk(child, f"{prefix}.{name}" if prefix else name, seen)


def named_parameters(obj: Obj) -> list[tuple[str, Tensor]]:
    out: list[tuple[str, Tensor]] = []
    seen: set[int] = set()
    for prefix, module in walk(obj):
        for name, t in own_parameters(module):
            if id(t) not in seen:
                seen.add(id(t))
                out.append((f"{prefix}.{name}" if prefix else name, t))
    return out


def named_buffers(obj: Obj) -> list[tuple[str, Tensor]]:
    out = []
    for prefix, module in walk(obj):
        for name in module.attrs.get("_buffer_names", ()):
            value = module.attrs.get(name)
            if type(value) is Tensor:
                out.append((f"{prefix}.{name}" if prefix else name, value))
    return out


def hidden_parts(rt: Any, obj: Obj) -> bool:
    """Whether the module may hold parameters that cannot be seen."""
    return any(m.cls.opaque for _, m in walk(obj)) or any(
        type(v) is Sym and v.kind not in ("number", "str", "bool") and _module_like(v)
        for _, m in walk(obj)
        for v in m.attrs.values()
    )


def _module_like(value: Sym) -> bool:
    return value.params is not None


def _init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    obj = args[0]
    obj.attrs.setdefault("training", True)
    rt.modules_made.append(obj)


def _call(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    obj = args[0]
    hooks = obj.attrs.get("_pre_hooks")
    if hooks:
        for hook in list(hooks):
            changed = rt.shared.calls.call(rt, hook, [obj, tuple(args[1:])], {}, site)
            if changed is not None and type(changed) is not Sym:
                args = [obj, *(changed if type(changed) is tuple else (changed,))]
    forward = obj.attrs.get("forward", MISSING)
    if forward is MISSING:
        forward = obj.cls.find("forward")
        if forward is MISSING:
            return rt.shared.unknowns.call(rt, Sym(("module", obj.cls.name)), args, kwargs, site)
        forward = Bound(forward, obj)
    rt.module_depth += 1
    try:
        result = rt.shared.calls.call(rt, forward, args[1:], kwargs, site)
    finally:
        rt.module_depth -= 1
    if rt.grad and not rt.module_depth and obj.attrs.get("training") is False and len(rt.evaluated) < 64:
        found = next((t.node for t in tensors_in(result, 3) if t.node is not None), None)
        if found is not None:
            rt.evaluated.append((site, found, rt.where))
    hooks = obj.attrs.get("_hooks")
    if hooks:
        for hook in list(hooks):
            changed = rt.shared.calls.call(rt, hook, [obj, tuple(args[1:]), result], {}, site)
            if changed is not None and not (type(changed) is Sym and changed.node is None):
                result = changed
    return result


def _parameters(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    obj = args[0]
    found = LList([t for _, t in named_parameters(obj)], open=hidden_parts(rt, obj))
    if found.open and not found:
        found.append(hidden(rt, obj))
    return found


def hidden(rt: Any, obj: Any) -> Tensor:
    """One parameter that stands for those of a module out of reach."""
    t = rt.hidden.get(id(obj))
    if t is None:
        t = parameter(rt, None, "hidden")
        t.guess = 1
        rt.hidden[id(obj)] = t
        rt.keep.append(obj)
    return t


def _named_parameters(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LList(named_parameters(args[0]), open=hidden_parts(rt, args[0]))


def _train(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    mode = arg(args, kwargs, 1, "mode", True)
    for _, module in walk(args[0]):
        rt.put(module.attrs, "training", mode)
    return args[0]


def _eval(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return _train(rt, site, [args[0], False], {})


def _zero_grad(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    for _, t in named_parameters(args[0]):
        drop_grad(rt, t)


def drop_grad(rt: Any, t: Tensor) -> None:
    if t.grad is not None:
        if rt.log is not None:
            rt.note_slot(t, "grad")
        t.grad = None


def _requires_grad(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    flag = arg(args, kwargs, 1, "requires_grad", True)
    flag = rt.truth(flag, site) if type(flag) is Sym else bool(flag)
    for _, t in named_parameters(args[0]):
        set_requires(rt, t, flag)
    return args[0]


def set_requires(rt: Any, t: Tensor, flag: bool) -> None:
    if t.leaf_grad != flag:
        if rt.trying:
            rt.happen()
        rt.events += 1
        t.leaf_grad = flag


def _self(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return args[0]


def _state_dict(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    out = LDict(open=args[0].cls.opaque)
    for name, t in [*named_parameters(args[0]), *named_buffers(args[0])]:
        if kwargs.get("keep_vars") is True:
            out[name] = t
            continue
        view = Tensor(None, t.storage)
        view.site, view.where = site, rt.where
        out[name] = view
    return out


def _load_state_dict(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    for _, t in [*named_parameters(args[0]), *named_buffers(args[0])]:
        bump(rt, t, site, "load_state_dict")
    if rt.trying:
        rt.events += 1
    return rt.fresh(site)


def _apply(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    for _, module in reversed(list(walk(args[0]))):
        rt.shared.calls.call(rt, args[1], [module], {}, site)
    return args[0]


def _register_buffer(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    obj, name, value = args[0], arg(args, kwargs, 1, "name"), arg(args, kwargs, 2, "tensor")
    if type(name) is str:
        rt.put(obj.attrs, "_buffer_names", (*obj.attrs.get("_buffer_names", ()), name))
        rt.stored(value, site, f"self.{name}", "attribute")
        rt.put(obj.attrs, name, value)


def _register_parameter(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    if type(args[1]) is str:
        rt.put(args[0].attrs, args[1], arg(args, kwargs, 2, "param"))


def _add_module(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    name, child = arg(args, kwargs, 1, "name"), arg(args, kwargs, 2, "module")
    if type(name) is str:
        rt.put(args[0].attrs, name, child)


def _modules(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LList([m for _, m in walk(args[0])], open=args[0].cls.opaque)


def _named_modules(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LList(list(walk(args[0])), open=args[0].cls.opaque)


def _children(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LList([c for _, c in named_children(args[0])], open=args[0].cls.opaque)


def _named_children(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LList(list(named_children(args[0])), open=args[0].cls.opaque)


def _buffers(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LList([t for _, t in named_buffers(args[0])])


def _hook(kind: str) -> Any:
    def run(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
        obj = args[0]
        hooks = obj.attrs.get(kind)
        if hooks is None:
            hooks = LList()
            rt.put(obj.attrs, kind, hooks)
        rt.note_list(hooks)
        list.append(hooks, args[1])
        handle = Obj(HANDLE)
        handle.data = None
        handle.attrs["remove"] = Native("remove", lambda rt_, s, a, k: _remove(rt_, hooks, args[1]))
        return handle

    return run


def _remove(rt: Any, hooks: LList, hook: Any) -> None:
    rt.note_list(hooks)
    hooks[:] = [h for h in hooks if h is not hook]


HANDLE = Class("RemovableHandle")
HANDLE.flags = frozenset({"inert"})

for _name, _fn in {
    "__init__": _init,
    "__call__": _call,
    "parameters": _parameters,
    "named_parameters": _named_parameters,
    "train": _train,
    "eval": _eval,
    "zero_grad": _zero_grad,
    "requires_grad_": _requires_grad,
    "state_dict": _state_dict,
    "load_state_dict": _load_state_dict,
    "apply": _apply,
    "register_buffer": _register_buffer,
    "register_parameter": _register_parameter,
    "add_module": _add_module,
    "register_module": _add_module,
    "modules": _modules,
    "named_modules": _named_modules,
    "children": _children,
    "named_children": _named_children,
    "buffers": _buffers,
    "register_forward_hook": _hook("_hooks"),
    "register_forward_pre_hook": _hook("_pre_hooks"),
    "register_full_backward_hook": _hook("_backward_hooks"),
    "register_backward_hook": _hook("_backward_hooks"),
}.items():
    MODULE.ns[_name] = Native(_name, _fn)
for _name in (
    "to",
    "cuda",
    "cpu",
    "float",
    "half",
    "double",
    "bfloat16",
    "type",
    "share_memory",
    "compile",
    "to_empty",
    "_apply",
    "xpu",
):
    MODULE.ns[_name] = Native(_name, _self)


def _build(rt: Any, cls: Class, args: list, kwargs: dict, site: Site) -> Obj:
    obj = Obj(cls)
    obj.attrs["training"] = True
    rt.modules_made.append(obj)
    return obj


MODULE.build = _build

# -- leaf modules of the table -------------------------------------------------------------------------

_CLASSES: dict[str, Class] = {}


def leaf_class(name: str) -> Class | None:
    """The class of a module that the table describes (``Linear``)."""
    if name in _CLASSES:
        return _CLASSES[name]
    profile = table.module(name)
    if profile is None:
        return None
    cls = Class(name, (MODULE,))
    cls.ns["__init__"] = Native(
        "__init__", lambda rt, site, args, kwargs: _leaf_init(rt, site, args, kwargs, name)
    )
    cls.ns["forward"] = Native(
        "forward", lambda rt, site, args, kwargs: _leaf_forward(rt, site, args, kwargs, name)
    )
    _CLASSES[name] = cls
    return cls


def _leaf_init(rt: Any, site: Site, args: list, kwargs: dict, name: str) -> None:
    obj = args[0]
    profile = table.module(name)
    assert profile is not None
    _init(rt, site, [obj], {})
    skip_bias = kwargs.get("bias") is False or (name == "Linear" and len(args) > 3 and args[3] is False)
    if kwargs.get("affine") is False or kwargs.get("elementwise_affine") is False:
        params: tuple[str, ...] = ()
    elif name.startswith("InstanceNorm") and kwargs.get("affine") is not True:
        params = ()
    else:
        params = tuple(p for p in profile.params if not (skip_bias and "bias" in p))
    for p in params:
        t = parameter(rt, site, f"{name}.{p}")
        rt.owners[id(t)] = obj
        obj.attrs[p] = t
    for b in profile.buffers:
        obj.attrs[b] = tensors.graphless(rt, site)
    if profile.buffers:
        obj.attrs["_buffer_names"] = profile.buffers
    for key, value in kwargs.items():
        obj.attrs.setdefault(key, value)
    for k, key in enumerate(_FIELDS.get(name, ())):
        if key not in obj.attrs:
            obj.attrs[key] = args[k + 1] if len(args) > k + 1 else rt.fresh(site, "number")
    if name.endswith("Dropout") or "Dropout" in name:
        obj.attrs["p"] = arg(args, kwargs, 1, "p", 0.5)
    if name == "Embedding" and args[1:] and type(args[1]) is Tensor:
        obj.attrs["weight"] = args[1]
    obj.data = {"inplace": kwargs.get("inplace") is True or _inplace_argument(name, args)}


_FIELDS = {
    "Linear": ("in_features", "out_features"),
    "Embedding": ("num_embeddings", "embedding_dim"),
    "LSTM": ("input_size", "hidden_size", "num_layers"),
    "GRU": ("input_size", "hidden_size", "num_layers"),
    "RNN": ("input_size", "hidden_size", "num_layers"),
    "LSTMCell": ("input_size", "hidden_size"),
    "GRUCell": ("input_size", "hidden_size"),
    "RNNCell": ("input_size", "hidden_size"),
    "Conv2d": ("in_channels", "out_channels", "kernel_size"),
    "Conv1d": ("in_channels", "out_channels", "kernel_size"),
    "BatchNorm1d": ("num_features",),
    "BatchNorm2d": ("num_features",),
    "LayerNorm": ("normalized_shape",),
}


def _inplace_argument(name: str, args: list) -> bool:
    if name in ("ReLU", "ReLU6", "SiLU", "SELU", "Hardswish", "Mish"):
        return len(args) > 1 and args[1] is True
    if name in ("LeakyReLU", "Dropout", "Dropout2d", "ELU"):
        return len(args) > 2 and args[2] is True
    return False


def _leaf_forward(rt: Any, site: Site, args: list, kwargs: dict, name: str) -> Any:
    obj = args[0]
    info = table.module(name)
    assert info is not None
    training = obj.attrs.get("training", True)
    mode = rt.known(training)
    profile = info.eval if mode is False else info.train
    if "Dropout" in name and obj.attrs.get("p") == 0:
        return args[1] if len(args) > 1 else rt.fresh(site)
    if name == "LSTMCell" and len(args) + len(kwargs) > 2:
        return _lstm_cell(rt, site, obj, args, kwargs)
    inputs = [n for n in profile.args if n not in ("params", "buffers")]
    bound_inputs = tensors.bind(_Names(tuple(inputs)), args[1:], kwargs)
    params = LList([t for _, t in own_parameters(obj)])
    for p in obj.attrs.get("_parametrized") or ():
        made = computed(rt, obj, p, site)
        params = LList([made, *(t for n, t in own_parameters(obj) if not n.startswith("parametrizations."))])
    bound: list[Any] = []
    k = 0
    for n in profile.args:
        if n == "params":
            bound.append(params)
        elif n == "buffers":
            bound.append(None)
        else:
            bound.append(bound_inputs[k])
            k += 1
    outputs = tensors.run_profile(rt, name, profile, bound, site)
    if (
        obj.data
        and obj.data.get("inplace")
        and args[1:]
        and type(args[1]) is Tensor
        and type(outputs) is Tensor
    ):
        if rt.grad and args[1].is_leaf and args[1].leaf_grad:
            rt.shared.observe.leaf_inplace(rt, args[1], site, name)
        return tensors._replace(rt, args[1], outputs, site, name)
    return _shaped(outputs, info.returns)


def _lstm_cell(rt: Any, site: Site, obj: Obj, args: list, kwargs: dict) -> Any:
    """An LSTMCell step as torch computes it without cuDNN: its hidden and its cell state save different things.

    The old cell state is only multiplied by a gate, so a graph that comes through it alone holds no weights.
    """
    x = arg(args, kwargs, 1, "input")
    state = arg(args, kwargs, 2, "hx")
    h, c = rt.shared.objects.unpack(rt, state, 2, None, site)
    weights = [obj.attrs.get(n) for n in ("weight_ih", "weight_hh")]
    biases = [obj.attrs.get(n) for n in ("bias_ih", "bias_hh")]

    def op(name: str, *values: Any, prefix: str = "torch.") -> Any:
        return tensors.apply(rt, name, list(values), {}, site, prefix)

    inner = op("linear", x, weights[0], biases[0], prefix="torch.nn.functional.")
    outer = op("linear", h, weights[1], biases[1], prefix="torch.nn.functional.")
    gate = op("sigmoid", op("add", inner, outer))
    cell = op("add", op("mul", gate, c), op("mul", gate, op("tanh", op("add", inner, outer))))
    return (op("mul", gate, op("tanh", cell)), cell)


class _Names:
    """Argument names alone, for binding."""

    __slots__ = ("args",)

    def __init__(self, names: tuple[str, ...]) -> None:
        self.args = names


def _shaped(outputs: Any, structure: Any) -> Any:
    """Flat outputs in the nesting that the module returns (``(out, (h, c))``)."""
    if structure is None or structure == "t" or not isinstance(outputs, tuple):
        return outputs
    flat = iter(outputs)

    def build(part: Any) -> Any:
        if part == "t":
            return next(flat, None)
        return tuple(build(p) for p in part)

    return build(structure)


def parametrize(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``register_parametrization(module, name, transform)``: the tensor is recomputed at each use."""
    obj, name, transform = (
        arg(args, kwargs, 0, "module"),
        arg(args, kwargs, 1, "tensor_name"),
        arg(args, kwargs, 2, "parametrization"),
    )
    if type(obj) is not Obj or type(name) is not str:
        return obj
    table_ = obj.attrs.get("_parametrized")
    if table_ is None:
        table_ = obj.attrs["_parametrized"] = LDict()
    if name not in table_:
        table_[name] = LList()
        original = obj.attrs.pop(name, None)
        obj.attrs[f"parametrizations.{name}.original"] = original
    table_[name].append(transform)
    if type(transform) is Obj and transform.is_a("module"):
        obj.attrs[f"parametrizations.{name}.{len(table_[name])}"] = transform
    return obj


def computed(rt: Any, obj: Obj, name: str, site: Site) -> Any:
    """A parametrized tensor: computed anew, or once inside of ``parametrize.cached()``."""
    key = (id(obj), name)
    cache = rt.param_cache
    if cache is not None and key in cache:
        return cache[key]
    value = obj.attrs[f"parametrizations.{name}.original"]
    for transform in obj.attrs["_parametrized"][name]:
        value = rt.shared.calls.call(rt, transform, [value], {}, site)
    if cache is not None:
        cache[key] = value
    return value


def _cache_on(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    rt.param_cache = {}


def _cache_off(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    rt.param_cache = None


CACHED = Class("cached")
CACHED.flags = frozenset({"inert"})
CACHED.ns["__enter__"] = Native("__enter__", _cache_on)
CACHED.ns["__exit__"] = Native("__exit__", _cache_off)


# -- containers ------------------------------------------------------------------------------------------


def _ordered(obj: Obj) -> list[Any]:
    return [
        v
        for k, v in obj.attrs.items()
        if k not in ("training", "_hooks", "_pre_hooks", "_buffer_names", "_names")
        and (type(v) is Obj and v.is_a("module") or type(v) is Tensor or type(v) is Sym)
    ]


def _fill(rt: Any, obj: Obj, values: list[Any], start: int = 0) -> None:
    for k, value in enumerate(values):
        rt.put(obj.attrs, str(start + k), value)


def _sequential_init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    obj = args[0]
    _init(rt, site, [obj], {})
    if len(args) == 2 and type(args[1]) is LDict:
        for name, value in args[1].items():
            obj.attrs[str(name)] = value
    else:
        _fill(rt, obj, args[1:])


def _sequential_forward(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    value = args[1] if len(args) > 1 else next(iter(kwargs.values()), None)
    for module in _ordered(args[0]):
        value = rt.shared.calls.call(rt, module, [value], {}, site)
    return value


def _list_init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    _init(rt, site, [args[0]], {})
    given = arg(args, kwargs, 1, "modules")
    if given is not None:
        items, more = rt.shared.objects.listed(rt, given, site)
        _fill(rt, args[0], items)
        args[0].cls  # noqa: B018 - open lists keep what is seen
        del more


def _dict_init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    _init(rt, site, [args[0]], {})
    given = arg(args, kwargs, 1, "modules")
    if given is not None:
        table_ = LDict()
        rt.shared.objects.merge(rt, table_, given, site)
        for name, value in table_.items():
            args[0].attrs[str(name)] = value


def _append(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    _fill(rt, args[0], [args[1]], len(_ordered(args[0])))
    return args[0]


def _extend(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    items, _ = rt.shared.objects.listed(rt, args[1], site)
    _fill(rt, args[0], items, len(_ordered(args[0])))
    return args[0]


def _getitem(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    obj, key = args[0], rt.resolve(args[1])
    items = _ordered(obj)
    if type(key) is int:
        if -len(items) <= key < len(items):
            return items[key]
        raise Raised("IndexError")
    if type(key) is str:
        return obj.attrs.get(key, rt.fresh(site))
    if type(key) is slice and all(x is None or type(x) is int for x in (key.start, key.stop, key.step)):
        made = Obj(obj.cls if not obj.cls.node else SEQUENTIAL)
        made.attrs["training"] = True
        for k, item in enumerate(items[key]):
            made.attrs[str(k)] = item
        return made
    return items[-1] if items else rt.fresh(site)


def _setitem(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    rt.put(args[0].attrs, str(args[1]), args[2])


def _len(rt: Any, site: Site, args: list, kwargs: dict) -> int:
    return len(_ordered(args[0]))


def _iter(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LList(_ordered(args[0]))


def _items(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LList(
        [(k, v) for k, v in args[0].attrs.items() if type(v) is Tensor or type(v) is Obj and v.is_a("module")]
    )


def _keys(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LList(
        [k for k, v in args[0].attrs.items() if type(v) is Tensor or type(v) is Obj and v.is_a("module")]
    )


def _contains(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return args[1] in args[0].attrs if type(args[1]) is str else rt.fresh(site, "bool")


SEQUENTIAL = Class("Sequential", (MODULE,))
MODULE_LIST = Class("ModuleList", (MODULE,))
MODULE_DICT = Class("ModuleDict", (MODULE,))
PARAMETER_LIST = Class("ParameterList", (MODULE,))
PARAMETER_DICT = Class("ParameterDict", (MODULE,))
_COMMON = {
    "__getitem__": _getitem,
    "__setitem__": _setitem,
    "__len__": _len,
    "append": _append,
    "extend": _extend,
}
for _cls, _methods in (
    (
        SEQUENTIAL,
        {"__init__": _sequential_init, "forward": _sequential_forward, "__iter__": _iter, **_COMMON},
    ),
    (MODULE_LIST, {"__init__": _list_init, "__iter__": _iter, **_COMMON}),
    (PARAMETER_LIST, {"__init__": _list_init, "__iter__": _iter, **_COMMON}),
    (
        MODULE_DICT,
        {
            "__init__": _dict_init,
            "__iter__": _keys,
            "__contains__": _contains,
            "items": _items,
            "keys": _keys,
            "values": _iter,
            **_COMMON,
        },
    ),
    (
        PARAMETER_DICT,
        {
            "__init__": _dict_init,
            "__iter__": _keys,
            "__contains__": _contains,
            "items": _items,
            "keys": _keys,
            "values": _iter,
            **_COMMON,
        },
    ),
):
    for _name, _fn in _methods.items():
        _cls.ns[_name] = Native(_name, _fn)


def _make_parameter(rt: Any, cls: Class, args: list, kwargs: dict, site: Site) -> Tensor:
    data = arg(args, kwargs, 0, "data")
    wants = arg(args, kwargs, 1, "requires_grad", True)
    t = parameter(rt, site, "Parameter", bool(rt.truth(wants, site)) if wants is not True else True)
    if type(data) is Tensor:
        t.storage = data.storage if data.node is None else Storage()
        t.length, t.shape = data.length, data.shape
    return t


PARAMETER = Class("Parameter")
PARAMETER.build = _make_parameter
TENSOR = Class("Tensor")


__all__ = [
    "CONST",
    "MODULE",
    "PARAMETER",
    "SEQUENTIAL",
    "hidden",
    "leaf_class",
    "named_parameters",
    "parameter",
]
