"""What trains: which parameters an optimizer holds, which a backward reaches, and which had a gradient.

A parameter's key is ``optimizer.index`` in the order of making, which a fix does not change, so that two
runs can be compared; its name is what the frames call it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch

from .graph import Node
from .names import Names
from .passes import leaves

#: Steps of which a parameter's history tells.
_LONGEST = 256


@dataclass
class Held:
    """A parameter in an optimizer."""

    key: str
    parameter: torch.Tensor
    group: int
    name: str = ""
    reached: bool = False
    stepped: int = 0
    had_gradient: int = 0
    #: A backward has reached it since its optimizer's last step.
    fresh: bool = False
    #: For each step whether one had, as "1" and "0".
    history: str = ""


@dataclass
class Optimizer:
    number: int
    optimizer: Any
    held: dict[int, Held] = field(default_factory=dict)
    steps: int = 0


class Training:
    def __init__(self, frames: Callable[[], Iterable[Any]], stepped: Callable[[], None]) -> None:
        self._frames = frames
        self._stepped = stepped
        self._optimizers: dict[int, Optimizer] = {}
        #: An optimizer's step is running: closures' passes belong to it.
        self.stepping = 0
        #: Steps that have begun.
        self.begun = 0

    def install(self) -> None:
        """Watches all optimizers. Hooks for every optimizer exist since torch 2.0."""
        from torch.optim.optimizer import (
            register_optimizer_step_post_hook,
            register_optimizer_step_pre_hook,
        )

        register_optimizer_step_pre_hook(self._before)
        register_optimizer_step_post_hook(self._after)
        original = torch.optim.Optimizer.add_param_group

        def add_param_group(optimizer: Any, group: dict[str, Any]) -> None:
            original(optimizer, group)
            self._learn(optimizer)

        torch.optim.Optimizer.add_param_group = add_param_group

    def _learn(self, optimizer: Any) -> Optimizer:
        known = self._optimizers.get(id(optimizer))
        if known is None or known.optimizer is not optimizer:
            known = self._optimizers[id(optimizer)] = Optimizer(len(self._optimizers) + 1, optimizer)
        for number, group in enumerate(optimizer.param_groups):
            for parameter in group["params"]:
                held = known.held.get(id(parameter))
                if held is None or held.parameter is not parameter:
                    key = f"{known.number}.{len(known.held) + 1}"
                    known.held[id(parameter)] = Held(key, parameter, number)
        return known

    def _before(self, optimizer: Any, *_: Any) -> None:
        self.stepping += 1
        self.begun += 1
        self._learn(optimizer)

    def _after(self, optimizer: Any, *_: Any) -> None:
        """Behind the step, since a closure makes the gradients within it."""
        self.stepping = max(0, self.stepping - 1)
        known = self._learn(optimizer)
        known.steps += 1
        for held in known.held.values():
            held.stepped += 1
            has = held.parameter.grad is not None
            held.had_gradient += has
            if len(held.history) < _LONGEST:
                held.history += "1" if has and held.fresh else "0"
            held.fresh = False
        if known.steps == 1:
            self._name(known)
        self._stepped()

    def _name(self, known: Optimizer) -> None:
        names = Names(self._frames(), lambda tensor: id(tensor) in known.held)
        for key, held in known.held.items():
            found = names.found.get(key)
            if found is not None:
                held.name = min(found[1], key=lambda name: ("param_groups" in name, len(name)))

    def reach(self, nodes: list[Node]) -> None:
        """A pass walks these nodes."""
        if not self._optimizers:
            return
        for leaf in leaves(nodes):
            for known in self._optimizers.values():
                held = known.held.get(id(leaf))
                if held is not None:
                    held.reached = held.fresh = True

    def untrained(self) -> list[str]:
        """Parameters of groups that were stepped and in which not one ever had a gradient.

        Frozen and unused parts beside trained ones are no fault.
        """
        found: list[str] = []
        for known in self._optimizers.values():
            if not known.steps:
                continue
            groups: dict[int, list[Held]] = {}
            for held in known.held.values():
                if held.parameter.requires_grad and held.stepped:
                    groups.setdefault(held.group, []).append(held)
            for group in groups.values():
                if not any(held.had_gradient for held in group):
                    found.extend(held.name or held.key for held in group)
        return found

    def report(self) -> list[dict[str, Any]]:
        return [
            {
                "key": held.key,
                "name": held.name,
                "reached": held.reached,
                "stepped": held.stepped,
                "had_gradient": held.had_gradient,
                "history": held.history,
                "pending": held.fresh,
            }
            for known in self._optimizers.values()
            for held in known.held.values()
        ]
