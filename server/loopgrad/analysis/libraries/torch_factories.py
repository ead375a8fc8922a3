"""``torch.zeros``, ``torch.tensor`` and their kin: new leaves."""

from __future__ import annotations

from typing import Any

from .. import cuts
from ..semantics.calls import arg
from ..tape import Tensor
from ..torch_model import methods, nn, tensors
from ..values import LList, Native, Sym, tensors_in
from ..where import Site
from .registry import TABLE, native


@native(
    "torch.tensor",
    "torch.as_tensor",
    "torch.from_numpy",
    "torch.asarray",
    "torch.Tensor",
    "torch.FloatTensor",
    "torch.DoubleTensor",
    "torch.LongTensor",
    "torch.IntTensor",
    "torch.BoolTensor",
    "torch.ByteTensor",
    "torch.HalfTensor",
    "torch.cuda.FloatTensor",
    "torch.cuda.LongTensor",
    "torch.load",
    "torch.frombuffer",
    "torch.arange",
    "torch.range",
    "torch.linspace",
    "torch.logspace",
    "torch.eye",
    "torch.empty",
    "torch.full",
    "torch.zeros",
    "torch.ones",
    "torch.rand",
    "torch.randn",
    "torch.randint",
    "torch.randperm",
    "torch.scalar_tensor",
    "torch.empty_strided",
    "torch.tril_indices",
    "torch.triu_indices",
    "torch.hann_window",
    "torch.normal",
    "torch.multinomial",
    "torch.bernoulli",
    "torch.poisson",
    "torch.zeros_like",
    "torch.ones_like",
    "torch.rand_like",
    "torch.randn_like",
    "torch.randint_like",
    "torch.full_like",
    "torch.empty_like",
)
def _factory(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return methods.factory(rt, site, args, kwargs)


def _as_tensor(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    value = arg(args, kwargs, 0, "data")
    if type(value) is Tensor:
        return value
    if tensors.unknown_inside(value) and not (type(value) is Sym and rt.shared.unknowns.is_plain(value)):
        return rt.fresh(site, "tensor")  # a tensor is given back as it is
    made = methods.factory(rt, site, [], kwargs)
    made.cut = _numbers_of(rt, value, site, "torch.as_tensor")
    return made


def _numbers_of(rt: Any, value: Any, site: Site, name: str) -> Any:
    """What is lost where a tensor is made of the numbers in ``value``: the graphs of the tensors in it."""
    lost = [
        t.node for t in tensors_in(value, 2) if t.node is not None and (type(t) is Tensor or t.guess == 0)
    ]
    return cuts.note(rt, "tensor", site, name, lost) if lost else cuts.of([value])


def _tensor(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    made = methods.factory(rt, site, [], kwargs)
    value = arg(args, kwargs, 0, "data")
    if isinstance(value, (LList, tuple)) and not getattr(value, "open", False):
        made.length = len(value)
    elif type(value) is Tensor:
        made.length, made.shape = value.length, value.shape
    made.cut = _numbers_of(rt, value, site, "torch.tensor")
    if (
        type(value) is Sym
        and rt.shared.unknowns.root_of(value.key) in (None, "numpy", "np")
        and made.leaf_grad is False
    ):
        made.length = None
    return made


def _load(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return rt.fresh(site)


TABLE["torch.as_tensor"] = TABLE["torch.asarray"] = Native("as_tensor", _as_tensor)
TABLE["torch.tensor"] = Native("tensor", _tensor)
TABLE["torch.load"] = Native("load", _load)
TABLE["torch.Tensor"] = nn.TENSOR
nn.TENSOR.build = lambda rt, cls, args, kwargs, site: methods.factory(rt, site, args, kwargs)
for _name in ("randperm", "arange", "randint"):

    def _indices(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
        made = methods.factory(rt, site, [], kwargs)
        made.not_float = not kwargs.get("requires_grad")
        if len(args) == 1 and type(args[0]) is int:
            made.length = args[0]
        return made

    if _name != "randint":
        TABLE[f"torch.{_name}"] = Native(_name, _indices)


def _sized_later(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``randint(low, high, size)``, ``full(size, value)``: the size is the one tuple among the arguments."""
    size = kwargs.get("size", next((a for a in args if type(a) in (tuple, LList)), None))
    made = methods.factory(rt, site, [tuple(size)] if isinstance(size, (tuple, LList)) else [], kwargs)
    return made


def _unsized(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    made = methods.factory(rt, site, [], kwargs)
    made.cut = cuts.of(args)
    return made


for _name in ("randint", "full", "normal"):
    TABLE[f"torch.{_name}"] = Native(_name, _sized_later)
for _name in (
    "linspace",
    "logspace",
    "multinomial",
    "bernoulli",
    "poisson",
    "zeros_like",
    "ones_like",
    "rand_like",
    "randn_like",
    "randint_like",
    "full_like",
    "empty_like",
    "from_numpy",
    "scalar_tensor",
    "frombuffer",
    "empty_strided",
):
    TABLE[f"torch.{_name}"] = Native(_name, _unsized)
