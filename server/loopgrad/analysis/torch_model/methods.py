"""Tensor methods and attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import cuts
from ..knowledge import torch_names
from ..knowledge import torch_table as table
from ..semantics.calls import arg
from ..signals import Raised
from ..tape import UNSAID, Node, Tensor, reachable
from ..values import CONST, LDict, Native, Sym
from ..where import Site
from . import autograd, inplace, tensors
from .inplace import operator as inplace_operator
from .rows import index, rows
from .tensors import apply, binary, dropped_detach, graphless

Method = Callable[[Any, Tensor, list, dict, Site], Any]


def method(rt: Any, t: Tensor, name: str, args: list, kwargs: dict[str, Any], site: Site) -> Any:
    """``t.name(*args, **kwargs)``."""
    if rt.mixed and name in _ASKED:
        rt.ask(t)
    special = _SPECIAL.get(name)
    if special is not None:
        return special(rt, t, args, kwargs, site)
    if name.endswith("_") and not name.endswith("__") and name in table.inplace():
        inplace.modify(rt, t, name[:-1], _in_order(name[:-1], args, kwargs)[:3], site)
        return t
    if name.startswith("new_"):
        return factory(rt, site, args, kwargs)
    if name.startswith("__"):
        return rt.fresh(site)
    if name == "new" and len(args) == 1 and type(args[0]) is Tensor:
        # Old code: the tensor that is given, with its graph and memory.
        return apply(rt, "view_as", [args[0], args[0]], kwargs, site)
    return apply(rt, name, [t, *args], kwargs, site)


def _in_order(name: str, args: list, kwargs: dict[str, Any]) -> list:
    """A method's arguments in the order of its tensors, those that are given by their names too."""
    profile = table.method(name)
    names = profile.args[1 + len(args) :] if profile is not None and kwargs else ()
    return [*args, *(kwargs[each] for each in names if each in kwargs)]


def factory(rt: Any, site: Site, args: list, kwargs: dict[str, Any]) -> Tensor:
    """``torch.zeros(...)`` and its kin: a new leaf."""
    t = graphless(rt, site)
    wants = kwargs.get("requires_grad", False)
    if wants is True or type(wants) is Sym and rt.truth(wants, site):
        t.leaf_grad = True
    if args and type(args[0]) is int:
        t.length = args[0]
        t.shape = tuple(args) if all(type(a) in (int, Sym) for a in args) else None
    elif args and type(args[0]) is tuple and args[0] and type(args[0][0]) is int:
        t.length = args[0][0]
        t.shape = args[0]
    return t


#: What tells one tensor from another without its values.
_ASKED = frozenset({"dim", "dtype", "is_complex", "is_floating_point", "ndim", "numel", "shape", "size"})


def attribute(rt: Any, t: Tensor, name: str, site: Site) -> Any:
    """``t.name``."""
    if rt.mixed and name in _ASKED:
        rt.ask(t)
    if name == "shape":
        if t.shape is not None and all(type(x) is int for x in t.shape):
            return t.shape
        return Sym(("shape", rt.mark(t.storage)), "object")
    if name in ("device", "dtype", "layout", "itemsize", "nbytes", "names"):
        return Sym((name, "tensor"), "object")
    if name in ("ndim", "output_nr", "_version"):
        return len(t.shape) if name == "ndim" and t.shape is not None else rt.fresh(site, "number")
    if name == "requires_grad":
        return t.requires_grad if t.guess == 0 else rt.fresh(site, "bool")
    if name == "is_leaf":
        return t.is_leaf
    if name == "grad_fn":
        return rt.fresh(site, "object") if t.node is not None else None
    if name in ("is_cuda", "is_mps", "is_sparse", "is_quantized", "is_meta"):
        return Sym((name, "tensor"), "bool")
    if name == "grad":
        t.used_grad = True
        if t.guess:
            return rt.fresh(site)
        return t.grad
    if name == "data":
        made = graphless(rt, site)
        made.length, made.shape = t.length, t.shape
        made.cut = cuts.note(rt, "detach", site, "data", [t.node]) if t.node is not None else t.cut
        # .data shares the memory but not the version counter.
        return made
    if name == "__class__":
        return rt.shared.tensor_class
    if table.method(name) is not None and name in ("T", "mT", "H", "mH", "real", "imag"):
        return apply(rt, name, [t], {}, site)
    if (
        name in _SPECIAL
        or table.method(name) is not None
        or name in table.inplace()
        or name.startswith("new_")
    ):
        return Native(name, lambda rt_, site_, args, kwargs: method(rt_, t, name, args, kwargs, site_))
    if name in _KNOWN:
        return Native(name, lambda rt_, site_, args, kwargs: rt_.fresh(site_))
    found = rt.shared.tensor_attrs.get((id(t), name))
    if found is not None:
        return found[1]
    if not torch_names.has("tensor", name):
        raise Raised("AttributeError")
    if name.startswith(("is_", "_is_", "has_")):
        return Sym((name, "tensor"), "bool")
    # A method or an attribute without a model: what comes of it may carry the graph or not.
    return rt.fresh(site, "any", node=t.edge() if rt.grad and t.requires_grad else None, guess=2)


