"""Operations with a number among their operands: ``lerp(a, b, 0.1)`` saves nothing, a product with 0 adds nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tape import Tensor
from ..values import Sym, node_of

Look = Callable[[str], Any]


def scalar_profile(look: Look, name: str, args: list, kwargs: dict[str, Any]) -> Any:
    """The profile of the form with a number in the last tensor's place, where a call is of that form; else None."""
    profile, scalar = look(name), look(name + "#scalar")
    if profile is None or scalar is None or len(profile.args) < 3:
        return None
    last = profile.args[-1]
    if last in kwargs:
        value = kwargs[last]
    elif len(args) >= len(profile.args):
        value = args[-1]
    else:
        return None
    return scalar if _is_number(value, [*args, *kwargs.values()]) else None


def _is_number(value: Any, given: list[Any]) -> bool:
    """Whether a value is a number, or an unknown that may be one beside a tensor with a graph: then nothing is saved."""
    if type(value) is not Sym:
        return type(value) in (int, float)
    if value.node is not None or value.kind == "tensor":
        return False
    return value.kind == "number" or any(type(t) in (Tensor, Sym) and node_of(t) is not None for t in given)


def zeros(result: Any) -> Any:
    """A product with the number 0, marked as what it is."""
    if type(result) is Tensor and result.node is not None:
        result.node.zeros = True
    return result
