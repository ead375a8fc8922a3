"""torchmetrics: most metrics keep sums that are cut; a few keep the values themselves, with their graphs."""

from __future__ import annotations

from typing import Any

from ..tape import DEPENDS, Tensor
from ..torch_model import nn
from ..values import LList, tensors_in
from ..where import Site
from . import drive, spiking

#: Metrics that keep a list of what they are given, which is not cut (measured in 1.9: ``compute`` of the first has a
#: graph). The classification metrics do so while no ``thresholds`` are given.
LISTING = frozenset({"CatMetric", "SpearmanCorrCoef"})
CURVES = frozenset({"BinaryAUROC", "BinaryAveragePrecision", "BinaryROC", "BinaryPrecisionRecallCurve"})
#: Those whose value is a number that was counted, without a graph.
COUNTED = (
    "Accuracy",
    "F1Score",
    "Precision",
    "Recall",
    "AUROC",
    "ConfusionMatrix",
    "Specificity",
    "JaccardIndex",
)


def _init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    obj = args[0]
    nn._init(rt, site, [obj], {})
    name = obj.cls.name
    if name in LISTING or name in CURVES and kwargs.get("thresholds") is None and len(args) < 2:
        obj.attrs["_values"] = LList()


def _update(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    """What a list keeps is what it was given first, with its graph."""
    values = args[0].attrs.get("_values")
    given = args[1] if len(args) > 1 else next(iter(kwargs.values()), None)
    if type(values) is LList and type(given) is Tensor and given.node is not None:
        rt.stored(given, site, spiking.receiver(rt, site, args[0]), "append")
        rt.note_list(values)
        list.append(values, given)


def _forward(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``metric(preds, target)``: updates, and gives the value of this batch, which may have a graph."""
    _update(rt, site, args, kwargs)
    if args[0].cls.name.endswith(COUNTED):
        return rt.fresh(site, "number")
    edges = tuple(
        edge
        for t in tensors_in((*args[1:], *kwargs.values()), 2)
        if (edge := t.edge() if type(t) is Tensor else t.node) is not None
    )
    if not edges or not rt.grad:
        return rt.fresh(site, "number")
    node = rt.record("metric", edges, DEPENDS, site, (), False, 1)
    return rt.fresh(site, "tensor", node, 1)


def _reset(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    values = args[0].attrs.get("_values")
    if type(values) is LList:
        rt.note_list(values)
        values[:] = []


METRIC = drive.model(
    "Metric",
    {"__init__": _init, "forward": _forward, "update": _update, "reset": _reset},
    nn.MODULE,
    quiet="compute add_state plot sync unsync persistent",
)
AGGREGATION = "MeanMetric SumMetric MaxMetric MinMetric RunningMean RunningSum"
NAMES: dict[str, Any] = {
    name: drive.model(name, {}, METRIC)
    for name in [
        *AGGREGATION.split(),
        *LISTING,
        *CURVES,
        *COUNTED,
        *(f"{task}{name}" for task in ("Binary", "Multiclass", "Multilabel") for name in COUNTED),
    ]
}
NAMES["Metric"] = METRIC
