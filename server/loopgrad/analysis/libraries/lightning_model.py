"""Lightning: ``Trainer.fit`` and its hooks, ``LightningModule``, callbacks, and Fabric."""

from __future__ import annotations

from typing import Any

from ..semantics.calls import arg
from ..tape import Tensor
from ..torch_model import nn
from ..torch_model.optim import held
from ..values import Class, ClassMethod, Func, LDict, LList, Native, Obj, Sym
from ..where import Site
from . import drive
from .accelerate_model import FABRIC

# -- the module -------------------------------------------------------------------------------------------


def _manual_backward(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    drive.backward(rt, arg(args, kwargs, 1, "loss"), site, kwargs)


def _optimizers(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    found = args[0].attrs.get("_optimizers")
    if not found:
        return rt.fresh(site)
    return found[0] if len(found) == 1 else LList(found)


def _toggle(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    """Parameters that other optimizers alone hold want no gradient until ``untoggle_optimizer``."""
    module, chosen = args[0], arg(args, kwargs, 1, "optimizer")
    mine = {id(t) for t in held(chosen)} if type(chosen) is Obj else set()
    others = [t for each in module.attrs.get("_optimizers") or () for t in held(each)]
    off = [t for t in others if id(t) not in mine and t.leaf_grad]
    module.attrs["_toggled"] = tuple(off)
    for t in off:
        nn.set_requires(rt, t, False, site)


def _untoggle(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    for t in args[0].attrs.pop("_toggled", ()):
        nn.set_requires(rt, t, True, site)


def _load(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``Model.load_from_checkpoint(path, …)``: a module that is made with what its checkpoint holds."""
    cls = args[0]
    init = cls.find("__init__")
    names = init.code.params[1 : len(init.code.params) - len(init.defaults)] if type(init) is Func else []
    given = {name: kwargs[name] for name in names if name in kwargs}
    return rt.shared.calls.call(rt, cls, [], {name: given.get(name, rt.fresh(site)) for name in names}, site)


def _drive(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    """A module that no trainer in reach fits."""
    fit(rt, site, Obj(TRAINER), args[0], None, None, None)


MODULE = drive.model(
    "LightningModule",
    {
        "manual_backward": _manual_backward,
        "optimizers": _optimizers,
        "toggle_optimizer": _toggle,
        "untoggle_optimizer": _untoggle,
        "__drive__": _drive,
    },
    nn.MODULE,
    quiet="log log_dict save_hyperparameters print lr_schedulers lr_scheduler_step clip_gradients freeze unfreeze "
    "configure_gradient_clipping to_onnx to_torchscript",
    same="all_gather transfer_batch_to_device",
)
#: What stands for itself where the user's class has no such method: ``super().optimizer_step(…)``.
MODULE.ns["optimizer_step"] = Native(
    "optimizer_step",
    lambda rt, site, args, kwargs: drive.step(
        rt, arg(args, kwargs, 3, "optimizer"), site, arg(args, kwargs, 4, "optimizer_closure")
    ),
)
MODULE.ns["optimizer_zero_grad"] = Native(
    "optimizer_zero_grad",
    lambda rt, site, args, kwargs: drive.zero_grad(rt, arg(args, kwargs, 3, "optimizer"), site),
)
MODULE.ns["backward"] = Native("backward", _manual_backward)
MODULE.ns["load_from_checkpoint"] = ClassMethod(Native("load_from_checkpoint", _load))
HOOKS = (
    "on_fit_start on_fit_end on_train_start on_train_end on_train_epoch_start on_train_epoch_end on_train_batch_start "
    "on_train_batch_end on_validation_start on_validation_end on_validation_epoch_start on_validation_epoch_end "
    "on_validation_batch_start on_validation_batch_end on_before_zero_grad on_before_backward on_after_backward "
    "on_before_optimizer_step setup teardown prepare_data configure_model configure_callbacks on_save_checkpoint "
    "on_load_checkpoint on_test_start on_test_end on_test_epoch_start on_test_epoch_end on_test_batch_start "
    "on_test_batch_end on_predict_start on_predict_end on_predict_epoch_start on_predict_epoch_end"
)
EVALUATES = (
    "training_step validation_step test_step predict_step training_epoch_end validation_epoch_end test_epoch_end "
    "configure_optimizers train_dataloader val_dataloader test_dataloader"
)
MODULE.ns["__driven__"] = frozenset(f"{HOOKS} {EVALUATES}".split())
for _name in HOOKS.split():
    MODULE.ns[_name] = Native(_name, lambda rt, site, args, kwargs: None)

# -- the trainer ------------------------------------------------------------------------------------------


def _trainer_init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    args[0].attrs.update({f"_{name}": value for name, value in kwargs.items()})


def _fit(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    fit(
        rt,
        site,
        args[0],
        arg(args, kwargs, 1, "model"),
        kwargs.get("train_dataloader", arg(args, kwargs, 2, "train_dataloaders")),
        arg(args, kwargs, 3, "val_dataloaders"),
        arg(args, kwargs, 4, "datamodule"),
    )


def _evaluate(stage: str) -> Any:
    def run(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
        model = arg(args, kwargs, 1, "model")
        data = kwargs.get("datamodule", arg(args, kwargs, 2, "dataloaders"))
        if type(data) is Obj and drive.own(data, f"{_LOADERS[stage]}_dataloader") is not None:
            data = drive.hook(rt, data, f"{_LOADERS[stage]}_dataloader", [], site)
        if type(model) is Obj and model.is_a("module"):
            model.attrs.setdefault("trainer", args[0])
            evaluate(rt, site, args[0], model, data, stage, None)
        return rt.fresh(site)

    return run


_LOADERS = {"validation": "val", "test": "test", "predict": "predict"}
TRAINER: Class = drive.model(
    "Trainer",
    {
        "__init__": _trainer_init,
        "fit": _fit,
        "validate": _evaluate("validation"),
        "test": _evaluate("test"),
        "predict": _evaluate("predict"),
    },
    quiet="save_checkpoint logger print tune",
)
CALLBACK = drive.model("Callback", {})
DATAMODULE = drive.model("LightningDataModule", {}, quiet="save_hyperparameters prepare_data setup teardown")


def fit(rt: Any, site: Site, trainer: Obj, module: Any, train: Any, val: Any, data: Any) -> None:
    """The training loop, with the hooks in the order in which the trainer calls them."""
    if type(module) is not Obj or not module.is_a("module"):
        return
    if type(train) is Obj and drive.own(train, "train_dataloader") is not None:
        train, data = None, train  # a data module in the loader's place
    # A module that is not known to leave the step to the trainer runs its backward itself.
    manual = rt.known(rt.shared.objects.get(rt, module, "automatic_optimization", site)) is False
    rt.put(module.attrs, "trainer", trainer)
    given: Any = trainer.attrs.get("_callbacks")
    several = given if type(given) in (LList, tuple) else (given,)
    listening = [each for each in several if type(each) is Obj]
    with drive.alive(rt, site, trainer=trainer, module=module, callbacks=LList(listening)):
        if data is not None:
            for name in ("prepare_data", "setup"):
                drive.hook(rt, data, name, ["fit"][: name == "setup"], site)
        run = _Fit(rt, site, trainer, module, listening, manual)
        for name in ("prepare_data", "setup", "configure_model"):
            drive.hook(rt, module, name, ["fit"][: name == "setup"], site)
        source = data if type(data) is Obj else module
        train = train if train is not None else drive.hook(rt, source, "train_dataloader", [], site)
        val = val if val is not None else drive.hook(rt, source, "val_dataloader", [], site)
        configured = drive.hook(rt, module, "configure_optimizers", [], site)
        rt.put(module.attrs, "_optimizers", tuple(drive.optimizers_in(configured)))
        run.tell("on_fit_start")
        if val is not None:
            evaluate(rt, site, trainer, module, val, "validation", listening)
        run.tell("on_train_start")
        drive.repeat(
            rt,
            site,
            drive.epochs(rt, site, trainer.attrs.get("_max_epochs", 1000)),
            lambda epoch, _: run.epoch(epoch, train, val),
        )
        run.tell("on_train_end")
        run.tell("on_fit_end")


class _Fit:
    """One ``fit``: what is needed in each of its epochs and steps."""

    def __init__(self, rt: Any, site: Site, trainer: Obj, module: Obj, callbacks: list, manual: bool) -> None:
        self.rt = rt
        self.site = site
        self.trainer = trainer
        self.module = module
        self.callbacks = callbacks
        self.manual = manual
        self.batch = 0
        self.steps = 0
        every = trainer.attrs.get("_accumulate_grad_batches", 1)
        self.every = every if type(every) is int else 1

    def tell(self, name: str, *args: Any) -> None:
        """A hook of the callbacks, then of the module."""
        for each in self.callbacks:
            drive.hook(self.rt, each, name, [self.trainer, self.module, *args], self.site)
        drive.hook(self.rt, self.module, name, list(args), self.site)

    def epoch(self, epoch: int, train: Any, val: Any) -> None:
        rt, site = self.rt, self.site
        rt.put(self.module.attrs, "current_epoch", epoch)
        rt.put(self.trainer.attrs, "current_epoch", epoch)
        self.tell("on_train_epoch_start")
        drive.repeat(rt, site, drive.batches(rt, site, train), self.train_batch)
        if val is not None:
            evaluate(rt, site, self.trainer, self.module, val, "validation", self.callbacks)
        self.tell("on_train_epoch_end")
        drive.hook(rt, self.module, "training_epoch_end", [LList(open=True)], site)

    def train_batch(self, index: int, batch: Any) -> None:
        rt, site, module = self.rt, self.site, self.module
        self.batch = index
        steps = rt.fresh(site, "number") if self.manual else self.steps
        rt.put(module.attrs, "global_step", steps)
        rt.put(self.trainer.attrs, "global_step", steps)
        self.tell("on_train_batch_start", batch, index)
        optimizers = module.attrs["_optimizers"]
        if self.manual:
            outputs = self.training_step(batch, [])
        elif not optimizers:
            outputs = self.closure(batch, None, [])
        else:
            # Of several optimizers (before version 2) each has its own call of the step.
            for number, optimizer in enumerate(optimizers):
                if len(optimizers) > 1:
                    _toggle(rt, site, [module, optimizer], {})
                outputs = self.optimize(batch, optimizer, [number] if len(optimizers) > 1 else [])
                if len(optimizers) > 1:
                    _untoggle(rt, site, [module], {})
            self.steps += 1
        self.tell("on_train_batch_end", outputs, batch, index)

    def optimize(self, batch: Any, optimizer: Obj, extra: list) -> Any:
        """The optimizer's step, which calls back for the training step and the backward."""
        rt, site = self.rt, self.site
        if (self.batch + 1) % self.every:
            return self.closure(batch, optimizer, extra)
        found: list[Any] = []

        def closure(rt_: Any, site_: Site, args: list, kwargs: dict) -> Any:
            found.append(self.closure(batch, optimizer, extra))
            return rt_.fresh(site_, "number")

        given = Native("closure", closure)
        override = drive.own(self.module, "optimizer_step")
        epoch = self.module.attrs["current_epoch"]
        if override is None:
            drive.step(rt, optimizer, site, given)
        else:
            order = [epoch, self.batch, optimizer, given]
            if len(drive.fitting(override, [0] * 9)) > 4:  # before version 2
                order = [epoch, self.batch, optimizer, extra[0] if extra else 0, given]
            drive.call(rt, override, order, site)
        return found[0] if found else None

    def closure(self, batch: Any, optimizer: Obj | None, extra: list) -> Any:
        """Training step, zeroing, backward: what an optimizer's step evaluates."""
        rt, site, module = self.rt, self.site, self.module
        value = self.training_step(batch, extra)
        loss = value.get("loss") if type(value) is LDict else value
        if type(loss) not in (Tensor, Sym):
            return None
        if optimizer is not None and self.batch % self.every == 0:
            self.tell("on_before_zero_grad", optimizer)
            override = drive.own(module, "optimizer_zero_grad")
            if override is None:
                drive.zero_grad(rt, optimizer, site)
            else:
                drive.call(rt, override, [module.attrs["current_epoch"], self.batch, optimizer], site)
        self.tell("on_before_backward", loss)
        override = drive.own(module, "backward")
        if override is None:
            drive.backward(rt, loss, site)
        else:
            drive.call(rt, override, [loss], site)
        self.tell("on_after_backward")
        if optimizer is not None:
            self.tell("on_before_optimizer_step", optimizer)
        return self.outputs(value)

    def training_step(self, batch: Any, extra: list) -> Any:
        value = drive.hook(self.rt, self.module, "training_step", [batch, self.batch, *extra], self.site)
        return self.outputs(value) if self.manual else value

    def outputs(self, value: Any) -> Any:
        """What the end of the batch is told: the loss without its graph, and the rest as it is."""
        if type(value) is LDict:
            made = LDict(value, value.open)
            if "loss" in made:
                made["loss"] = drive.detached(self.rt, made["loss"], self.site)
            return made
        return LDict({"loss": drive.detached(self.rt, value, self.site)}) if value is not None else value


def evaluate(
    rt: Any, site: Site, trainer: Obj, module: Obj, data: Any, stage: str, callbacks: list | None
) -> None:
    """``validation_step`` (or test, predict) over the loader, in eval mode and without recording."""
    if drive.own(module, f"{stage}_step") is None:
        return

    def tell(name: str, *args: Any) -> None:
        for each in callbacks or ():
            drive.hook(rt, each, name, [trainer, module, *args], site)
        drive.hook(rt, module, name, list(args), site)

    def one(index: int, batch: Any) -> None:
        tell(f"on_{stage}_batch_start", batch, index)
        outputs = drive.hook(rt, module, f"{stage}_step", [batch, index], site)
        tell(f"on_{stage}_batch_end", outputs, batch, index)

    with drive.alive(rt, site, trainer=trainer, module=module), drive.evaluating(rt, site, module):
        tell(f"on_{stage}_start")
        tell(f"on_{stage}_epoch_start")
        drive.repeat(rt, site, drive.batches(rt, site, data), one)
        drive.hook(rt, module, f"{stage}_epoch_end", [LList(open=True)], site)
        tell(f"on_{stage}_epoch_end")
        tell(f"on_{stage}_end")


NAMES: dict[str, Any] = {
    "LightningModule": MODULE,
    "Trainer": TRAINER,
    "Callback": CALLBACK,
    "LightningDataModule": DATAMODULE,
    "Fabric": FABRIC,
}
__all__ = ["MODULE", "NAMES"]
