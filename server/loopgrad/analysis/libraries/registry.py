"""The dotted names that the models of torch, the standard library and other packages know, and how one enters them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..values import MISSING, Native
from ..where import Site

TABLE: dict[str, Any] = {}
Fn = Callable[[Any, Site, list, dict], Any]

#: The packages that have a model of their own, by the first part of the name that a program imports them by: the
#: module beside this one whose ``NAMES`` holds what it knows. It is read when a program uses the package.
PACKAGES: dict[str, str] = {
    "accelerate": "accelerate_model",
    "apex": "apex_model",
    "deepspeed": "deepspeed_model",
    "higher": "higher_model",
    "ignite": "ignite_model",
    "learn2learn": "learn2learn_model",
    "lightning": "lightning_model",
    "lightning_fabric": "lightning_model",
    "norse": "norse_model",
    "opacus": "opacus_model",
    "pyro": "pyro_model",
    "pytorch_lightning": "lightning_model",
    "snntorch": "snntorch_model",
    "spikingjelly": "spikingjelly_model",
    "torch_geometric": "pyg_model",
    "torchmetrics": "torchmetrics_model",
    "transformers": "transformers_model",
}


def native(*names: str) -> Callable[[Fn], Fn]:
    """Enter a function under the dotted names that a program imports it by."""

    def add(fn: Fn) -> Fn:
        for name in names:
            TABLE[name] = Native(name.rsplit(".", 1)[-1], fn)
        return fn

    return add


def names_of(full: str) -> dict[str, Any]:
    """The names that the model of a package knows, by a dotted name in it; none where it has no model."""
    module = PACKAGES.get(full.split(".", 1)[0])
    return import_module(f".{module}", __package__).NAMES if module is not None else {}


def of_package(full: str) -> Any:
    """What a package's model knows by the last part of a name, whatever submodule it is imported from; or MISSING."""
    return names_of(full).get(full.rsplit(".", 1)[-1], MISSING)
