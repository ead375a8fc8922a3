"""What libraries do, one small file each; :func:`lookup` finds a dotted name in them."""

from __future__ import annotations

from typing import Any

from ..values import MISSING, Class, Namespace, Native, Sym
from . import frameworks, registry, standard, torch_names

_NAMESPACES = frozenset(
    "torch torch.nn torch.nn.functional torch.optim torch.optim.lr_scheduler torch.autograd torch.utils torch.utils.data "
    "torch.utils.checkpoint torch.nn.utils torch.nn.init torch.cuda torch.cuda.amp torch.amp torch.linalg torch.fft "
    "torch.special torch.distributions torch.func torch.jit torch.backends torch.backends.cudnn torch.nn.parallel "
    "torch.distributed torch.nn.modules torch.nn.parameter torch.random torch.multiprocessing torch.utils.tensorboard "
    "torch.nn.utils.parametrize torch.nn.utils.rnn torch.nn.utils.parametrizations torch.mps torch.autograd.profiler "
    "torch.distributions.categorical torch.distributions.normal torch.autograd.functional torch.autograd.graph "
    "torch.utils.data.distributed torch.nn.modules.loss torch.backends.cuda torch.cuda.amp.grad_scaler torch._C "
    "torch.optim.optimizer torch.optim.adam torch.optim.sgd torch.version torch.profiler torch.nn.attention".split()
)
_CACHE: dict[str, Any] = {}


def lookup(rt: Any, full: str) -> Any:
    """The value of a dotted library name: a model of it, a namespace, or an unknown of that name."""
    value = _CACHE.get(full, MISSING)
    if value is MISSING:
        value = _CACHE[full] = _find(full)
    return _of_run(rt, full, value)


def _of_run(rt: Any, full: str, value: Any) -> Any:
    """An unknown of a library is each run's own: what a program stores on it no other program finds there."""
    if type(value) is not Sym:
        return value
    own = rt.library.get(full)
    if own is None:
        own = rt.library[full] = Sym(value.key, value.kind)
    return own


def _find(full: str) -> Any:
    value = registry.TABLE.get(full, MISSING)
    if value is not MISSING:
        return value
    if full in _NAMESPACES:
        return Namespace(full)
    if full.startswith("torch."):
        value = torch_names.derived(full)
        if value is not MISSING:
            return value
    for found in (registry.of_package(full), frameworks.derived(full)):
        if found is not MISSING:
            return found
    if full.split(".")[0] in standard.MODULES and full in standard.SUBMODULES:
        return Namespace(full)
    return Sym(("lib", full))


def exported(rt: Any, module: str) -> dict[str, Any]:
    """The names that ``from module import *`` brings, as far as the models know them."""
    out: dict[str, Any] = {}
    prefix = module + "."
    for name, value in registry.TABLE.items():
        if name.startswith(prefix) and "." not in name[len(prefix) :]:
            out[name[len(prefix) :]] = _of_run(rt, name, value)
    return {**out, **registry.names_of(module)}


def attribute(rt: Any, sym: Sym, name: str, site: Any) -> Any:
    """A known attribute of an unknown that stems from a library, or None."""
    key = sym.key
    if type(key) is tuple and len(key) == 2 and key[0] == "lib":
        return lookup(rt, f"{key[1]}.{name}")
    return frameworks.attribute(rt, sym, name, site)


def call(rt: Any, fn: Sym, name: str, args: list, kwargs: dict[str, Any], site: Any) -> Any:
    """What calling an unknown by this name does, or NotImplemented."""
    return frameworks.call(rt, fn, name, args, kwargs, site)


__all__ = ["Class", "Native", "attribute", "call", "exported", "lookup"]
