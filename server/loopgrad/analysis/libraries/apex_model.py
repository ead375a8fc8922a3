"""apex: ``amp.initialize`` and the scaled loss of ``amp.scale_loss``."""

from __future__ import annotations

from typing import Any

from ..semantics.calls import arg
from ..tape import Tensor
from ..torch_model import tensors
from ..values import Native, Obj, Sym
from ..where import Site
from . import drive
from .torch_wrappers import _parallel

SCALED = drive.model(
    "scale_loss",
    {
        "__enter__": lambda rt, site, args, kwargs: args[0].attrs["loss"],
        "__exit__": lambda rt, site, args, kwargs: None,
    },
)


def _initialize(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``model, optimizer = amp.initialize(model, optimizer, opt_level=…)``; the model alone where it comes alone."""
    optimizers = arg(args, kwargs, 1, "optimizers")
    model = arg(args, kwargs, 0, "models")
    return model if optimizers is None else (model, optimizers)


def _scale_loss(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """The loss times a number, to be used in a ``with``."""
    loss = arg(args, kwargs, 0, "loss")
    made = Obj(SCALED)
    if type(loss) in (Tensor, Sym):
        loss = tensors.apply(rt, "mul", [loss, tensors.graphless(rt, site)], {}, site)
    made.attrs["loss"] = loss
    return made


NAMES: dict[str, Any] = {
    "initialize": Native("initialize", _initialize),
    "scale_loss": Native("scale_loss", _scale_loss),
    "DistributedDataParallel": Native("DistributedDataParallel", _parallel),
    "master_params": Native("master_params", lambda rt, site, args, kwargs: rt.fresh(site)),
}
