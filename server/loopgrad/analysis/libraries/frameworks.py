"""Training frameworks: Lightning, accelerate, Fabric, ignite and their kin, as far as they meet the tape."""

from __future__ import annotations

from typing import Any

from ..semantics.calls import arg
from ..tape import Tensor
from ..torch_model import autograd, nn, optim, tensors
from ..values import MISSING, Class, LList, Native, Obj, Sym
from ..where import Site

TABLE: dict[str, Any] = {}

LIGHTNING = Class("LightningModule", (nn.MODULE,))
LIGHTNING.opaque = True


def _manual_backward(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    loss = arg(args, kwargs, 1, "loss")
    if type(loss) in (Tensor, Sym):
        autograd.tensor_backward(
            rt, loss, [], {k: v for k, v in kwargs.items() if k in ("retain_graph", "create_graph")}, site
        )


LIGHTNING.ns["manual_backward"] = Native("manual_backward", _manual_backward)
for _name in ("log", "log_dict", "save_hyperparameters", "print", "toggle_optimizer", "untoggle_optimizer"):
    LIGHTNING.ns[_name] = Native(_name, lambda rt, site, args, kwargs: None)
for _module in ("pytorch_lightning", "lightning", "lightning.pytorch", "pytorch_lightning.core"):
    TABLE[f"{_module}.LightningModule"] = LIGHTNING


def derived(full: str) -> Any:
    """Names by their last part, whatever package re-exports them."""
    last = full.rsplit(".", 1)[-1]
    root = full.split(".", 1)[0]
    if last == "LightningModule":
        return LIGHTNING
    if root == "torch":
        return MISSING
    if last in ("Accelerator", "Fabric"):
        return ACCELERATOR
    if root in ("pytorch_lightning", "lightning") and last == "LightningModule":
        return LIGHTNING
    return MISSING


ACCELERATOR = Class("Accelerator")
ACCELERATOR.opaque = True
ACCELERATOR.flags = frozenset({"inert"})
ACCELERATOR.ns["__init__"] = Native("__init__", lambda rt, site, args, kwargs: None)


def _backward(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    loss = arg(args, kwargs, 1, "loss")
    if type(loss) in (Tensor, Sym):
        autograd.tensor_backward(
            rt, loss, [], {k: v for k, v in kwargs.items() if k in ("retain_graph", "create_graph")}, site
        )


def _prepare(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return args[1] if len(args) == 2 else tuple(args[1:])


ACCELERATOR.ns["backward"] = Native("backward", _backward)
ACCELERATOR.ns["prepare"] = Native("prepare", _prepare)
ACCELERATOR.ns["setup"] = Native("setup", _prepare)
for _name in ("gather", "gather_for_metrics", "unwrap_model", "reduce", "setup_dataloaders", "prepare_model"):
    ACCELERATOR.ns[_name] = Native(_name, lambda rt, site, args, kwargs: args[1] if len(args) > 1 else None)


def attribute(rt: Any, sym: Sym, name: str, site: Site) -> Any:
    """What an unknown plainly is by how it is used: ``x.parameters()`` makes it a module."""
    if name in ("parameters", "named_parameters", "trainable_parameters"):
        return Native(name, lambda rt_, s, a, k: _unknown_parameters(rt_, sym, name))
    if name == "modules" or name == "named_modules":
        return None
    if name in ("eval", "train", "to", "cuda", "cpu", "half", "float", "requires_grad_") and (
        sym.params is not None or sym.kind == "any" and sym.node is None
    ):

        def same(rt_: Any, s: Site, a: list, k: dict) -> Any:
            if name == "requires_grad_":
                wanted = bool(rt_.truth(a[0], s)) if a else True
                if sym.params is None and not wanted:
                    sym.params = nn.parameter(rt_, None, "hidden", wants=False)
                    sym.params.guess = 1
                    sym.params.where = rt_.where
                elif sym.params is not None:
                    sym.params.leaf_grad = wanted
            return sym

        return Native(name, same)
    return None


def _unknown_parameters(rt: Any, sym: Sym, name: str) -> Any:
    if sym.params is None:
        sym.params = nn.parameter(rt, None, "hidden")
        sym.params.guess = 1
        sym.params.where = rt.where
    if name == "named_parameters":
        return LList([("weight", sym.params)], open=True)
    return LList([sym.params], open=True)


def call(rt: Any, fn: Sym, name: str, args: list, kwargs: dict[str, Any], site: Site) -> Any:
    """Calls of unknowns whose name leaves no doubt."""
    if name in ("backward", "manual_backward") and args and type(args[0]) is Tensor:
        autograd.tensor_backward(
            rt, args[0], [], {k: v for k, v in kwargs.items() if k in ("retain_graph", "create_graph")}, site
        )
        return None
    if name == "scale" and args and type(args[0]) is Tensor and args[0].node is not None:
        return tensors.apply(rt, "mul", [args[0], tensors.graphless(rt, site)], {}, site)
    if name == "step" and args and type(args[0]) is Obj and args[0].is_a("optimizer"):
        optim._step(rt, site, [args[0]], {})
        return rt.fresh(site)
    return NotImplemented
