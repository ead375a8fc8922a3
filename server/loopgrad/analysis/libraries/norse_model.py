"""norse: cells that take and give their state, which the caller carries."""

from __future__ import annotations

from typing import Any

from ..torch_model import nn
from ..torch_model.containers import SEQUENTIAL, _ordered
from ..values import MISSING, Class, LList, Obj, tensors_in
from ..where import Site
from . import drive, spiking

#: The fields of the states, by the cells that have them.
FIELDS: dict[tuple[str, ...], str] = {
    ("v", "i"): "LIFCell LIF LIFFeedForwardCell LILinearCell LICell LI LIFRefracFeedForwardCell",
    ("z", "v", "i"): "LIFRecurrentCell LIFRecurrent LIFRefracRecurrentCell",
    ("v",): "LIBoxCell LIFBoxCell",
}
RECURRENT = ("LIFRecurrentCell", "LIFRecurrent", "LIFRefracRecurrentCell", "LILinearCell")
STATE = Class("State")
STATE.flags = frozenset({"namedtuple"})
_SHAPES: dict[tuple[str, ...], Class] = {}


def _state(fields: tuple[str, ...], values: list[Any]) -> Obj:
    cls = _SHAPES.get(fields)
    if cls is None:
        cls = _SHAPES[fields] = Class("State", (STATE,))
        cls.fields = [(name, MISSING) for name in fields]
    return Obj(cls, tuple(values))


def _init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    obj = args[0]
    nn._init(rt, site, [obj], {})
    if obj.cls.name in RECURRENT:
        for name in ("input_weights", "recurrent_weights")[: 1 if obj.cls.name == "LILinearCell" else 2]:
            obj.attrs[name] = nn.parameter(rt, site, f"{obj.cls.name}.{name}")


def _cell(fields: tuple[str, ...]) -> Any:
    def forward(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
        obj = args[0]
        before = args[2] if len(args) > 2 else kwargs.get("state")
        membrane = spiking.integrate(rt, site, obj, [args[1], *tensors_in(before)])
        fired = membrane if obj.cls.name.startswith("LI") and "F" not in obj.cls.name else None
        fired = spiking.spike(rt, site, membrane) if fired is None else fired
        return (fired, _state(fields, [fired if name == "z" else membrane for name in fields]))

    return forward


NAMES: dict[str, Any] = {
    name: drive.model(name, {"__init__": _init, "forward": _cell(fields)}, nn.MODULE)
    for fields, names in FIELDS.items()
    for name in names.split()
}
STATEFUL = frozenset(NAMES.values())


def _sequential(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``SequentialState``: each stateful module with its own state; gives the output and the list of states."""
    given = args[2] if len(args) > 2 else kwargs.get("state")
    value, states = args[1], LList()
    for k, module in enumerate(_ordered(args[0])):
        before = given[k] if isinstance(given, (tuple, LList)) and k < len(given) else None
        if type(module) is Obj and STATEFUL & set(module.cls.mro):
            result = rt.shared.calls.call(rt, module, [value, before], {}, site)
            value, after = result if type(result) is tuple else (result, None)
        else:
            value, after = rt.shared.calls.call(rt, module, [value], {}, site), None
        states.append(after)
    return (value, states)


NAMES["SequentialState"] = drive.model("SequentialState", {"forward": _sequential}, SEQUENTIAL)
NAMES["Lift"] = drive.model(
    "Lift",
    {
        "__init__": lambda rt, site, args, kwargs: args[0].attrs.update(lifted=args[1]),
        "forward": lambda rt, site, args, kwargs: rt.shared.calls.call(
            rt, args[0].attrs["lifted"], args[1:], kwargs, site
        ),
    },
    nn.MODULE,
)
