"""snntorch: neurons that keep their state with ``init_hidden=True``, and ``utils.reset``."""

from __future__ import annotations

from typing import Any

from ..torch_model import nn, tensors
from ..values import Class, ClassMethod, Native, Obj
from ..where import Site
from . import drive, spiking

#: The states of each neuron, in the order in which it takes and gives them, the membrane last.
STATES: dict[str, tuple[str, ...]] = {
    "Leaky": ("mem",),
    "Lapicque": ("mem",),
    "Synaptic": ("syn", "mem"),
    "Alpha": ("syn_exc", "syn_inh", "mem"),
    "RLeaky": ("spk", "mem"),
    "RSynaptic": ("spk", "syn", "mem"),
    "SLSTM": ("syn", "mem"),
    "SConv2dLSTM": ("syn", "mem"),
}
#: Those with weights of their own; of the others a decay or threshold that is learned is a parameter.
WEIGHTED = frozenset({"RLeaky", "RSynaptic", "SLSTM", "SConv2dLSTM"})


def _init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    obj = args[0]
    nn._init(rt, site, [obj], {})
    for name in ("init_hidden", "output"):
        value = kwargs.get(name, False)
        obj.attrs[f"_{name}"] = bool(rt.truth(value, site)) if value is not False else False
    kind = next(base.name for base in obj.cls.mro if base.name in STATES)
    obj.attrs["_states"] = STATES[kind]
    learned = [name for name in ("alpha", "beta", "threshold") if kwargs.get(f"learn_{name}") is True]
    for name in [*learned, *(["recurrent"] if kind in WEIGHTED else [])]:
        obj.attrs[name] = nn.parameter(rt, site, f"{kind}.{name}")
    spiking.clear(rt, site, obj, STATES[kind])


def _forward(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    obj = args[0]
    states: tuple[str, ...] = obj.attrs["_states"]
    given = {name: value for name, value in zip(states, args[2:]) if value is not None}
    given.update({name: kwargs[name] for name in states if kwargs.get(name) is not None})
    before = [given.get(name, obj.attrs[name]) for name in states]
    membrane = spiking.integrate(rt, site, obj, [args[1], *before])
    fired = spiking.spike(rt, site, membrane)
    after = [fired if name == "spk" else membrane for name in states]
    for name, value in zip(states, after):
        if obj.attrs["_init_hidden"]:
            spiking.keep(rt, site, obj, name, value)
        else:
            rt.put(obj.attrs, name, value)
    if obj.attrs["_init_hidden"] and not obj.attrs["_output"]:
        return fired
    return (fired, *(value for name, value in zip(states, after) if name != "spk"))


def _fresh_states(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``reset_mem()``, ``init_leaky()``: the states anew, and given back."""
    states = args[0].attrs["_states"]
    spiking.clear(rt, site, args[0], states)
    values = tuple(tensors.graphless(rt, site) for _ in states)
    return values[0] if len(values) == 1 else values


def _all(rt: Any, cls: Class) -> list[Obj]:
    return [obj for obj in rt.modules_made if cls in obj.cls.mro]


def _detach_hidden(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    """``snn.Leaky.detach_hidden()`` cuts the states of all neurons of this class."""
    for obj in _all(rt, args[0]):
        spiking.cut(rt, site, obj, obj.attrs.get("_states", ()))


def _reset_hidden(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    for obj in _all(rt, args[0]):
        spiking.clear(rt, site, obj, obj.attrs.get("_states", ()))


def _reset(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    """``utils.reset(net)``: the states of all neurons of the classes that the net has, whatever net they are in."""
    for name in STATES:
        cls = NAMES[name]
        inside = type(args[0]) is Obj and any(cls in module.cls.mro for _, module in nn.walk(args[0]))
        if inside or type(args[0]) is not Obj:
            _reset_hidden(rt, site, [cls], {})


def _neuron(name: str) -> Class:
    cls = drive.model(name, {"__init__": _init, "forward": _forward, "reset_mem": _fresh_states}, nn.MODULE)
    for method in (f"init_{name.lower()}", "init_lapicque", "init_leaky"):
        cls.ns[method] = Native(method, _fresh_states)
    cls.ns["detach_hidden"] = ClassMethod(Native("detach_hidden", _detach_hidden))
    cls.ns["reset_hidden"] = ClassMethod(Native("reset_hidden", _reset_hidden))
    return cls


NAMES: dict[str, Any] = {name: _neuron(name) for name in STATES}
NAMES["reset"] = Native("reset", _reset)
