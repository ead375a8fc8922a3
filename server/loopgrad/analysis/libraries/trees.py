"""Functions that map a function over the leaves of nested containers: ``tree_map`` and its kin.

The mapped function is called for each leaf as the program would, so that a cut in it cuts and nothing else does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..semantics.calls import arg
from ..values import LDict, LList, Obj, Sym
from ..where import Site
from .registry import native

Leaf = Callable[[Any], Any]


def mapped(rt: Any, site: Site, tree: Any, leaf: Leaf) -> Any:
    """A tree of the same form with ``leaf(value)`` in the place of each leaf; an unknown tree gives an unknown."""
    kind = type(tree)
    if kind is tuple:
        return tuple(mapped(rt, site, v, leaf) for v in tree)
    if isinstance(tree, LList):
        return LList([mapped(rt, site, v, leaf) for v in tree], tree.open, tree.bounded)
    if isinstance(tree, LDict):
        table = LDict((), tree.open, tree.factory)
        for key, value in tree.items():
            table[key] = mapped(rt, site, value, leaf)
        return table
    if kind is Obj and type(tree.data) is tuple:
        made = Obj(tree.cls, tuple(mapped(rt, site, v, leaf) for v in tree.data))
        made.attrs = dict(tree.attrs)
        return made
    return leaf(tree)


def _of_type(rt: Any, site: Site, wanted: Any, leaf: Leaf) -> Leaf:
    """``leaf`` for values of a type; the others stay what they are."""

    def apply(value: Any) -> Any:
        known = rt.shared.classes.isinstance(rt, value, wanted, site)
        return leaf(value) if rt.truth(known, site) else value

    return apply


@native("torch.utils._pytree.tree_map", "optree.tree_map", "tree.map_structure")
def _tree_map(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    fn, tree = arg(args, kwargs, 0, "func"), arg(args, kwargs, 1, "tree")
    if len(args) > 2 or type(tree) is Sym:
        return rt.fresh(site)
    return mapped(rt, site, tree, lambda value: rt.shared.calls.call(rt, fn, [value], {}, site))


@native("torch.utils._pytree.tree_map_only")
def _tree_map_only(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    wanted, fn, tree = (
        arg(args, kwargs, n, name) for n, name in enumerate(("type_or_types", "func", "tree"))
    )
    if type(tree) is Sym:
        return rt.fresh(site)
    leaf = _of_type(rt, site, wanted, lambda value: rt.shared.calls.call(rt, fn, [value], {}, site))
    return mapped(rt, site, tree, leaf)


@native(
    "lightning_utilities.core.apply_func.apply_to_collection",
    "lightning_utilities.apply_to_collection",
    "pytorch_lightning.utilities.apply_func.apply_to_collection",
    "lightning.pytorch.utilities.apply_func.apply_to_collection",
    "lightning.fabric.utilities.apply_func.apply_to_collection",
)
def _apply_to_collection(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    data, wanted, fn = (arg(args, kwargs, n, name) for n, name in enumerate(("data", "dtype", "function")))
    if type(data) is Sym:
        return rt.fresh(site)
    own = ("data", "dtype", "function", "wrong_dtype", "include_none", "allow_frozen")
    more = {name: value for name, value in kwargs.items() if name not in own}
    leaf = _of_type(
        rt, site, wanted, lambda value: rt.shared.calls.call(rt, fn, [value, *args[3:]], more, site)
    )
    return mapped(rt, site, data, leaf)


@native("accelerate.utils.recursively_apply", "accelerate.utils.operations.recursively_apply")
def _recursively_apply(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    fn, data = arg(args, kwargs, 0, "func"), arg(args, kwargs, 1, "data")
    if type(data) is Sym or "test_type" in kwargs:
        return rt.fresh(site)
    own = ("func", "data", "error_on_other_type")
    more = {name: value for name, value in kwargs.items() if name not in own}
    leaf = _of_type(
        rt,
        site,
        rt.shared.tensor_class,
        lambda value: rt.shared.calls.call(rt, fn, [value, *args[2:]], more, site),
    )
    return mapped(rt, site, data, leaf)