_KNOWN = frozenset(
    "__len__ __iter__ __getitem__ __setitem__ storage untyped_storage element_size pin_memory is_pinned data_ptr stride "
    "storage_offset get_device is_contiguous is_floating_point is_complex register_post_accumulate_grad_hook names "
    "__array__ coalesce indices values crow_indices col_indices to_dense to_sparse is_shared record_stream".split()
)


def set_attribute(rt: Any, t: Tensor, name: str, value: Any, site: Site) -> None:
    """``t.name = value``."""
    if name == "grad":
        if rt.log is not None:
            rt.note_slot(t, "grad")
        t.grad = value if type(value) is Tensor else None
    elif name == "requires_grad":
        requires(rt, t, [value], {}, site, assigned=True)
    elif name == "data":
        # New contents without a version bump: what was saved of the old memory stays as it was.
        if rt.log is not None:
            rt.note_slot(t, "storage")
        from ..tape import Storage

        fresh = Storage()
        fresh.version = t.storage.version
        t.storage = fresh
        rt.shared.observe.updated(rt, t, site)
    else:
        rt.shared.tensor_attrs[(id(t), name)] = (t, value)


def requires(rt: Any, t: Tensor, args: list, kwargs: dict, site: Site, assigned: bool = False) -> Any:
    """``t.requires_grad_(flag)`` or ``t.requires_grad = flag``."""
    flag = arg(args, kwargs, 0, "requires_grad", True)
    if type(flag) is Sym:
        flag = rt.truth(flag, site)
    flag = bool(flag)
    if t.node is not None:
        if not flag or assigned:
            raise Raised("RuntimeError", sure=True)  # only of a leaf may the attribute be set
        rt.shared.observe.requires_grad(rt, t, site, assigned, True)
        return t
    if t.leaf_grad != flag or t.unrooted:
        if rt.trying:
            rt.happen()
        rt.events += 1
    t.unrooted = False
    if flag and not t.leaf_grad:
        t.site, t.where = t.site or site, t.where or rt.where
    t.leaf_grad = flag
    if t.is_param:
        t.cut = None if flag else cuts.note(rt, "frozen", site, "requires_grad", [])
    if flag:
        if t.where is None:
            t.where = rt.where
        rt.shared.observe.requires_grad(rt, t, site, assigned, False)
    return t


def _detach(rt: Any, t: Tensor, args: list, kwargs: dict, site: Site) -> Tensor:
    made = Tensor(None, t.storage)
    made.site, made.where = site, rt.where
    made.length, made.shape, made.not_float = t.length, t.shape, t.not_float
    node = t.node
    made.cut = cuts.note(rt, "detach", site, "detach", [node]) if node is not None else t.cut
    return made


def _same(rt: Any, t: Tensor, args: list, kwargs: dict, site: Site) -> Any:
    """``.to()``, ``.cuda()``, ``.cpu()``, ``.float()``: the tensor itself where nothing has to change."""
    for value in args:
        if type(value) is Sym and ("int" in _tail(value) or "long" in _tail(value) or "bool" in _tail(value)):
            return graphless(rt, site, "index")
    if t.leaf_grad and t.is_leaf and not t.is_param and rt.grad and args and args[0] == "cuda":
        return apply(rt, "clone", [t], {}, site)
    return t


def _tail(sym: Sym) -> str:
    key = sym.key
    return str(key[1]) if type(key) is tuple and len(key) == 2 and key[0] == "lib" else ""


