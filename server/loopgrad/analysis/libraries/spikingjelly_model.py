"""spikingjelly: neurons that keep their membrane until ``functional.reset_net`` or ``detach_net``."""

from __future__ import annotations

from typing import Any

from ..tape import ALWAYS, DEPENDS, Tensor
from ..torch_model import leaf_modules, nn
from ..values import MISSING, Bound, Class, LList, Native, Obj
from ..where import Site
from . import drive, spiking

NEURONS = (
    "IFNode LIFNode ParametricLIFNode QIFNode EIFNode IzhikevichNode LIAFNode KLIFNode CUBALIFNode "
    "GatedLIFNode NonSpikingLIFNode NonSpikingIFNode SimpleIFNode SimpleLIFNode MultiStepIFNode MultiStepLIFNode "
    "MultiStepParametricLIFNode"
).split()
LAYERS = (
    "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm MaxPool1d "
    "MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d Linear Flatten Dropout"
).split()


def _memory(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    """``self.register_memory(name, value)``: a state, and what a reset makes of it."""
    obj, name, value = args[0], args[1], args[2]
    table = dict(obj.attrs.get("_memories") or ())
    table[name] = value
    rt.put(obj.attrs, "_memories", tuple(table.items()))
    rt.put(obj.attrs, name, value)


def _reset(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    for name, value in args[0].attrs.get("_memories") or ():
        rt.put(args[0].attrs, name, value)


def _detach(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    spiking.cut(rt, site, args[0], tuple(name for name, _ in args[0].attrs.get("_memories") or ()))


def _memory_init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    nn._init(rt, site, args[:1], {})
    args[0].attrs.setdefault("step_mode", "s")


def _memory_forward(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """A memory module of the user's own: its step for one moment, or for a sequence."""
    name = "multi_step_forward" if args[0].attrs.get("step_mode") == "m" else "single_step_forward"
    method = drive.own(args[0], name) or drive.own(args[0], "single_step_forward")
    return rt.shared.calls.call(rt, method, args[1:], kwargs, site) if method is not None else rt.fresh(site)


MEMORY = drive.model(
    "MemoryModule",
    {
        "__init__": _memory_init,
        "forward": _memory_forward,
        "register_memory": _memory,
        "set_reset_value": lambda rt, site, args, kwargs: None,
        "reset": _reset,
        "detach": _detach,
    },
    nn.MODULE,
)


def _neuron_init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    obj = args[0]
    _memory_init(rt, site, [obj], {})
    obj.attrs["step_mode"] = kwargs.get("step_mode", "s")
    # A soft reset that is cut keeps the membrane by additions alone.
    obj.attrs["_soft"] = "v_reset" in kwargs and kwargs["v_reset"] is None
    if obj.cls.name in ("ParametricLIFNode", "GatedLIFNode"):
        obj.attrs["w"] = nn.parameter(rt, site, f"{obj.cls.name}.w")
    _memory(rt, site, [obj, "v", 0.0], {})


def _charge(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    """``self.neuronal_charge(x)``: the membrane takes the input in. A soft reset that is cut may save nothing."""
    obj = args[0]
    saves = DEPENDS if obj.attrs.get("_soft") else ALWAYS
    spiking.keep(rt, site, obj, "v", spiking.integrate(rt, site, obj, [args[1], obj.attrs.get("v")], saves))


def _fire(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return spiking.spike(rt, site, args[0].attrs.get("v"))


def _to_tensor(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    """``self.v_float_to_tensor(x)``: a membrane that was reset to a number becomes a tensor."""
    if type(args[0].attrs.get("v")) is not Tensor:
        spiking.clear(rt, site, args[0], ("v",))


def _step(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """Charge, fire, reset: the parts that a class of the user's own may have in their places."""
    obj = args[0]

    def part(name: str, *given: Any) -> Any:
        return rt.shared.calls.call(rt, rt.shared.objects.get(rt, obj, name, site), list(given), {}, site)

    _to_tensor(rt, site, [obj], {})
    part("neuronal_charge", args[1])
    if obj.cls.name in NON_SPIKING:
        return obj.attrs.get("v")
    fired = part("neuronal_fire")
    part("neuronal_reset", fired)
    return fired


def _neuron_forward(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    name = "multi_step_forward" if args[0].attrs.get("step_mode") == "m" else "single_step_forward"
    return rt.shared.calls.call(rt, rt.shared.objects.get(rt, args[0], name, site), args[1:], kwargs, site)


NON_SPIKING = frozenset({"NonSpikingLIFNode", "NonSpikingIFNode"})
BASE = drive.model(
    "BaseNode",
    {
        "__init__": _neuron_init,
        "forward": _neuron_forward,
        "single_step_forward": _step,
        "multi_step_forward": _step,
        "neuronal_charge": _charge,
        "neuronal_fire": _fire,
        "neuronal_reset": lambda rt, site, args, kwargs: None,
        "v_float_to_tensor": _to_tensor,
    },
    MEMORY,
)


def _each(name: str) -> Any:
    """``functional.reset_net(net)``: calls the method of every module inside that has one."""

    def run(rt: Any, site: Site, args: list, kwargs: dict) -> None:
        if type(args[0]) is Obj:
            for _, module in list(nn.walk(args[0])):
                method = module.cls.find(name)
                if method is not MISSING:
                    rt.shared.calls.call(rt, Bound(method, module), [], {}, site)

    return Native(f"{name}_net", run)


def _set_step_mode(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    for _, module in nn.walk(args[0]) if type(args[0]) is Obj else ():
        if MEMORY in module.cls.mro:
            rt.put(module.attrs, "step_mode", args[1])


def _multi_step(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``functional.multi_step_forward(x_seq, modules)``."""
    value = args[0]
    modules = args[1] if isinstance(args[1], (tuple, LList)) else (args[1],)
    for module in modules:
        value = rt.shared.calls.call(rt, module, [value], {}, site)
    return value


NAMES: dict[str, Any] = {
    **{name: Class(name, (BASE,)) for name in NEURONS},
    **{name: found for name in LAYERS if (found := leaf_modules.leaf_class(name)) is not None},
    "BaseNode": BASE,
    "MemoryModule": MEMORY,
    "reset_net": _each("reset"),
    "detach_net": _each("detach"),
    "set_step_mode": Native("set_step_mode", _set_step_mode),
    "multi_step_forward": Native("multi_step_forward", _multi_step),
}
