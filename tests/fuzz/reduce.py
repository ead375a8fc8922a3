"""Making a failing source small: runs of lines are left out, then of characters, while it fails alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Part = TypeVar("Part")


def _without(parts: list[Part], fails: Callable[[Sequence[Part]], bool], budget: list[int]) -> list[Part]:
    size = max(1, len(parts) // 2)
    while True:
        at = 0
        while at < len(parts) and budget[0] > 0:
            budget[0] -= 1
            shorter = parts[:at] + parts[at + size :]
            if fails(shorter):
                parts = shorter
            else:
                at += size
        if size == 1 or budget[0] <= 0:
            return parts
        size //= 2


def reduce(data: bytes, fails: Callable[[bytes], bool], budget: int = 600) -> bytes:
    """The smallest source found for which `fails` still holds, asking it at most `budget` times."""
    left = [budget]
    lines = _without(data.splitlines(keepends=True), lambda parts: fails(b"".join(parts)), left)
    data = b"".join(lines)
    if len(data) > 4000:
        return data
    left = [budget // 2]
    characters = [data[at : at + 1] for at in range(len(data))]
    return b"".join(_without(characters, lambda parts: fails(b"".join(parts)), left))
