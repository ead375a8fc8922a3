"""Measures how one call of a torch function behaves under autograd, by running it.

Nothing here is looked up: a call is built from fresh leaves, run, and its graph is walked twice (does
the second walk raise?) and once after bumping the version of an argument or of the result (was it
saved?). The two error messages are matched by the words that are stable between versions of torch.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch.autograd.graph import increment_version

SECOND = "second time"
MODIFIED = "modified by an inplace operation"
DEPENDS = "depends"

T = TypeVar("T")

#: Up to this many tensor arguments, every combination of requires_grad is measured.
EVERY_COMBINATION = 3

#: Stubs with torch's Python signatures, kept by torch itself for its builtins (they have no signature).
STUBS: dict[Any, Callable[..., Any]] = torch.overrides.get_testing_overrides()


@dataclass
class Case:
    """One way to call ``fn``; ``names`` are its parameters' names, ``rest`` that of its ``*args``.

    ``extra`` are named tensors that ``fn`` uses without being given them (a module's parameters).
    ``refresh`` rebuilds ``fn`` and ``extra`` for a run, so that no run sees another's leaves.
    """

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    names: Sequence[str] = ()
    rest: str | None = None
    extra: dict[str, list[torch.Tensor]] = field(default_factory=dict)
    refresh: Callable[[], Case] | None = None


@dataclass
class Fact:
    """What one combination of requires_grad showed. ``results``: the outputs that are saved."""

    graph: bool
    raises: bool | str = False
    saved: frozenset[str] = frozenset()
    results: frozenset[int] = frozenset()


@dataclass
class CaseFacts:
    """What one case showed, for every combination that could be run."""

    args: list[str]
    numbers: frozenset[str]
    structure: Any
    outputs: list[bool] | None
    view: bool
    same: bool
    mode: str | None
    masks: dict[frozenset[str], Fact] = field(default_factory=dict)


def signature_of(fn: Any) -> tuple[list[str], str | None]:
    """Parameter names of a torch callable in order, and the name of its ``*args`` if it has one."""
    try:
        parameters = inspect.signature(STUBS.get(fn, fn)).parameters.values()
    except (TypeError, ValueError):
        return [], None
    names = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
    return ["input" if name == "self" else name for name in names], rest


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Every tensor in nested tuples, lists and dicts, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in tensors_in(v)]
    if isinstance(value, dict):
        return [t for v in value.values() for t in tensors_in(v)]
    return []


def structure_of(value: Any) -> Any:
    """``"t"`` for a tensor, a list of structures for a tuple or list of tensors, else None."""
    if isinstance(value, torch.Tensor):
        return "t"
    if isinstance(value, (tuple, list)) and tensors_in(value):
        return [structure_of(v) for v in value]
    return None


def rebuild(value: Any, leaf: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """A copy of nested containers with every tensor replaced."""
    if isinstance(value, torch.Tensor):
        return leaf(value)
    if isinstance(value, (tuple, list)):
        items = [rebuild(v, leaf) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {k: rebuild(v, leaf) for k, v in value.items()}
    return value


def argument_names(case: Case) -> list[str]:
    """A name for each positional argument; everything that ``*args`` takes is one entry, ``tensors``."""
    names = []
    for position, value in enumerate(case.args):
        if position < len(case.names):
            listed = position == 0 and isinstance(value, (list, tuple))
            names.append("tensors" if listed else case.names[position])
        elif case.rest is not None:
            names.append("tensors" if tensors_in(case.args[len(case.names) :]) else case.rest)
        else:
            names.append(f"arg{position}")
    return names


def named_arguments(case: Case) -> list[tuple[str, Any]]:
    """The arguments of a call with their names, in the order of the signature."""
    order = {name: position for position, name in enumerate(case.names)}
    keywords = sorted(case.kwargs.items(), key=lambda item: order.get(item[0], len(order)))
    return [*zip(argument_names(case), case.args, strict=True), *keywords]


def attempt(call: Callable[..., T], *args: Any) -> T | None:
    """What the call returns, or None where torch refuses it (with an exception of nearly any type)."""
    try:
        return call(*args)
    except Exception:
        return None


def differentiable(tensors: Iterable[torch.Tensor]) -> bool:
    return any(t.is_floating_point() or t.is_complex() for t in tensors)


def combinations(names: Sequence[str]) -> list[frozenset[str]]:
    """Which arguments require grad: every combination of a few, else all, each alone, each left out."""
    everything = frozenset(names)
    if len(names) <= EVERY_COMBINATION:
        subsets = (itertools.combinations(names, n) for n in range(len(names), 0, -1))
        return [frozenset(subset) for group in subsets for subset in group]
    alone = [frozenset([name]) for name in names]
    return [everything, *(everything - one for one in alone), *alone]


@dataclass
class Run:
    """A call made with fresh leaves: its named tensors and its outputs."""

    entries: dict[str, list[torch.Tensor]]
    outputs: list[torch.Tensor]
    structure: Any

    def backward(self) -> str:
        """Walks the whole graph from every output; the error's text, or nothing."""
        return self.backward_from(range(len(self.outputs)))

    def backward_from(self, which: Iterable[int]) -> str:
        roots = [self.outputs[i] for i in which if self.outputs[i].requires_grad]
        try:
            torch.autograd.backward(roots, [torch.ones_like(root) for root in roots])
        except (RuntimeError, NotImplementedError) as error:
            return str(error)
        return ""


def start(case: Case, mask: frozenset[str]) -> Run:
    """Calls the case with fresh leaves, of which those named in ``mask`` require grad."""
    if case.refresh is not None:
        case = case.refresh()
    seen: dict[str, list[torch.Tensor]] = {}

    def leaves(name: str, value: Any) -> Any:
        def leaf(t: torch.Tensor) -> torch.Tensor:
            fresh = t.detach().clone()
            wants = name in mask and (t.is_floating_point() or t.is_complex())
            fresh.requires_grad_(wants)
            seen.setdefault(name, []).append(fresh)
            return fresh

        return rebuild(value, leaf)

    args = tuple(leaves(name, v) for name, v in zip(argument_names(case), case.args, strict=True))
    kwargs = {name: leaves(name, v) for name, v in case.kwargs.items()}
    for name, tensors in case.extra.items():
        for t in tensors:
            if t.is_floating_point():
                t.requires_grad_(name in mask)
        seen[name] = list(tensors)
    result = case.fn(*args, **kwargs)
    return Run(seen, tensors_in(result), structure_of(result))


def probe(case: Case, mask: frozenset[str], names: Sequence[str]) -> Fact:
    """Walks the graph of one combination: again, and after each modification in place."""
    run = start(case, mask)
    if not any(t.requires_grad for t in run.outputs):
        return Fact(graph=False)
    if run.backward():
        # No first walk is possible (not implemented, singular input): nothing can be said of a second.
        return Fact(graph=True, raises=DEPENDS)
    again = run.backward()
    if again and SECOND not in again:
        return Fact(graph=True, raises=DEPENDS)
    if not again:
        # The freed check and the version check are made at the same place, when a saved tensor is
        # unpacked: a graph that may be walked twice unpacks nothing.
        return Fact(graph=True, raises=False)
    raises: bool | str = True
    roots = [i for i, t in enumerate(run.outputs) if t.requires_grad]
    if 1 < len(roots) <= 4:
        for root in roots:
            alone = start(case, mask)
            if alone.backward_from([root]) or SECOND not in alone.backward_from([root]):
                raises = DEPENDS
    saved = set()
    for name in names:
        run = start(case, mask)
        for t in run.entries.get(name, ()):
            increment_version(t)
        if MODIFIED in run.backward():
            saved.add(name)
    results = set()
    for index in range(len(run.outputs)):
        run = start(case, mask)
        shared = any(run.outputs[index] is t for tensors in run.entries.values() for t in tensors)
        increment_version(run.outputs[index])
        if not shared and MODIFIED in run.backward():
            results.add(index)
    return Fact(True, raises, frozenset(saved), frozenset(results))


def measure(case: Case) -> CaseFacts | None:
    """Everything one case shows, or None where it cannot be run."""
    named = named_arguments(case)
    entries: dict[str, list[torch.Tensor]] = {}
    for name, value in named:
        if tensors_in(value):
            entries.setdefault(name, []).extend(tensors_in(value))
    entries.update({name: tensors for name, tensors in case.extra.items() if tensors})
    if any(t.numel() == 0 for tensors in entries.values() for t in tensors):
        return None  # empty tensors take short cuts that no training loop sees
    plain = attempt(start, case, frozenset())
    if plain is None:
        return None
    numbers = frozenset(name for name, value in named if type(value) in (int, float, complex))
    mode = next((v for n, v in named if n in ("mode", "rounding_mode") and isinstance(v, str)), None)
    before = plain.entries.get(next(iter(entries), ""), [])
    same = any(out is t for out in plain.outputs for t in before)
    view = not same and any(shares(out, t) for out in plain.outputs for t in before)
    facts = CaseFacts(list(entries), numbers, plain.structure, None, view, same, mode)
    floating = [n for n, tensors in entries.items() if differentiable(tensors) and n != "buffers"]
    usable = [name for name in floating if attempt(start, case, frozenset([name]))]
    carrying = [False] * len(plain.outputs)
    for mask in combinations(usable):
        fact = attempt(probe, case, mask, list(entries))
        run = attempt(start, case, mask)
        if fact is not None and run is not None:
            facts.masks[mask] = fact
            carrying = [old or t.requires_grad for old, t in zip(carrying, run.outputs, strict=True)]
    facts.outputs = carrying if isinstance(plain.structure, list) else None
    return facts


def shares(out: torch.Tensor, given: torch.Tensor) -> bool:
    """Whether two tensors live in one storage (sparse tensors have none)."""
    if out.layout is not torch.strided or given.layout is not torch.strided:
        return False
    return bool(out.untyped_storage().data_ptr() == given.untyped_storage().data_ptr() != 0)
