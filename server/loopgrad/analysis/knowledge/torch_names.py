"""What names a tensor, a module, torch's layers and an optimizer have, from ``torch_names.json``.

``tools/generate_torch_names.py`` writes the file from the installed torch. What is not in it is an
``AttributeError``; what is, but has no model, is an unknown.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

_DATA = Path(__file__).with_name("torch_names.json")


@cache
def _names() -> dict[str, frozenset[str]]:
    read: dict[str, list[str]] = json.loads(_DATA.read_text(encoding="utf-8"))
    return {kind: frozenset(names) for kind, names in read.items()}


def has(kind: str, name: str) -> bool:
    """Whether an object of a kind (``tensor``, ``module``, ``layer``, ``optimizer``) has an attribute of this name."""
    return name in _names()[kind]
