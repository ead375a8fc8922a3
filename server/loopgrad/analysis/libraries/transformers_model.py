"""transformers: ``Trainer`` and its subclasses, whose ``compute_loss`` and ``training_step`` it calls in its loop."""

from __future__ import annotations

from typing import Any

from ..semantics.calls import arg
from ..torch_model import nn, optim
from ..values import Bound, Class, Func, LDict, Obj, Sym
from ..where import Site
from . import drive
from .accelerate_model import ACCELERATOR

NAMES_OF_INIT = ("model", "args", "data_collator", "train_dataset", "eval_dataset")


def _init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    trainer = args[0]
    for k, name in enumerate(NAMES_OF_INIT):
        value = arg(args, kwargs, k + 1, name)
        if value is not None:  # what was not given is made by the trainer
            rt.put(trainer.attrs, name, value)
    accelerator = Obj(ACCELERATOR)
    rt.put(trainer.attrs, "accelerator", accelerator)
    given = kwargs.get("optimizers")
    optimizer = given[0] if type(given) is tuple and given else None
    rt.put(trainer.attrs, "optimizer", optimizer)


def _inputs(rt: Any, model: Any, inputs: Any, site: Site) -> dict[str, Any]:
    """``**inputs``: of a batch that is not known, what the model's forward takes."""
    if type(inputs) is LDict:
        return {name: value for name, value in inputs.items() if type(name) is str}
    forward = drive.own(model, "forward")
    func = forward.func if type(forward) is Bound else None
    names = func.code.params[1:] if type(func) is Func else []
    return {name: rt.fresh(site) for name in names}


def _compute_loss(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """The loss that a model's outputs bring along."""
    model, inputs = args[1], args[2]
    named = _inputs(rt, model, inputs, site)
    outputs = rt.shared.calls.call(rt, model, [] if named else [inputs], named, site)
    loss = outputs.get("loss") if type(outputs) is LDict else rt.shared.objects.get(rt, outputs, "loss", site)
    return (loss, outputs) if arg(args, kwargs, 3, "return_outputs") is True else loss


def _training_step(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``training_step(model, inputs)``: the loss, its backward, and the loss without its graph."""
    trainer, model, inputs = args[0], args[1], args[2]
    method = rt.shared.objects.get(rt, trainer, "compute_loss", site)
    loss = drive.call(rt, method, [model, inputs], site)
    drive.backward(rt, loss, site)
    return drive.detached(rt, loss, site)


def _train(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    trainer = args[0]
    model = rt.shared.objects.get(rt, trainer, "model", site)
    loader = drive.own(trainer, "get_train_dataloader")
    data = drive.call(rt, loader, [], site) if loader is not None else None
    optimizer = trainer.attrs.get("optimizer")
    if drive.own(trainer, "create_optimizer") is not None:
        optimizer = drive.hook(rt, trainer, "create_optimizer", [], site) or trainer.attrs.get("optimizer")
    elif optimizer is None and type(model) is Obj and model.is_a("module"):
        made = optim.optimizer_class("AdamW")
        parameters = nn._parameters(rt, site, [model], {})
        optimizer = rt.shared.calls.call(rt, made, [parameters], {}, site)
    rt.put(trainer.attrs, "optimizer", optimizer)
    step = rt.shared.objects.get(rt, trainer, "training_step", site)

    def batch(index: int, inputs: Any) -> None:
        drive.call(rt, step, [model, inputs], site)
        if type(optimizer) is Obj and optimizer.is_a("optimizer"):
            drive.step(rt, optimizer, site)
            drive.zero_grad(rt, optimizer, site)

    with drive.alive(rt, site, trainer=trainer):
        drive.repeat(
            rt,
            site,
            drive.epochs(rt, site, None),
            lambda epoch, _: drive.repeat(rt, site, drive.batches(rt, site, data), batch),
        )
    return rt.fresh(site)


def _drive(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    """A trainer that nobody in reach starts."""
    model = Sym(("trainer", "model"))
    model.params = nn.parameter(rt, None, "model")
    model.params.guess = 1
    model.params.where = rt.where
    args[0].attrs.setdefault("model", model)
    _train(rt, site, args, kwargs)


TRAINER: Class = drive.model(
    "Trainer",
    {
        "__init__": _init,
        "compute_loss": _compute_loss,
        "training_step": _training_step,
        "train": _train,
        "__drive__": _drive,
    },
    quiet="log save_model save_state evaluate predict add_callback remove_callback push_to_hub is_world_process_zero "
    "log_metrics save_metrics",
)
TRAINER.ns["__driven__"] = frozenset({"training_step", "compute_loss"})
NAMES: dict[str, Any] = {"Trainer": TRAINER, "Seq2SeqTrainer": TRAINER}
