"""What a theme hands over, and the training step that most themes share."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import modules
from .builder import Builder
from .expressions import scalar, vec
from .training import backward, step, zero
from .tree import Node


@dataclass
class Plan:
    """What a theme wants: the body of the main loop and what stands around it."""

    body: list[Node] = field(default_factory=list)
    epoch_start: list[Node] = field(default_factory=list)
    epoch_end: list[Node] = field(default_factory=list)


def train(b: Builder, must: list[str], retain: float = 0.1) -> list[Node]:
    """Forward over `must`, loss, backward and step, on the locals `v` and `loss`."""
    body: list[Node] = []
    if b.chance(0.25):
        name = modules.function(b)
        body.append(f"v = {name}({vec(b, must)}, {b.pick(b.params)})")
    else:
        body.append(f"v = {vec(b, [*must, b.pick(b.params)])}")
    body.append(f"loss = {scalar(b, ['v'])}")
    front, last = zero(b), backward(b, "loss", retain) + step(b)
    return [*body, *front, *last] if b.chance(0.5) else [*body, *last, *front]
