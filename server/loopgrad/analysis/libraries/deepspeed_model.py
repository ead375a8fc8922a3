"""DeepSpeed: ``initialize`` wraps the module and its optimizer in one engine."""

from __future__ import annotations

from typing import Any

from ..semantics.calls import arg
from ..values import Native, Obj
from ..where import Site
from . import drive
from .torch_wrappers import PARALLEL


def _backward(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    loss = arg(args, kwargs, 1, "loss")
    drive.backward(rt, loss, site, kwargs)
    return loss


def _step(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    """The optimizer's step, and the zeroing that goes with it."""
    optimizer = args[0].attrs.get("optimizer")
    if type(optimizer) is Obj and optimizer.is_a("optimizer"):
        drive.step(rt, optimizer, site)
        drive.zero_grad(rt, optimizer, site)


ENGINE = drive.model(
    "DeepSpeedEngine",
    {"backward": _backward, "step": _step},
    PARALLEL,
    quiet="save_checkpoint load_checkpoint get_global_grad_norm set_train_batch_size save_16bit_model "
    "train_micro_batch_size_per_gpu gradient_accumulation_steps is_gradient_accumulation_boundary get_lr",
)


def _initialize(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``engine, optimizer, loader, scheduler = deepspeed.initialize(args, model, optimizer, model_parameters, …)``."""
    module, optimizer = arg(args, kwargs, 1, "model"), arg(args, kwargs, 2, "optimizer")
    data = kwargs.get("training_data")
    engine = Obj(ENGINE)
    engine.attrs.update(training=True, module=module, optimizer=optimizer)
    rt.modules_made.append(engine)
    if optimizer is None:
        optimizer = rt.fresh(site, "object")
    loader = rt.fresh(site, "object") if data is not None else None
    return (engine, optimizer, loader, kwargs.get("lr_scheduler", rt.fresh(site, "object")))


NAMES: dict[str, Any] = {"initialize": Native("initialize", _initialize), "DeepSpeedEngine": ENGINE}
