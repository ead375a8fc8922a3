"""``torch.utils.data``: datasets and loaders."""

from __future__ import annotations

from typing import Any

from ..semantics.calls import arg
from ..signals import Raised
from ..tape import Tensor
from ..torch_model import tensors
from ..values import MISSING, Bound, Class, Endless, LDict, LList, Native, Obj, Sym
from ..where import Site

DATASET = Class("Dataset")
DATASET.flags = frozenset({"dataset"})
TENSOR_DATASET = Class("TensorDataset", (DATASET,))
LOADER = Class("DataLoader")
LOADER.flags = frozenset({"loader"})


def _tensors_init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    args[0].attrs["tensors"] = tuple(args[1:])


def _tensors_item(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return tuple(rt.shared.objects.item(rt, t, args[1], site) for t in args[0].attrs["tensors"])


def _tensors_len(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    values = args[0].attrs["tensors"]
    if values and type(values[0]) is Tensor and values[0].length is not None:
        return values[0].length
    return Sym(("len", "dataset", id(args[0].site)), "number")


TENSOR_DATASET.ns.update(
    __init__=Native("__init__", _tensors_init),
    __getitem__=Native("__getitem__", _tensors_item),
    __len__=Native("__len__", _tensors_len),
)


def _loader_init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    obj = args[0]
    obj.attrs["dataset"] = arg(args, kwargs, 1, "dataset")
    obj.attrs["batch_size"] = arg(args, kwargs, 2, "batch_size", 1)
    obj.attrs["collate_fn"] = kwargs.get("collate_fn")
    obj.attrs["sampler"] = kwargs.get("sampler")
    obj.attrs["drop_last"] = kwargs.get("drop_last", False)


def collate(rt: Any, samples: list[Any], site: Site) -> Any:
    """The default collation: tensors are stacked, containers element by element."""
    first = samples[0]
    kind = type(first)
    if kind is Tensor:
        return tensors.apply(rt, "stack", [LList(samples)], {}, site, "torch.")
    if kind is tuple or kind is LList:
        parts = [collate(rt, [s[k] for s in samples if len(s) > k], site) for k in range(len(first))]
        return LList(parts)
    if kind is LDict:
        return LDict({k: collate(rt, [s.get(k) for s in samples], site) for k in first})
    if kind is Obj and isinstance(first.data, tuple):
        made = Obj(first.cls)
        made.data = tuple(collate(rt, [s.data[k] for s in samples], site) for k in range(len(first.data)))
        return made
    if kind is str:
        return LList(samples, open=True)
    if kind is Sym and first.kind not in ("number", "bool", "compare"):
        return rt.fresh(site, node=first.node, guess=first.guess)
    return tensors.graphless(rt, site)


def _loader_iter(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    obj = args[0]
    dataset, custom = obj.attrs["dataset"], obj.attrs.get("collate_fn")
    length = trips(rt, obj, site)

    def make(i: int) -> Any:
        if length is not None and i >= length:
            return MISSING
        samples = []
        for _ in range(2 if custom is not None else 1):
            sample = (
                rt.shared.objects.item(rt, dataset, rt.fresh(site, "number"), site)
                if not _iterable(dataset)
                else (rt.shared.objects.iterate(rt, dataset, site).get(i))
            )
            if sample is MISSING:
                return MISSING
            samples.append(sample)
        if obj.attrs.get("batch_size") is None:
            return samples[0]
        if custom is not None and type(custom) is not Sym:
            return rt.shared.calls.call(rt, custom, [LList(samples, open=True)], {}, site)
        if custom is not None:
            return rt.fresh(site)
        return collate(rt, samples, site)

    if length is not None:
        from ..semantics.builtins_iterables import LazySeq

        return LazySeq(length, make)
    return Endless(make)


def _iterable(dataset: Any) -> bool:
    return (
        type(dataset) is Obj
        and dataset.cls.find("__getitem__") is MISSING
        and dataset.cls.find("__iter__") is not MISSING
    )


def size_of(rt: Any, dataset: Any, site: Site) -> Any:
    if type(dataset) in (LList, tuple):
        return None if getattr(dataset, "open", False) else len(dataset)
    if type(dataset) is Obj:
        method = dataset.cls.find("__len__")
        if method is not MISSING:
            return rt.shared.calls.call(rt, Bound(method, dataset), [], {}, site)
    if type(dataset) is Tensor:
        return dataset.length
    return None


def trips(rt: Any, obj: Obj, site: Site) -> int | None:
    """How many batches a loader gives, where that is known."""
    try:
        size = size_of(rt, obj.attrs["dataset"], site)
    except Raised:
        return None
    batch = obj.attrs.get("batch_size")
    if type(size) is not int or obj.attrs.get("sampler") is not None:
        return None
    if batch is None:
        return size
    if type(batch) is not int or batch <= 0:
        return None
    return size // batch if obj.attrs.get("drop_last") is True else -(-size // batch)


def _loader_len(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    known = trips(rt, args[0], site)
    return known if known is not None else Sym(("len", "loader", id(args[0].site)), "number")


LOADER.ns.update(
    __init__=Native("__init__", _loader_init),
    __iter__=Native("__iter__", _loader_iter),
    __len__=Native("__len__", _loader_len),
)


def _random_split(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    count = len(args[1]) if isinstance(args[1], (LList, tuple)) else 2
    return LList([_subset(args[0]) for _ in range(count)])


def _subset(dataset: Any) -> Obj:
    made = Obj(SUBSET)
    made.attrs["dataset"] = dataset
    return made


SUBSET = Class("Subset", (DATASET,))
SUBSET.ns.update(
    __init__=Native("__init__", lambda rt, site, args, kwargs: args[0].attrs.update(dataset=args[1])),
    __getitem__=Native(
        "__getitem__",
        lambda rt, site, args, kwargs: rt.shared.objects.item(rt, args[0].attrs["dataset"], args[1], site),
    ),
    __len__=Native("__len__", lambda rt, site, args, kwargs: rt.fresh(site, "number")),
)

TABLE: dict[str, Any] = {
    "torch.utils.data.Dataset": DATASET,
    "torch.utils.data.TensorDataset": TENSOR_DATASET,
    "torch.utils.data.DataLoader": LOADER,
    "torch.utils.data.random_split": Native("random_split", _random_split),
    "torch.utils.data.Subset": SUBSET,
    "torch.utils.data.IterableDataset": Class("IterableDataset", (DATASET,)),
    "torch.utils.data.dataset.Dataset": DATASET,
    "torch.utils.data.dataloader.DataLoader": LOADER,
}