def _cut_number(rt: Any, t: Tensor, args: list, kwargs: dict, site: Site) -> Any:
    return rt.fresh(site, "number")


def refute(node: Node) -> None:
    """A graph that was guessed is not there: with it, this call would have raised."""
    for below in reachable([node]):
        if below.guess and below.leaf is None:
            below.guess = UNSAID


def _numpy(rt: Any, t: Tensor, args: list, kwargs: dict, site: Site) -> Any:
    if t.requires_grad and kwargs.get("force") is not True:
        if t.guess == 0 and (t.node is None or not t.node.guess):
            raise Raised("RuntimeError", sure=True)
        if t.node is not None and not rt.trying:
            refute(t.node)
    made = rt.fresh(site, "object")
    made.cut = t.cut
    return made


def _item(rt: Any, t: Tensor, args: list, kwargs: dict, site: Site) -> Any:
    made = rt.fresh(site, "number")
    made.cut = cuts.note(rt, "item", site, "item", [t.node]) if t.node is not None else t.cut
    return made


def _size(rt: Any, t: Tensor, args: list, kwargs: dict, site: Site) -> Any:
    shape = attribute(rt, t, "shape", site)
    if not args and "dim" not in kwargs:
        return shape
    dim = args[0] if args else kwargs["dim"]
    if type(shape) is tuple and type(dim) is int and -len(shape) <= dim < len(shape):
        return shape[dim]
    if dim == 0 and t.length is not None:
        return t.length
    if type(shape) is Sym and type(dim) in (int, Sym):
        return rt.child(shape, ("item", dim if type(dim) is int else dim.key), "number")
    return rt.fresh(site, "number")


def _hook(rt: Any, t: Tensor, args: list, kwargs: dict, site: Site) -> Any:
    if not t.requires_grad and t.guess == 0:
        raise Raised("RuntimeError", sure=True)  # of what has no gradient there is nothing to hook
    return rt.fresh(site, "object")


def _retain(rt: Any, t: Tensor, args: list, kwargs: dict, site: Site) -> None:
    if not t.requires_grad and t.guess == 0:
        raise Raised("RuntimeError", sure=True)
    t.used_grad = True


def _long(rt: Any, t: Tensor, args: list, kwargs: dict, site: Site) -> Tensor:
    return graphless(rt, site, "index")


def _modifier(name: str, *parameters: str) -> Method:
    """A method in place that takes these parameters, by place or by name; a ``dim`` is none of its operands."""

    def run(rt: Any, t: Tensor, args: list, kwargs: dict, site: Site) -> Tensor:
        given = {**dict(zip(parameters, args)), **kwargs}
        operands = [given[each] for each in parameters if each in given and each != "dim"]
        return inplace.modify(rt, t, name, operands, site)

    return run


def _set(rt: Any, t: Tensor, args: list, kwargs: dict, site: Site) -> Tensor:
    set_attribute(rt, t, "data", args[0] if args else None, site)
    return t


def _type(rt: Any, t: Tensor, args: list, kwargs: dict, site: Site) -> Any:
    if not args and not kwargs:
        return rt.fresh(site, "str")
    kind = args[0] if args else None
    name = kind if type(kind) is str else _tail(kind) if type(kind) is Sym else ""
    if any(word in name for word in ("Long", "Int", "Byte", "Bool", "int", "long", "bool", "Short")):
        return graphless(rt, site, "index")
    return t


def _tensor_max(name: str) -> Method:
    def run(rt: Any, t: Tensor, args: list, kwargs: dict, site: Site) -> Any:
        return apply(rt, name, [t, *args], kwargs, site)

    return run


def _removed(rt: Any, t: Tensor, args: list, kwargs: dict, site: Site) -> Any:
    """``action.reinforce(reward)`` of torch 0.1: there, but it raises and says what to use."""
    raise Raised("RuntimeError", sure=True)


def _multinomial(rt: Any, t: Tensor, args: list, kwargs: dict, site: Site) -> Any:
    if not args and "num_samples" not in kwargs:
        raise Raised("TypeError", sure=True)  # as torch 0.1 allowed
    return graphless(rt, site)


