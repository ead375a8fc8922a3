"""What libraries for meta-learning share: copies of modules whose parameters are tensors with a history."""

from __future__ import annotations

from typing import Any

from ..semantics.calls import arg
from ..tape import Tensor
from ..torch_model import autograd, nn, tensors
from ..values import Native, Obj
from ..where import Site
from . import copying, drive


def copied(rt: Any, site: Site, module: Obj, made: Any) -> Obj:
    """A module like this one, whose parameters are ``made(parameter)``."""
    memo: dict[int, Any] = {}
    for _, part in nn.walk(module):
        for _, parameter in nn.own_parameters(part):
            if id(parameter) not in memo:
                fast = made(parameter)
                fast.is_param = True
                memo[id(parameter)] = fast
    twin: Obj = copying.clone(rt, module, site, memo)
    return twin


def cloned(rt: Any, site: Site, parameter: Tensor) -> Tensor:
    """``parameter.clone()``: a tensor of its own that leads back to the parameter."""
    fast: Tensor = tensors.apply(rt, "clone", [parameter], {}, site)
    fast.label = parameter.label
    return fast


def leaf(rt: Any, site: Site, parameter: Tensor) -> Tensor:
    """``parameter.detach().requires_grad_()``."""
    fast: Tensor = tensors.graphless(rt, site)
    fast.leaf_grad = parameter.requires_grad
    fast.where = rt.where
    return fast


def adapt(rt: Any, site: Site, module: Obj, loss: Any, create: bool, tracked: bool = True) -> None:
    """A step on the loss: each parameter of a copy is replaced by itself less its gradient times a rate.

    ``create`` records the gradients; what is not ``tracked`` begins anew, without a history.
    """
    places = [
        (part, name, value)
        for _, part in nn.walk(module)
        for name, value in nn.own_parameters(part)
        if value.requires_grad
    ]
    known = [value for _, _, value in places]
    if type(loss) is not Tensor or not known:
        return
    options = {"create_graph": create, "retain_graph": create}
    grads = autograd.grad(rt, site, [loss, tuple(known)], options)
    replaced: dict[int, Tensor] = {}
    for (part, name, value), slope in zip(places, grads):
        fast = replaced.get(id(value))
        if fast is None:
            scaled = tensors.apply(rt, "mul", [slope, tensors.graphless(rt, site)], {}, site)
            fast = tensors.apply(rt, "sub", [value, scaled], {}, site)
            if not tracked:
                fast = leaf(rt, site, value)
            fast.is_param = True
            fast.label = value.label
            replaced[id(value)] = fast
        rt.put(part.attrs, name, fast)


def wrapper(name: str, methods: dict[str, drive.Fn]) -> Any:
    """A module around ``module``, which it calls."""
    cls = drive.model(name, methods, nn.MODULE)
    cls.ns["forward"] = Native(
        "forward",
        lambda rt, site, args, kwargs: rt.shared.calls.call(
            rt, args[0].attrs["module"], args[1:], kwargs, site
        ),
    )
    return cls


def option(rt: Any, site: Site, args: list, kwargs: dict, index: int, name: str, default: Any) -> bool:
    """A yes or no that a call may leave to the object."""
    value = arg(args, kwargs, index, name)
    return bool(rt.truth(default if value is None else value, site))
