"""Writes ``torch_names.json``: what names a tensor, a module, a layer and an optimizer of the installed torch have.

A name that is none of these is an ``AttributeError`` for sure; one that the engine has no model of is unknown.

    python tools/generate_torch_names.py
"""

from __future__ import annotations

import json
from pathlib import Path

import torch

NAMES = Path(__file__).parents[1] / "server/loopgrad/analysis/knowledge/torch_names.json"


def names() -> dict[str, list[str]]:
    """The attributes by kind of object, those of instances too."""
    weight = torch.nn.Parameter(torch.zeros(2))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    layers: set[str] = set()
    for cls in vars(torch.nn).values():
        if isinstance(cls, type) and issubclass(cls, torch.nn.Module):
            layers.update(dir(cls), *(getattr(base, "__annotations__", ()) for base in cls.__mro__))
            layers.update(getattr(cls, "__constants__", ()))
    return {
        "tensor": sorted(name for name in dir(weight) if not name.startswith("__")),
        "module": sorted(name for name in dir(torch.nn.Module()) if not name.startswith("__")),
        "layer": sorted(name for name in layers if not name.startswith("__")),
        "optimizer": sorted(name for name in dir(optimizer) if not name.startswith("__")),
    }


if __name__ == "__main__":
    NAMES.write_text(json.dumps(names(), indent=0) + "\n")
