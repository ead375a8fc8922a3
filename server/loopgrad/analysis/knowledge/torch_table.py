"""What torch's functions, tensor methods and modules do to the autograd graph.

The facts lie in ``torch_table.json``, which ``tools/generate_torch_table.py`` writes by running torch. The
file is read at the first question, and a profile is built when its first name is asked for.

Names: ``function("torch.mul")``, ``method("mul")``, ``module("Linear")``. Special forms are ``name#form``:

* ``#scalar`` a Python number in a tensor's place (``mul#scalar``), ``#tuple`` a call that returns a tuple
  where the plain one returns a tensor (``max#tuple`` is ``max`` with a dim);
* ``#eval``, ``#zero`` a dropout out of training, or with probability 0; ``einsum#unary`` of one operand;
* ``#<mode>`` an explicit ``mode`` or ``rounding_mode`` (``pad#reflect``), ``#any`` a mode that is not known;
* ``getitem`` and ``setitem`` by their index: ``#int #slice #ellipsis #tensor #mask``, ``getitem#none #list``,
  ``setitem#full`` (``h[:] = x``), ``setitem#scalar #full_scalar #mask_scalar`` (a number is stored).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

Answer = bool | Literal["depends"]

#: ``"t"`` for a tensor, a tuple of structures for a tuple or list.
Structure = str | tuple[Any, ...] | None


@dataclass(frozen=True, slots=True)
class MaskFact:
    """What was measured with one combination of arguments that require grad.

    ``raises``: a second walk over the freed graph raises. ``saved``: the arguments (by index), and
    ``results`` the outputs, that may not change in place before the walk; ``result``: any output.
    """

    graph: bool
    raises: Answer
    saved: tuple[int, ...] = ()
    results: tuple[int, ...] = ()

    @property
    def result(self) -> bool:
        return bool(self.results)


@dataclass(frozen=True, slots=True)
class Profile:
    """One behaviour. ``outputs``: None for a single tensor, else whether each output carries a graph.

    ``args``: the tensor arguments in positional order; ``tensors`` stands for a list of them, a module's
    ``params`` and ``buffers`` for all it holds. ``many``: the number of outputs varies, the one entry of
    ``outputs`` stands for each. ``view``: shares the first argument's storage; ``same``: is that argument.
    ``masks``: character i of a key says whether ``args[i]`` requires grad.
    """

    args: tuple[str, ...]
    graph: Literal["no", "yes", "depends"]
    outputs: tuple[bool, ...] | None
    many: bool
    view: Answer
    same: Answer
    masks: dict[str, MaskFact]

    def fact(self, mask: str) -> MaskFact | None:
        """The fact of a mask; for one that was not measured, what the masks that touch it say together.
        None: no argument that torch differentiates requires grad."""
        found = self.masks.get(mask)
        if found is not None:
            return found
        size = len(self.args)
        usable = {i for key in self.masks for i in range(size) if key[i] == "1"}
        wanted = {i for i, bit in enumerate(mask[:size]) if bit == "1"} & usable
        found = self.masks.get("".join("1" if i in wanted else "0" for i in range(size)))
        if found is not None or not wanted:
            return found
        parts = [f for key, f in self.masks.items() if f.graph and any(key[i] == "1" for i in wanted)]
        answers = {f.raises for f in parts} or {False}
        saved = tuple(sorted({i for f in parts for i in f.saved}))
        results = tuple(sorted({i for f in parts for i in f.results}))
        return MaskFact(bool(parts), answers.pop() if len(answers) == 1 else "depends", saved, results)


@dataclass(frozen=True, slots=True)
class ModuleProfile:
    """What a module holds with its default constructor, what it returns, and its behaviours."""

    params: tuple[str, ...]
    buffers: tuple[str, ...]
    returns: Structure
    train: Profile
    eval: Profile


@cache
def _table() -> dict[str, Any]:
    return dict(json.loads(Path(__file__).with_name("torch_table.json").read_bytes()))


@cache
def _profile(number: int) -> Profile:
    raw = _table()["profiles"][number]
    outputs = None if raw["outputs"] is None else tuple(raw["outputs"])
    every = range(1 if outputs is None else len(outputs))
    masks = {}
    for mask, f in raw["masks"].items():
        results = tuple(f.get("results", every if f.get("result") else ()))
        masks[mask] = MaskFact(f.get("graph", True), f["raises"], tuple(f.get("saved", ())), results)
    args, many = tuple(raw["args"]), raw.get("many", False)
    return Profile(args, raw["graph"], outputs, many, raw["view"], raw["same"], masks)


def _structure(raw: Any) -> Structure:
    return tuple(_structure(item) for item in raw) if isinstance(raw, list) else raw


def version() -> str:
    """The version of torch that the table was measured with."""
    return str(_table()["torch"])


def function(name: str) -> Profile | None:
    """The profile of a function by its full public name (``torch.nn.functional.relu``)."""
    number = _table()["functions"].get(name)
    return None if number is None else _profile(number)


def method(name: str) -> Profile | None:
    """The profile of a tensor method, operator or tensor-valued attribute (``mul``, ``__add__``, ``T``)."""
    number = _table()["methods"].get(name)
    return None if number is None else _profile(number)


@cache
def module(name: str) -> ModuleProfile | None:
    """The profile of a class of ``torch.nn`` (``Linear``)."""
    raw = _table()["modules"].get(name)
    if raw is None:
        return None
    params, buffers, returns = tuple(raw["params"]), tuple(raw["buffers"]), _structure(raw["returns"])
    train, evaluation = _profile(raw["profile"]), _profile(raw.get("eval", raw["profile"]))
    return ModuleProfile(params, buffers, returns, train, evaluation)


@cache
def inplace() -> frozenset[str]:
    """The names of a tensor's in-place methods: the functional one of the same name and a version bump."""
    return frozenset(_table()["inplace"])
