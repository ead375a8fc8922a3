"""PyTorch Geometric: the memory of temporal graph networks, whose ``detach()`` is the module's own."""

from __future__ import annotations

from typing import Any

from ..semantics.calls import arg
from ..torch_model import nn, tensors
from ..values import Obj
from ..where import Site
from . import drive, spiking


def _init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    obj = args[0]
    nn._init(rt, site, [obj], {})
    obj.attrs["msg_s_module"] = arg(args, kwargs, 5, "message_module")
    obj.attrs["aggr_module"] = arg(args, kwargs, 6, "aggregator_module")
    obj.attrs["gru"] = nn.parameter(rt, site, "TGNMemory.gru")
    obj.attrs["time_enc"] = nn.parameter(rt, site, "TGNMemory.time_enc")
    obj.attrs["_buffer_names"] = ("memory",)
    _reset(rt, site, args, kwargs)


def _reset(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    spiking.clear(rt, site, args[0], ("memory",))


def _updated(rt: Any, site: Site, obj: Obj, extra: list[Any]) -> Any:
    """The memory of some nodes: from what is remembered, by the messages' modules and the recurrent cell."""
    return spiking.integrate(rt, site, obj, [obj.attrs.get("memory"), *extra])


def _forward(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``z, last_update = memory(n_id)``."""
    obj = args[0]
    if obj.attrs.get("training") is False:
        return (tensors.apply(rt, "index_select", [obj.attrs["memory"]], {}, site), rt.fresh(site, "object"))
    return (_updated(rt, site, obj, []), tensors.graphless(rt, site, "index"))


def _update(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    """``memory.update_state(src, dst, t, msg)``: writes the updated memory of these nodes into the buffer."""
    obj = args[0]
    messages = [value for value in (*args[4:5], kwargs.get("raw_msg")) if value is not None]
    spiking.keep(rt, site, obj, "memory", _updated(rt, site, obj, messages), "attribute")


def _detach(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    spiking.cut(rt, site, args[0], ("memory",))


TGN_MEMORY = drive.model(
    "TGNMemory",
    {
        "__init__": _init,
        "forward": _forward,
        "update_state": _update,
        "detach": _detach,
        "reset_state": _reset,
        "reset_parameters": _reset,
    },
    nn.MODULE,
)
NAMES: dict[str, Any] = {"TGNMemory": TGN_MEMORY}
