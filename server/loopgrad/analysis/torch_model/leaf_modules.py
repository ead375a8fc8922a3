"""The modules of the generated table (``Linear``, ``LSTM``, losses), and parametrized weights."""

from __future__ import annotations

from typing import Any

from ..knowledge import torch_table as table
from ..semantics.calls import arg
from ..tape import Tensor
from ..values import Class, LDict, LList, Native, Obj
from ..where import Site
from . import tensors
from .nn import MODULE, _init, own_parameters, parameter

#: Fills the parameters anew under ``no_grad``.
_RESET = Native("reset_parameters", lambda rt, site, args, kwargs: None)
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
    cls.ns["reset_parameters"] = _RESET
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
    if name == "LSTMCell" and arg(args, kwargs, 2, "hx") is not None:
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


CACHED: Class = Class("cached")


CACHED.flags = frozenset({"inert"})


CACHED.ns["__enter__"] = Native("__enter__", _cache_on)


CACHED.ns["__exit__"] = Native("__exit__", _cache_off)
