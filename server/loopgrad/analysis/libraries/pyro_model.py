"""pyro: ``svi.step`` runs its own backward and step, and gives a number; modules and losses of one's own are unknown."""

from __future__ import annotations

from typing import Any

from . import drive

SVI = drive.model("SVI", {}, quiet="step evaluate_loss loss_and_grads")
NAMES: dict[str, Any] = {"SVI": SVI}
