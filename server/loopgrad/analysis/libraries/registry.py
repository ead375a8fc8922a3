"""The table of the dotted names that the models of torch and the standard library know, and how one enters it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..values import Native
from ..where import Site

TABLE: dict[str, Any] = {}
Fn = Callable[[Any, Site, list, dict], Any]


def native(*names: str) -> Callable[[Fn], Fn]:
    """Enter a function under the dotted names that a program imports it by."""

    def add(fn: Fn) -> Fn:
        for name in names:
            TABLE[name] = Native(name.rsplit(".", 1)[-1], fn)
        return fn

    return add
