"""Names of torch: what is not simply an operation of the generated table."""

from __future__ import annotations

from typing import Any

from ..knowledge import torch_table as table
from ..semantics.calls import arg
from ..signals import Raised
from ..tape import Tensor
from ..torch_model import autograd, containers, inplace, leaf_modules, methods, nn, optim, tensors
from ..values import CONST, MISSING, Func, LList, Namespace, Native, Sym, tensors_in
from ..where import Site
from . import data, distributions, torch_factories, torch_wrappers, trees
from .registry import TABLE, native

#: Importing them enters what they know.
PARTS = (torch_factories, torch_wrappers, trees)


def derived(full: str) -> Any:
    """A torch name from the generated tables, or MISSING."""
    head, _, last = full.rpartition(".")
    if head in ("torch.nn", "torch.nn.modules", "torch.nn.modules.loss"):
        cls = leaf_modules.leaf_class(last)
        if cls is not None:
            return cls
    if head.startswith("torch.optim"):
        cls = optim.optimizer_class(last)
        if cls is not None:
            return cls
        if (
            last in ("LambdaLR", "StepLR")
            or last.endswith("LR")
            or last
            in (
                "ReduceLROnPlateau",
                "CosineAnnealingWarmRestarts",
                "SWALR",
                "SequentialLR",
                "_LRScheduler",
                "LRScheduler",
            )
        ):
            return optim.SCHEDULER
    if table.function(full) is not None:
        return _operation(head + ".", last)
    if head == "torch" and (last in table.inplace() or table.method(last) is not None):
        return _operation("torch.", last)
    if head == "torch.Tensor":
        return Native(last, lambda rt, site, args, kwargs: _unbound(rt, site, last, args, kwargs))
    if head in ("torch.nn.functional",) and last.endswith("_") and table.function(full[:-1]) is not None:
        return Native(
            last,
            lambda rt, site, args, kwargs: (
                inplace.modify(rt, args[0], last[:-1], args[1:], site)
                if args and type(args[0]) is Tensor
                else rt.fresh(site)
            ),
        )
    if head in ("torch.nn.init",):
        return Native(last, _init)
    return MISSING


_JOINING = frozenset({"cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack"})


def _operation(prefix: str, name: str) -> Native:
    if name.endswith("_") and not name.endswith("__"):

        def change(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
            if args and type(args[0]) is Tensor:
                return methods.method(rt, args[0], name, args[1:], kwargs, site)
            return rt.fresh(site)

        return Native(name, change)
    profile = table.function(prefix + name)
    if profile is not None and not profile.args and profile.graph == "no":
        return Native(name, methods_factory)

    def run(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
        if name in _JOINING and args and isinstance(args[0], (tuple, LList)) and not args[0]:
            if not getattr(args[0], "open", False):
                raise Raised("RuntimeError")  # there is nothing to put together
        if not any(
            type(v) is Tensor or type(v) is Sym and v.node is not None for v in (*args, *kwargs.values())
        ):
            deep = any(True for v in (*args, *kwargs.values()) for _ in tensors_in(v, 3))
            if not deep and any(tensors.unknown_inside(v) for v in (*args, *kwargs.values())):
                return rt.fresh(site, "tensor")
            if not deep:
                return methods.factory(rt, site, [], kwargs)
        return tensors.apply(rt, name, args, kwargs, site, prefix)

    return Native(name, run)


def methods_factory(rt: Any, site: Site, args: list, kwargs: dict) -> Tensor:
    return methods.factory(rt, site, args, kwargs)


def _unbound(rt: Any, site: Site, name: str, args: list, kwargs: dict) -> Any:
    if args and type(args[0]) is Tensor:
        return methods.method(rt, args[0], name, args[1:], kwargs, site)
    if args and type(args[0]) is Sym:
        found = tensors_unknown(rt, args[0], name, site)
        return rt.shared.calls.call(rt, found, args[1:], kwargs, site)
    return rt.fresh(site)


def tensors_unknown(rt: Any, sym: Sym, name: str, site: Site) -> Any:
    return rt.shared.objects.get(rt, sym, name, site)


def _init(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``nn.init.xavier_(w)``: in place under no_grad."""
    t = arg(args, kwargs, 0, "tensor")
    if type(t) is Tensor:
        tensors.bump(rt, t, site, "init")
    return t


@native("torch.is_tensor")
def _is_tensor(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    value = args[0]
    if type(value) is Sym:
        return rt.shared.classes.isinstance(rt, value, nn.TENSOR, site)
    return type(value) is Tensor


@native("torch.is_grad_enabled")
def _enabled(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return bool(rt.grad)


TABLE.update(
    {
        "torch.nn.Module": nn.MODULE,
        "torch.nn.Sequential": containers.SEQUENTIAL,
        "torch.nn.ModuleList": containers.MODULE_LIST,
        "torch.nn.ModuleDict": containers.MODULE_DICT,
        "torch.nn.ParameterList": containers.PARAMETER_LIST,
        "torch.nn.ParameterDict": containers.PARAMETER_DICT,
        "torch.nn.Parameter": nn.PARAMETER,
        "torch.nn.parameter.Parameter": nn.PARAMETER,
        "torch.nn.modules.Module": nn.MODULE,
        "torch.no_grad": autograd.NO_GRAD,
        "torch.enable_grad": autograd.ENABLE_GRAD,
        "torch.inference_mode": autograd.INFERENCE,
        "torch.set_grad_enabled": autograd.SET_GRAD,
        "torch.autograd.no_grad": autograd.NO_GRAD,
        "torch.autograd.enable_grad": autograd.ENABLE_GRAD,
        "torch.autograd.set_grad_enabled": autograd.SET_GRAD,
        "torch.autograd.inference_mode": autograd.INFERENCE,
        "torch.autograd.grad": Native("grad", autograd.grad),
        "torch.autograd.backward": Native("backward", autograd.autograd_backward),
        "torch.autograd.Function": autograd.FUNCTION,
        "torch.utils.checkpoint.checkpoint": Native("checkpoint", autograd.checkpoint),
        "torch.optim.Optimizer": optim.OPTIMIZER,
        "torch.nn.utils.parametrize.register_parametrization": Native(
            "register_parametrization", leaf_modules.parametrize
        ),
        "torch.nn.utils.parametrize.cached": leaf_modules.CACHED,
        "torch.cuda.amp.GradScaler": optim.SCALER,
        "torch.amp.GradScaler": optim.SCALER,
        "torch.GradScaler": optim.SCALER,
        "torch.cuda.is_available": Native(
            "is_available", lambda rt, site, args, kwargs: Sym(("cuda", "available"), "bool")
        ),
        "torch.cuda.device_count": Native(
            "device_count", lambda rt, site, args, kwargs: Sym(("cuda", "count"), "number")
        ),
        "torch.pi": 3.141592653589793,
        "torch.inf": float("inf"),
        "torch.nan": float("nan"),
        "torch.e": 2.718281828459045,
        **data.TABLE,
        **distributions.TABLE,
    }
)
for _name in (
    "float",
    "float32",
    "float64",
    "float16",
    "double",
    "half",
    "bfloat16",
    "long",
    "int",
    "int64",
    "int32",
    "int8",
    "uint8",
    "bool",
    "short",
    "complex64",
    "Size",
    "dtype",
    "strided",
    "channels_last",
    "Generator",
    "finfo",
    "iinfo",
    "__version__",
    "version",
):
    TABLE.setdefault(f"torch.{_name}", Sym(("lib", f"torch.{_name}"), "object"))
__all__ = ["CONST", "Func", "Namespace", "Raised", "TABLE", "derived"]
