"""Running without computing: ``FakeTensorMode``.

Fake tensors have shapes, types, versions and graphs, but no data: both errors of autograd are raised by them
as by real ones (measured on the scripts of the test suite). What asks for data gets a constant, and since a
branch on it is then arbitrary, the first such question in a condition is told: nothing is clean after it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch


def prepare(guessed: Callable[[Any], None], is_users: Callable[[str], bool]) -> Any:
    """The context that the script runs in."""
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

    def asked(frame: Any) -> None:
        if is_users(frame.f_code.co_filename):
            guessed(frame)

    def number(tensor: Any) -> Any:
        value = _constant(tensor.dtype)
        return value if isinstance(value, bool) else _guess(value, asked)

    def answers(name: str, answer: Callable[[Any], Any], *, branches: bool) -> None:
        original = getattr(torch.Tensor, name)

        def method(tensor: Any, *args: Any, **options: Any) -> Any:
            if not isinstance(tensor, FakeTensor):
                return original(tensor, *args, **options)
            frame = sys._getframe(1)
            if branches:
                asked(frame)
            return answer(tensor)

        setattr(torch.Tensor, name, method)

    answers("item", number, branches=False)
    answers("__float__", lambda tensor: 1.0, branches=False)
    answers("__int__", lambda tensor: 1, branches=False)
    answers("__index__", lambda tensor: 1, branches=False)
    answers("__bool__", lambda tensor: False, branches=True)
    answers("tolist", lambda tensor: _nested(tensor.shape, _constant(tensor.dtype)), branches=False)
    answers("__repr__", lambda tensor: f"tensor(..., shape={tuple(tensor.shape)})", branches=False)
    answers("__format__", lambda tensor: "1.0", branches=False)
    answers("numpy", _as_numpy, branches=False)
    torch.distributions.Distribution.set_default_validate_args(False)
    torch.nn.utils.clip_grad_norm_ = _clip
    return FakeTensorMode(allow_non_fake_inputs=True)


def _constant(dtype: Any) -> Any:
    if dtype is torch.bool:
        return False
    return 1.0 if dtype.is_floating_point else 1


def _guess(value: Any, asked: Callable[[Any], None]) -> Any:
    """A number that stands for data: a comparison with it, or its truth, is a branch on data."""
    kind: Any = type(value)

    class Guess(kind):
        def __hash__(self) -> int:
            return hash(kind(self))

    def comparison(name: str) -> Any:
        original = getattr(kind, name)

        def method(self: Any, *others: Any) -> Any:
            asked(sys._getframe(1))
            return original(self, *others)

        return method

    def operation(name: str) -> Any:
        original = getattr(kind, name)

        def method(self: Any, *others: Any) -> Any:
            result = original(self, *others)
            return Guess(result) if type(result) is kind else result

        return method

    for name in ("lt", "le", "gt", "ge", "eq", "ne", "bool"):
        setattr(Guess, f"__{name}__", comparison(f"__{name}__"))
    for name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "neg", "abs"):
        if hasattr(kind, f"__{name}__"):
            setattr(Guess, f"__{name}__", operation(f"__{name}__"))
    return Guess(value)


def _nested(shape: Any, value: Any) -> Any:
    if not shape:
        return value
    return [_nested(shape[1:], value) for _ in range(int(shape[0]))]


def _as_numpy(tensor: Any) -> Any:
    import numpy

    return numpy.ones(tuple(tensor.shape), dtype=str(tensor.dtype).replace("torch.", ""))


def _clip(parameters: Any, *args: Any, **options: Any) -> torch.Tensor:
    return torch.ones(())
