"""Why a value has no graph: where it was cut, found by re-reading how it was computed."""

from __future__ import annotations

from typing import Any

from .tape import Tensor


class Cut:
    """What took the graph away: ``kind`` (detach, no_grad, item, argmax, numpy, tensor, frozen) and where."""

    __slots__ = ("kind", "site", "what")

    def __init__(self, kind: str, site: Any, what: str) -> None:
        self.kind = kind
        self.site = site
        self.what = what


def find(rt: Any, value: Tensor) -> Cut | None:
    """The cut that explains a graphless tensor, or None."""
    return None
