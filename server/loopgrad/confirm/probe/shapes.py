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

    def answers(name: str, answer: Callable[[Any], Any], *, branches: bool) -> None:
        original = getattr(torch.Tensor, name)

        def method(tensor: Any, *args: Any, **options: Any) -> Any:
            if not isinstance(tensor, FakeTensor):
                return original(tensor, *args, **options)
            frame = sys._getframe(1)
            if branches and is_users(frame.f_code.co_filename):
                guessed(frame)
            return answer(tensor)

        setattr(torch.Tensor, name, method)

    answers("item", lambda tensor: _constant(tensor.dtype), branches=False)
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


def _nested(shape: Any, value: Any) -> Any:
    if not shape:
        return value
    return [_nested(shape[1:], value) for _ in range(int(shape[0]))]


def _as_numpy(tensor: Any) -> Any:
    import numpy

    return numpy.ones(tuple(tensor.shape), dtype=str(tensor.dtype).replace("torch.", ""))


def _clip(parameters: Any, *args: Any, **options: Any) -> torch.Tensor:
    return torch.ones(())
