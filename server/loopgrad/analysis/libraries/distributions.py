"""``torch.distributions``: what sampling cuts and what log_prob keeps."""

from __future__ import annotations

from typing import Any

from ..tape import ALWAYS, NEVER, Tensor
from ..torch_model import tensors
from ..values import Class, Native, Obj, node_of, tensors_in
from ..where import Site

DISTRIBUTION = Class("Distribution")
DISTRIBUTION.flags = frozenset({"distribution"})
DISTRIBUTION.opaque = True


def _init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    obj = args[0]
    values = [*args[1:], *kwargs.values()]
    if obj.cls.name in _NORMALISING:
        # Normalised logits are computed once and shared by log_prob and entropy.
        logits = [
            tensors.apply(rt, "log_softmax" if obj.cls.name != "Bernoulli" else "sigmoid", [v], {}, site)
            if type(v) is Tensor
            else v
            for v in values[:1]
        ]
        obj.data = (logits[0],) if logits and "Bernoulli" not in obj.cls.name else tuple(values)
    else:
        obj.data = tuple(values)
    for name, value in zip(("loc", "scale"), args[1:]):
        obj.attrs[name] = value
    obj.attrs.update(kwargs)


_NORMALISING = frozenset({"Categorical", "OneHotCategorical"})


def _edges(value: Any) -> tuple:
    found = []
    for t in tensors_in(value, 5):
        edge = node_of(t)
        if edge is not None and edge not in found:
            found.append(edge)
    return tuple(found)


def _keeping(name: str, saves: int) -> Native:
    def run(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
        own = args[0].data if type(args[0]) is Obj else args[0]
        edges = _edges((own or (), *args[1:], *kwargs.values()))
        if not edges and rt.grad and any(tensors.unknown_inside(v) for v in (own or (), *args[1:])):
            return rt.fresh(site, "tensor")
        if not edges or not rt.grad:
            return tensors.graphless(rt, site)
        node = rt.record(name, edges, saves, site, (), False, max(e.guess for e in edges))
        return tensors.attach(rt, node, site)

    return Native(name, run)


def _sample(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return tensors.graphless(rt, site)


for _name in ("log_prob", "entropy", "rsample", "cdf", "icdf"):
    DISTRIBUTION.ns[_name] = _keeping(_name, ALWAYS)
DISTRIBUTION.ns["__init__"] = Native("__init__", _init)
DISTRIBUTION.ns["sample"] = DISTRIBUTION.ns["sample_n"] = Native("sample", _sample)


def _property(name: str) -> Any:
    from ..values import Property

    return Property(
        Native(name, lambda rt, site, args, kwargs: _keeping(name, NEVER).fn(rt, site, args, kwargs))
    )


for _name in ("mean", "probs", "logits", "stddev", "variance", "mode"):
    DISTRIBUTION.ns[_name] = _property(_name)
DISTRIBUTION.build = lambda rt, cls, args, kwargs, site: Obj(cls)

NAMES = (
    "Categorical Normal Bernoulli Beta Gamma Dirichlet MultivariateNormal Independent Uniform Laplace Exponential Poisson "
    "LogNormal OneHotCategorical Multinomial Binomial Cauchy Gumbel HalfNormal StudentT TransformedDistribution "
    "MixtureSameFamily RelaxedOneHotCategorical RelaxedBernoulli VonMises Geometric NegativeBinomial"
).split()
TABLE: dict[str, Any] = {}
for _name in NAMES:
    _cls = Class(_name, (DISTRIBUTION,))
    for _module in (
        "torch.distributions.",
        "torch.distributions.categorical.",
        "torch.distributions.normal.",
    ):
        TABLE[_module + _name] = _cls
TABLE["torch.distributions.kl_divergence"] = TABLE["torch.distributions.kl.kl_divergence"] = Native(
    "kl_divergence",
    lambda rt, site, args, kwargs: _keeping("kl", ALWAYS).fn(
        rt, site, [args[0], args[1].data if type(args[1]) is Obj else args[1]], {}
    ),
)
TABLE["torch.distributions.Distribution"] = DISTRIBUTION