_SPECIAL: dict[str, Method] = {
    "reinforce": _removed,
    "multinomial": _multinomial,
    "backward": autograd.tensor_backward,
    "detach": _detach,
    "detach_": lambda rt, t, a, k, s: inplace.detach_(rt, t, s),
    "requires_grad_": requires,
    "item": _item,
    "tolist": _item,
    "numpy": _numpy,
    "__float__": _cut_number,
    "__int__": _cut_number,
    "cuda": _same,
    "cpu": _same,
    "to": _same,
    "contiguous": lambda rt, t, a, k, s: t,
    "float": lambda rt, t, a, k, s: t,
    "double": lambda rt, t, a, k, s: t,
    "half": lambda rt, t, a, k, s: t,
    "bfloat16": lambda rt, t, a, k, s: t,
    "type_as": lambda rt, t, a, k, s: t,
    "type": _type,
    "long": _long,
    "int": _long,
    "bool": _long,
    "byte": _long,
    "short": _long,
    "char": _long,
    "size": _size,
    "dim": lambda rt, t, a, k, s: len(t.shape) if t.shape is not None else rt.fresh(s, "number"),
    "numel": _cut_number,
    "nelement": _cut_number,
    "ndimension": _cut_number,
    "__len__": _cut_number,
    "data_ptr": lambda rt, t, a, k, s: Sym(("ptr", rt.mark(t.storage)), "number"),
    "stride": _cut_number,
    "get_device": _cut_number,
    "register_hook": _hook,
    "retain_grad": _retain,
    "is_contiguous": lambda rt, t, a, k, s: True,
    "copy_": _modifier("copy", "other"),
    "set_": _set,
    "zero_": _modifier("zero"),
    "fill_": _modifier("fill", "value"),
    "share_memory_": lambda rt, t, a, k, s: t,
    "pin_memory": lambda rt, t, a, k, s: t,
    "apply_": _modifier("normal"),
    "scatter_": _modifier("scatter", "dim", "index", "src", "value"),
    "scatter_add_": _modifier("scatter_add", "dim", "index", "src"),
    "index_add_": _modifier("index_add", "dim", "index", "source"),
    "index_copy_": _modifier("index_copy", "dim", "index", "source"),
    "masked_fill_": _modifier("masked_fill", "mask", "value"),
    "max": _tensor_max("max"),
    "min": _tensor_max("min"),
    "is_floating_point": lambda rt, t, a, k, s: not t.not_float,
    "__reversed__": lambda rt, t, a, k, s: apply(rt, "flip", [t], {}, s),
}
_SPECIAL["bernoulli"] = lambda rt, t, a, k, s: graphless(rt, s)


def unknown_attribute(rt: Any, sym: Sym, name: str, site: Site) -> Any:
    """An attribute of an unknown that may be a tensor; None where that says nothing special."""
    if name == "backward":
        return Native("backward", lambda rt_, s, a, k: autograd.tensor_backward(rt_, sym, a, k, s))
    if name == "requires_grad_":
        return Native(name, lambda rt_, s, a, k: sym)
    if name in (
        "detach",
        "item",
        "tolist",
        "numpy",
        "size",
        "dim",
        "numel",
        "argmax",
        "long",
        "int",
        "bool",
        "detach_",
    ):
        kind = "number" if name in ("item", "size", "dim", "numel") else "any"

        def cut(rt_: Any, s: Site, a: list, k: dict) -> Any:
            if name == "detach_":
                sym.node = None
                return sym
            if name == "numpy" and sym.node is not None and k.get("force") is not True and not rt_.trying:
                refute(sym.node)
            return graphless(rt_, s) if name in ("detach", "argmax", "long") else rt_.fresh(s, kind)

        return Native(name, cut)
    if name in ("data", "grad"):
        return graphless(rt, site)
    if name in ("cuda", "cpu", "to", "float", "double", "half", "contiguous", "type_as"):
        return Native(name, lambda rt_, s, a, k: sym)
    return None


def inplace_op(rt: Any, op: str, t: Tensor, value: Any, site: Site) -> Any:
    return inplace_operator(rt, op, t, value, site)


set_index = inplace.set_index
__all__ = [
    "CONST",
    "LDict",
    "apply",
    "attribute",
    "binary",
    "dropped_detach",
    "factory",
    "graphless",
    "index",
    "inplace_op",
    "method",
    "rows",
    "set_attribute",
    "set_index",
    "tensors",
    "unknown_attribute",
]
