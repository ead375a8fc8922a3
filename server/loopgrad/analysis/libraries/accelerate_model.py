"""accelerate's ``Accelerator`` and Lightning's ``Fabric``: objects that wrap what they are given and run the backward."""

from __future__ import annotations

from typing import Any

from ..semantics.calls import arg
from ..values import Native
from ..where import Site
from . import drive


def _backward(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    drive.backward(rt, arg(args, kwargs, 1, "loss"), site, kwargs)


def _prepare(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """The same objects: a wrapped module is called, and an optimizer stepped, as before."""
    return args[1] if len(args) == 2 else tuple(args[1:])


def _launch(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``fabric.launch(train, …)`` calls ``train(fabric, …)``."""
    if len(args) < 2 or args[1] is None:
        return None
    return rt.shared.calls.call(rt, args[1], [args[0], *args[2:]], kwargs, site)


def _decorator(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``@accelerator.on_main_process``: the function as it is."""
    return args[1] if len(args) > 1 else Native("decorator", lambda rt_, s, a, k: a[0])


_LOGGING = (
    "print log log_dict log_images save load save_state load_state init_trackers end_training get_tracker "
)
ACCELERATOR = drive.model(
    "Accelerator",
    {
        "backward": _backward,
        "prepare": _prepare,
        "on_main_process": _decorator,
        "on_local_main_process": _decorator,
        "on_last_process": _decorator,
    },
    quiet=_LOGGING
    + "accumulate no_sync autocast wait_for_everyone free_memory clip_grad_norm_ clip_grad_value_ "
    "main_process_first local_main_process_first profile unscale_gradients skip_first_batches register_for_checkpointing",
    same="gather gather_for_metrics reduce pad_across_processes unwrap_model prepare_model prepare_optimizer "
    "prepare_data_loader prepare_scheduler split_between_processes",
)
FABRIC = drive.model(
    "Fabric",
    {
        "backward": _backward,
        "setup": _prepare,
        "setup_optimizers": _prepare,
        "launch": _launch,
        "run": _launch,
    },
    quiet=_LOGGING
    + "no_backward_sync autocast barrier seed_everything clip_gradients init_module init_tensor call "
    "rank_zero_first device_count",
    same="setup_module all_gather all_reduce broadcast to_device",
)


def _loaders(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return args[1] if len(args) == 2 else tuple(args[1:])


FABRIC.ns["setup_dataloaders"] = Native("setup_dataloaders", _loaders)


def _executable(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``@find_executable_batch_size``: calls the function with a batch size of its own before what it is given."""
    if not args:
        return Native("find_executable_batch_size", lambda rt_, s, a, k: _executable(rt_, s, a, {}))
    function = args[0]

    def run(rt_: Any, s: Site, a: list, k: dict) -> Any:
        return rt_.shared.calls.call(rt_, function, [rt_.fresh(s, "number"), *a], k, s)

    return Native("find_executable_batch_size", run)


NAMES: dict[str, Any] = {
    "Accelerator": ACCELERATOR,
    "find_executable_batch_size": Native("find_executable_batch_size", _executable),
}
__all__ = ["ACCELERATOR", "FABRIC", "NAMES"]
