"""learn2learn: ``maml.clone()`` gives a copy that leads back to the module, ``adapt(loss)`` takes a step on it."""

from __future__ import annotations

from typing import Any

from ..semantics.calls import arg
from ..torch_model import nn
from ..values import Native, Obj
from ..where import Site
from . import drive, meta_learning


def _init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    nn._init(rt, site, args[:1], {})
    args[0].attrs["module"] = arg(args, kwargs, 1, "model")
    args[0].attrs["first_order"] = arg(args, kwargs, 3, "first_order", False)


def _clone(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    maml = args[0]
    module = maml.attrs["module"]
    made = Obj(maml.cls)
    made.attrs.update(
        training=True, module=module, first_order=kwargs.get("first_order", maml.attrs["first_order"])
    )
    if type(module) is Obj and module.is_a("module"):
        made.attrs["module"] = _clone_module(rt, site, [module], {})
    return made


def _adapt(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    maml = args[0]
    module, loss = maml.attrs["module"], arg(args, kwargs, 1, "loss")
    first = meta_learning.option(rt, site, args, kwargs, 2, "first_order", maml.attrs["first_order"])
    if type(module) is Obj and module.is_a("module"):
        meta_learning.adapt(rt, site, module, loss, not first)


def _clone_module(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``clone_module(module)``."""
    if type(args[0]) is not Obj or not args[0].is_a("module"):
        return drive.unknown(rt, "learn2learn.clone_module", args, kwargs, site)
    return meta_learning.copied(
        rt, site, args[0], lambda parameter: meta_learning.cloned(rt, site, parameter)
    )


NAMES: dict[str, Any] = {
    "MAML": meta_learning.wrapper("MAML", {"__init__": _init, "clone": _clone, "adapt": _adapt}),
    "clone_module": Native("clone_module", _clone_module),
}
