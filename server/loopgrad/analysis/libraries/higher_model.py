"""higher: ``innerloop_ctx`` gives a functional copy of a module and an optimizer whose steps are on the tape."""

from __future__ import annotations

from typing import Any

from ..semantics.calls import arg
from ..tape import Tensor
from ..torch_model import nn
from ..values import Native, Obj
from ..where import Site
from . import drive, meta_learning

CONTEXT = drive.model(
    "innerloop_ctx",
    {
        "__enter__": lambda rt, site, args, kwargs: args[0].attrs["pair"],
        "__exit__": lambda rt, site, args, kwargs: None,
    },
)


def _step(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    """``diffopt.step(loss)``."""
    optimizer, loss = args[0], arg(args, kwargs, 1, "loss")
    if type(loss) is Tensor:
        track = optimizer.attrs["track"]
        meta_learning.adapt(rt, site, optimizer.attrs["module"], loss, track, track)


OPTIMIZER = drive.model("DifferentiableOptimizer", {"step": _step})


def _patched(rt: Any, site: Site, module: Any, copy: bool) -> Any:
    """A copy with fast weights: copies of the parameters, or what leads to them (``copy_initial_weights=False``)."""
    if type(module) is not Obj or not module.is_a("module") or nn.hidden_parts(rt, module):
        return None

    def made(parameter: Tensor) -> Tensor:
        return meta_learning.leaf(rt, site, parameter) if copy else meta_learning.cloned(rt, site, parameter)

    return meta_learning.copied(rt, site, module, made)


def _context(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    copy = meta_learning.option(rt, site, args, kwargs, 3, "copy_initial_weights", True)
    track = meta_learning.option(rt, site, args, kwargs, 5, "track_higher_grads", True)
    module = _patched(rt, site, arg(args, kwargs, 0, "model"), copy)
    if module is None:
        return drive.unknown(rt, "higher.innerloop_ctx", args, kwargs, site)
    optimizer = Obj(OPTIMIZER)
    optimizer.attrs.update(module=module, track=track)
    made = Obj(CONTEXT)
    made.attrs["pair"] = (module, optimizer)
    return made


NAMES: dict[str, Any] = {"innerloop_ctx": Native("innerloop_ctx", _context)}
