"""opacus: ``make_private`` wraps a module, an optimizer and a loader, which are called as before."""

from __future__ import annotations

from typing import Any

from ..semantics.calls import arg
from ..where import Site
from . import drive


def _make_private(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``model, optimizer, loader = engine.make_private(module=…, optimizer=…, data_loader=…)``."""
    names = ("module", "optimizer", "data_loader")
    parts = [arg(args, kwargs, k + 1, name) for k, name in enumerate(names)]
    if kwargs.get("grad_sample_mode") is not None:
        # With ghost clipping the criterion is wrapped, too.
        return drive.unknown(rt, "opacus.make_private", args[1:], kwargs, site)
    return tuple(parts)


ENGINE = drive.model(
    "PrivacyEngine",
    {"make_private": _make_private, "make_private_with_epsilon": _make_private},
    quiet="get_epsilon save_checkpoint load_checkpoint",
)
NAMES: dict[str, Any] = {"PrivacyEngine": ENGINE}
