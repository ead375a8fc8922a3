"""What spiking libraries share: neurons whose membrane is a tensor that the layer keeps or hands on."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from ..tape import ALWAYS, Tensor
from ..torch_model import nn, tensors
from ..values import MISSING, Obj, Sym, node_of
from ..where import Site


def integrate(rt: Any, site: Site, obj: Obj, inputs: list[Any], saves: int = ALWAYS) -> Any:
    """A membrane after one step: it depends on the input, on the states before, and on the layer's parameters."""
    weights = [t for _, t in nn.named_parameters(obj)]
    return _record(rt, site, "neuron", [*inputs, *weights], saves, weights)


def spike(rt: Any, site: Site, membrane: Any) -> Any:
    """What a neuron gives on: a surrogate gradient's Function over the membrane, which it saves."""
    return _record(rt, site, "spike", [membrane], ALWAYS)


def _record(
    rt: Any, site: Site, name: str, values: list[Any], saves: int, saved: Iterable[Tensor] = ()
) -> Any:
    rt.work += 1
    edges = [edge for edge in (node_of(value) for value in values) if edge is not None]
    if not edges and any(type(value) is Sym and value.kind in ("any", "tensor") for value in values):
        return rt.fresh(site, "tensor")
    if not edges or not rt.grad:
        return tensors.graphless(rt, site)
    kept = tuple((t.storage, t.storage.version, t.edge(), "weight") for t in saved)
    node = rt.record(name, tuple(edges), saves, site, kept, False, max(edge.guess for edge in edges))
    return tensors.attach(rt, node, site)


def keep(rt: Any, site: Site, obj: Obj, name: str, value: Any, kind: str = "layer") -> None:
    """``layer.name = value``, done by the layer when it is called at ``site``.

    ``kind`` is "layer" where a sequence of calls is meant to go through it, until a reset that the caller knows.
    """
    rt.stored(value, site, f"{receiver(rt, site, obj)}.{name}", kind)
    rt.put(obj.attrs, name, value)


def receiver(rt: Any, site: Site, obj: Obj) -> str:
    """The name by which the caller calls a layer, ``self.lif``; its class where a container calls it."""
    called = getattr(site.node, "func", None)
    for written in (called, getattr(called, "value", None)):
        if isinstance(written, (ast.Name, ast.Attribute)) and _named(rt, written) is obj:
            return ast.unparse(written)
    return obj.cls.name


def _named(rt: Any, written: ast.expr) -> Any:
    """The object behind a dotted name in the frame that runs, without running anything."""
    if isinstance(written, ast.Attribute):
        owner = _named(rt, written.value)
        return owner.attrs.get(written.attr, MISSING) if type(owner) is Obj else MISSING
    if isinstance(written, ast.Name) and rt.frames:
        frame = rt.frames[-1]
        return frame.vars.get(written.id, frame.globals.get(written.id, MISSING))
    return MISSING


def cut(rt: Any, site: Site, obj: Obj, names: tuple[str, ...]) -> None:
    """The states of a layer, each detached."""
    for name in names:
        value = obj.attrs.get(name)
        if type(value) is Tensor:
            rt.put(obj.attrs, name, rt.shared.tensors.method(rt, value, "detach", [], {}, site))


def clear(rt: Any, site: Site, obj: Obj, names: tuple[str, ...], value: Any = MISSING) -> None:
    """The states of a layer, each made anew."""
    for name in names:
        rt.put(obj.attrs, name, tensors.graphless(rt, site) if value is MISSING else value)
