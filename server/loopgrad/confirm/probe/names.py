"""What the live frames call a tensor: ``hidden``, ``model.last_h``, ``memory[2]``.

The search goes through the locals of the user's frames, innermost first, then the globals of their modules,
and from there through containers, attributes, a module's buffers and parameters, closures, bound methods and
suspended generators. It is bounded in depth and in the number of objects, since it runs in every iteration.
"""

from __future__ import annotations

import gc
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import CodeType, FrameType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

import torch

_DEPTH = 6
_MOST_OBJECTS = 20_000
_PLAIN = (bool, int, float, complex, str, bytes, bytearray, type(None), type, ModuleType, CodeType, range)


class Names:
    """One search. ``found`` maps ``id(tensor)`` to the tensor and its names, best first."""

    def __init__(self, frames: Iterable[FrameType], wanted: Callable[[torch.Tensor], bool]) -> None:
        self._wanted = wanted
        self._first: dict[int, str] = {}
        #: Other names of what has been gone through under its first.
        self._aliases: dict[str, list[str]] = {}
        self._keep: list[Any] = []
        self._left = _MOST_OBJECTS
        self.found: dict[int, tuple[torch.Tensor, list[str]]] = {}
        #: Names of containers that bound what they keep: ``deque(maxlen=...)``.
        self.bounded: set[str] = set()
        frames = list(frames)
        scopes: list[dict[str, Any]] = [frame.f_locals for frame in frames]
        shared: dict[int, dict[str, Any]] = {id(frame.f_globals): frame.f_globals for frame in frames}
        main = vars(sys.modules["__main__"])
        shared.setdefault(id(main), main)
        for scope in [*scopes, *shared.values()]:
            self._scope(scope)

    def of(self, tensor: torch.Tensor) -> list[str]:
        """All names of a tensor, also by the other names of what holds it (``memory[0]`` is ``episode``)."""
        names = list(self.found.get(id(tensor), (tensor, []))[1])
        for name in names[:4]:
            for end in (position for position, char in enumerate(name) if char in ".["):
                for alias in self._aliases.get(name[:end], ())[:3]:
                    if alias + name[end:] not in names:
                        names.append(alias + name[end:])
        return names[:12]

    def _scope(self, scope: dict[str, Any]) -> None:
        items = [(name, value) for name, value in list(scope.items()) if not name.startswith("__")]
        for name, value in items:  # tensors first, so that a plain name wins over a path
            if isinstance(value, torch.Tensor):
                self._tensor(value, name)
        queue = deque((name, value, 0) for name, value in items if not isinstance(value, torch.Tensor))
        while queue and self._left > 0:  # breadth first: the shortest path names a thing
            name, value, depth = queue.popleft()
            if isinstance(value, _PLAIN):
                continue
            first = self._first.setdefault(id(value), name)
            if first is not name:
                self._aliases.setdefault(first, []).append(name)
                continue
            self._keep.append(value)
            self._left -= 1
            for inner_name, inner in self._inside(name, value):
                if isinstance(inner, torch.Tensor):
                    self._tensor(inner, inner_name)
                elif depth < _DEPTH and not isinstance(inner, _PLAIN):
                    queue.append((inner_name, inner, depth + 1))

    def _tensor(self, tensor: torch.Tensor, name: str) -> None:
        if self._wanted(tensor):
            names = self.found.setdefault(id(tensor), (tensor, []))[1]
            if name not in names and len(names) < 8:
                names.append(name)
        if tensor.is_leaf and tensor.requires_grad:
            gradient = tensor.grad
            if gradient is not None and gradient.grad_fn is not None and self._wanted(gradient):
                self.found.setdefault(id(gradient), (gradient, []))[1].append(f"{name}.grad")

    def _inside(self, name: str, value: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(value, torch.nn.Module):
            yield from self._module(name, value)
        elif isinstance(value, dict):
            for key, inner in list(value.items()):
                yield f"{name}[{key!r}]" if isinstance(key, (str, int)) else f"{name}[...]", inner
        elif isinstance(value, (list, tuple, set, frozenset, deque)):
            if isinstance(value, deque) and value.maxlen is not None:
                self.bounded.add(name)
            fields = getattr(value, "_fields", None)
            for index, inner in enumerate(list(value)):
                if index == 0 and isinstance(inner, (bool, int, float, complex, str, bytes)) and not fields:
                    if isinstance(value, (list, deque)) and len(value) > 64:
                        return  # a long list of plain values: nothing to find
                yield (f"{name}.{fields[index]}" if fields else f"{name}[{index}]"), inner
        elif isinstance(value, MethodType):
            yield name.rpartition(".")[0] or name, value.__self__
        elif isinstance(value, partial):
            yield from ((f"{name}.args[{i}]", inner) for i, inner in enumerate(value.args))
            yield from ((f"{name}.{key}", inner) for key, inner in value.keywords.items())
        elif isinstance(value, FunctionType):
            yield from _cells(value)
        elif type(value).__name__ in ("_lru_cache_wrapper", "_lru_list_elem"):
            yield from ((name, inner) for inner in gc.get_referents(value) if not callable(inner))
        elif isinstance(value, GeneratorType):
            if value.gi_frame is not None:
                yield from list(value.gi_frame.f_locals.items())
        elif not isinstance(value, torch.optim.Optimizer):
            yield from self._attributes(name, value)

    @staticmethod
    def _module(name: str, module: torch.nn.Module) -> Iterator[tuple[str, Any]]:
        for key, inner in list(vars(module).items()):
            if key in ("_buffers", "_parameters", "_modules"):
                yield from ((f"{name}.{inner_key}", part) for inner_key, part in list(inner.items()))
            elif not key.startswith(("_forward_", "_backward_", "_state_dict", "_load_state")):
                yield f"{name}.{key}", inner

    @staticmethod
    def _attributes(name: str, value: Any) -> Iterator[tuple[str, Any]]:
        attributes = getattr(value, "__dict__", None)
        if isinstance(attributes, dict):
            yield from ((f"{name}.{key}", inner) for key, inner in list(attributes.items()))
        for kind in type(value).__mro__:
            slots = vars(kind).get("__slots__", ())
            for slot in (slots,) if isinstance(slots, str) else tuple(slots):
                try:
                    yield f"{name}.{slot}", getattr(value, slot)
                except Exception:
                    continue


def _cells(function: FunctionType) -> Iterator[tuple[str, Any]]:
    for cell_name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            yield cell_name, cell.cell_contents
        except ValueError:  # not assigned yet
            continue


_INDEX = re.compile(r"\[\d+\]")


def collapsed(names: Iterable[str]) -> list[str]:
    """Each name once; several elements of one list are the list."""
    names = list(dict.fromkeys(names))
    bases = [name[: found.start()] if (found := _INDEX.search(name)) else name for name in names]
    result = [base if bases.count(base) > 1 else name for name, base in zip(names, bases)]
    return list(dict.fromkeys(result))[:12]
