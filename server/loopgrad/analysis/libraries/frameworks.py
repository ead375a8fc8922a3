"""What is known by its name or its use alone: re-exported classes, and calls of unknowns that leave no doubt."""

from __future__ import annotations

from typing import Any

from ..tape import Tensor
from ..torch_model import autograd, nn, optim, tensors
from ..values import MISSING, LList, Native, Obj, Sym
from ..where import Site
from . import registry


def derived(full: str) -> Any:
    """Names that are known by their last part, whatever package re-exports them."""
    root, _, rest = full.partition(".")
    last = rest.rsplit(".", 1)[-1]
    if root == "torch":
        return MISSING
    if last == "LightningModule":
        return registry.of_package("lightning.LightningModule")
    return (
        registry.of_package(f"lightning.{last}" if last == "Fabric" else f"accelerate.{last}")
        if last
        in (
            "Accelerator",
            "Fabric",
        )
        else MISSING
    )


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
