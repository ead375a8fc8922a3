"""Tensor operations: what each one records on the tape.

What an operation saves comes from the generated table (``loopgrad.analysis.knowledge.torch_table``);
this module turns a call into edges, saved tensors and views.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import cuts
from ..knowledge import torch_table as table
from ..tape import ALWAYS, DEPENDS, NEVER, Node, Tensor
from ..values import CONST, LDict, LList, Sym, node_of, tensors_in
from ..where import Site
from .by_number import scalar_profile, zeros

#: Python's operators by the tensor method that they are.
OPERATORS = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "matmul": "matmul",
    "pow": "pow",
    "mod": "remainder",
    "floordiv": "floor_divide",
}
_ANSWERS = {True: ALWAYS, False: NEVER, "depends": DEPENDS}


def graphless(rt: Any, site: Site | None, kind: str = "") -> Tensor:
    """A new tensor without a graph."""
    t = Tensor(None, None, False, site, rt.where)
    if rt.inference:
        t.inference = True
    if kind in ("bool", "index"):
        t.not_float = True
    return t


def attach(rt: Any, node: Node, site: Site | None) -> Tensor:
    """A new tensor whose ``grad_fn`` is ``node``."""
    return Tensor(node, None, False, site, rt.where, node.guess)


def tensor_like(value: Any) -> bool:
    return type(value) is Tensor or (type(value) is Sym and value.node is not None)


def saved_entry(value: Any, name: str) -> tuple | None:
    if type(value) is Tensor:
        value.storage.saved = True
        return (value.storage, value.storage.version, value.edge(), name)
    if type(value) is Sym:
        return None
    return None


def run_profile(
    rt: Any,
    name: str,
    profile: Any,
    bound: list[Any],
    site: Site | None,
    length: int | None = None,
) -> Any:
    """Record one operation by its profile. ``bound`` are the values of ``profile.args`` (or None)."""
    rt.work += 1
    first = None
    for value in bound:
        if type(value) is Tensor:
            first = value
            break
    if profile.graph == "no":
        made = graphless(rt, site)
        if first is not None:
            node = first.node
            made.cut = cuts.note(rt, "op", site, name, [node]) if node is not None and rt.grad else first.cut
        return made
    if profile.same is True or (profile.same == "depends" and name not in ("clone",)):
        source = bound[0] if bound else None
        if type(source) is Tensor or (type(source) is Sym and source.node is not None):
            return source
    mask = ""
    edges: list[Node] = []
    guess = 0
    unsure = False
    for value in bound:
        kind = type(value)
        if kind is Tensor or kind is Sym:
            edge = value.edge() if kind is Tensor else value.node
            if edge is None:
                unsure = unsure or unknown_inside(value)
                mask += "0"
                if value.cut is not None:
                    value.cut.used = True
            else:
                if edge.guess > guess:
                    guess = edge.guess
                edges.append(edge)
                mask += "1"
        elif value is None or kind in CONST:
            mask += "0"
        else:
            found = False
            unsure = unsure or unknown_inside(value)
            for t in tensors_in(value, 2):
                edge = node_of(t)
                if edge is not None:
                    found = True
                    guess = max(guess, edge.guess)
                    edges.append(edge)
            mask += "1" if found else "0"
    fact = profile.fact(mask) if edges and rt.grad else None
    if fact is None or not fact.graph:
        if unsure and rt.grad and not edges:
            return rt.fresh(site, "tensor")  # whether an unknown carries a graph is not known
        result = _outputs(rt, profile, None, first, site, length)
        off = bool(edges) and not rt.grad
        if off and profile.view and fact_of(profile, mask):
            # A view taken under no_grad still requires grad (as a leaf), so what is made of it later has a graph.
            for t in result if isinstance(result, (tuple, list)) else (result,):
                if type(t) is Tensor:
                    t.leaf_grad = t.unrooted = True
                    t.cut = cuts.note(rt, "no_grad", rt.mode_site, "no_grad", edges)
            return result
        cut = cuts.note(rt, "no_grad", rt.mode_site, "no_grad", edges) if off else cuts.of(bound)
        if cut is not None:
            for t in result if isinstance(result, (tuple, list)) else (result,):
                if type(t) is Tensor:
                    t.cut = cut
        return result
    saved = []
    for k in fact.saved:
        if k < len(bound):
            value = bound[k]
            for t in (value,) if type(value) in (Tensor, Sym) else tensors_in(value, 2):
                entry = saved_entry(t, profile.args[k])
                if entry is not None:
                    saved.append(entry)
    node = rt.record(name, tuple(edges), _ANSWERS[fact.raises], site, tuple(saved), bool(profile.view), guess)
    result = _outputs(rt, profile, node, first, site, length)
    if fact.results:
        outs = result if isinstance(result, (tuple, list)) else (result,)
        extra = [
            (outs[k].storage, 0, node, "result")
            for k in fact.results
            if k < len(outs) and type(outs[k]) is Tensor
        ]
        if not profile.view:
            node.saved = (*node.saved, *extra)
            for entry in extra:
                entry[0].saved = True
    return result


def fact_of(profile: Any, mask: str) -> bool:
    """Whether the operation would have recorded a graph for these arguments."""
    fact = profile.fact(mask)
    return fact is not None and fact.graph


def unknown_inside(value: Any) -> bool:
    """Whether a value is, or directly holds, an unknown that could be a tensor with a graph."""
    kind = type(value)
    if kind is Sym:
        return value.node is None and value.kind in ("any", "tensor")
    if kind is Tensor:
        return value.guess > 0 and not value.requires_grad  # something unknown was put into it
    if kind is LList or kind is tuple:
        return any(unknown_inside(v) for v in value if type(v) in (Sym, Tensor))
    return False


def doubt(rt: Any, t: Tensor) -> None:
    """Something unknown was put into a tensor: from now on it may carry a graph."""
    if rt.grad and not t.requires_grad:
        if rt.log is not None:
            rt.note_slot(t, "guess")
        t.guess = 2


def _kept(rt: Any, under: Sequence[Node], site: Site | None) -> tuple[Node, ...]:
    """What a view without a graph keeps alive, as a node of its own: what stores the view does not store the graph."""
    if not under:
        return ()
    guess = max(node.guess for node in under)
    return (Node("view", tuple(under), NEVER, site, rt.where, rt.seq, (), True, guess),)


def _view_of(rt: Any, first: Tensor | None, node: Node | None, site: Site | None) -> Tensor:
    storage = first.storage if first is not None else None
    t = Tensor(node, storage, False, site, rt.where, node.guess if node is not None else 0)
    if first is not None and rt.grad:
        base = first.base or first
        t.base = base
        t.base_gen = base.gen
    elif first is not None:
        t.keeps = _kept(rt, [first.node] if first.node is not None else first.keeps, site)
    if rt.inference and (first is None or first.inference):
        t.inference = True  # a view of what was made outside is no inference tensor
    return t


def _outputs(
    rt: Any, profile: Any, node: Node | None, first: Tensor | None, site: Site | None, length: int | None
) -> Any:
    # reshape and flatten of contiguous memory, the usual case, are views.
    view = (
        profile.view is True
        or profile.view == "depends"
        and profile.same is not True
        and bool(profile.args)
        and profile.outputs is None
    )

    def one(carries: bool) -> Tensor:
        mine = node if carries else None
        if view:
            return _view_of(rt, first, mine, site)
        return attach(rt, mine, site) if mine is not None else graphless(rt, site)

    if profile.outputs is None:
        return one(True)
    if profile.many:
        count = length if length is not None and length <= 32 else 4
        return LList([one(True) for _ in range(count)], open=length is None or length > 32)
    if view and profile.outputs and all(profile.outputs):
        return LList([one(True) for _ in profile.outputs], open=True)
    return tuple(one(c) for c in profile.outputs)


def bind(profile: Any, args: list, kwargs: dict[str, Any]) -> list[Any]:
    """Match a call's values to the profile's tensor arguments: by name, the rest in order."""
    names = profile.args
    bound: list[Any] = [None] * len(names)
    taken: set[int] = set()
    for k, name in enumerate(names):
        if name in kwargs:
            bound[k] = kwargs[name]
            taken.add(k)
        elif k == 0 and ("self" in kwargs or "input" in kwargs):
            bound[k] = kwargs.get("self", kwargs.get("input"))
            taken.add(k)
    rest = iter(args)
    if names and names[0] == "tensors":
        items: list[Any] = []
        for value in [*args, *kwargs.values()]:
            items.extend(tensors_in(value, 3))
            if type(value) is Sym and unknown_inside(value):
                items.append(value)
            if isinstance(value, (LList, tuple)):
                items.extend(v for v in value if type(v) is Sym and v.node is None)
        bound[0] = LList(items)
        return bound
    for k in range(len(names)):
        if k in taken:
            continue
        for value in rest:
            if type(value) is Tensor or (type(value) is Sym and value.kind not in ("number", "str", "bool")):
                bound[k] = value
                break
            if isinstance(value, (tuple, LList)) and any(True for _ in tensors_in(value, 2)):
                bound[k] = value
                break
            if value is None or type(value) in (int, float) and k > 0 and names[k] != "index":
                break  # in its place; the number before an index is the dimension
    left = [value for value in rest if type(value) is Tensor or unknown_inside(value)]
    for k in range(1, len(names)):
        if left and bound[k] is None and k not in taken:
            bound[k] = left.pop(0)  # behind a number that stands between the tensors, as in scatter
    return bound


def variant(name: str, args: list, kwargs: dict[str, Any], tensors: int) -> str:
    """The special form of an operation that this call is: ``max`` with a dim, ``mul`` by a number, …"""
    base = name.rsplit(".", 1)[-1]
    if base in ("max", "min", "median", "nanmedian") and (
        "dim" in kwargs or (len(args) > 1 and type(args[1]) in (int, Sym) and not tensor_like(args[1]))
    ):
        return name + "#tuple"
    if kwargs.get("return_indices") is True:
        return name + "#tuple"
    if "dropout" in base:
        training = kwargs.get("training", args[2] if len(args) > 2 else True)
        p = kwargs.get("p", args[1] if len(args) > 1 else 0.5)
        if p == 0:
            return name + "#zero"
        if training is False:
            return name + "#eval"
        return name
    if base in ("interpolate", "pad", "grid_sample", "embedding_bag"):
        mode = kwargs.get("mode")
        if type(mode) is str:
            return f"{name}#{mode}"
        if mode is not None:
            return name + "#any"
    if base == "einsum" and tensors == 1:
        return name + "#unary"
    if tensors == 1 and len(args) > 1 and type(args[1]) in (int, float, bool):
        return name + "#scalar"
    return name


def apply(rt: Any, name: str, args: list, kwargs: dict[str, Any], site: Site | None, prefix: str = "") -> Any:
    """Call a tensor method (``prefix`` empty) or a function (``torch.``, ``torch.nn.functional.``)."""
    look = table.function if prefix else table.method
    count = sum(1 for a in [*args, *kwargs.values()] if tensor_like(a) or type(a) is Tensor)
    full = prefix + name
    if name in ("max", "min") and len(args) > 1 and unknown_inside(args[1]):
        return unknown_op(rt, full, args, kwargs, site)  # of two tensors, or along a dimension
    if name == "einsum":
        count = max(count, len(args) - 1)
    form = variant(full, args, kwargs, count)
    profile = look(form) or look(full)
    if form == full and profile is not None:
        profile = scalar_profile(look, full, args, kwargs) or profile
    if profile is None and prefix:
        profile = table.method(name)
    if profile is None:
        return unknown_op(rt, full, args, kwargs, site)
    if kwargs.get("training") is not None and "dropout" in name and type(kwargs["training"]) is Sym:
        pass
    length = _pieces(name, args, kwargs) if profile.many else None
    result = run_profile(rt, name, profile, bind(profile, args, kwargs), site, length)
    if kwargs.get("inplace") is True and args and type(args[0]) is Tensor and type(result) is Tensor:
        return _replace(rt, args[0], result, site, name)
    out = kwargs.get("out")
    if type(out) is Tensor:
        if any(unknown_inside(value) for value in args):
            doubt(rt, out)
        bump(rt, out, site, name)
        return out
    return result


def _replace(rt: Any, target: Tensor, result: Tensor, site: Site | None, name: str) -> Tensor:
    """``F.relu(x, inplace=True)``: the result takes x's place."""
    bump(rt, target, site, name)
    node = result.node
    if node is not None:
        if rt.log is not None:
            rt.happen()
        target.storage.saved = True
        node.saved = tuple(
            (target.storage, target.storage.version, n, label) if label == "result" else (s, v, n, label)
            for s, v, n, label in node.saved
            if s is not target.storage or label == "result"
        )
        _set_node(target, node)
    return target


def _set_node(target: Tensor, node: Node) -> None:
    base = target.base
    if base is None:
        target.node = node
        target.gen += 1
    else:
        base.node = node
        base.gen += 1
    target.leaf_grad = False


def _pieces(name: str, args: list, kwargs: dict[str, Any]) -> int | None:
    given = kwargs.get("chunks", kwargs.get("split_size_or_sections", args[1] if len(args) > 1 else None))
    if name in ("chunk", "tensor_split") and type(given) is int:
        return given
    if isinstance(given, (LList, tuple)):
        return len(given)
    return None


def unknown_op(rt: Any, name: str, args: list, kwargs: dict[str, Any], site: Site | None) -> Any:
    """An operation that the table does not know: saves by guess."""
    edges: list[Node] = []
    guess = 1
    for value in [*args, *kwargs.values()]:
        for t in tensors_in(value, 3):
            edge = node_of(t)
            if edge is not None:
                edges.append(edge)
                guess = max(guess, edge.guess)
    if not edges or not rt.grad:
        return rt.fresh(site)
    node = rt.record(name, tuple(edges), DEPENDS, site, (), False, guess)
    return rt.fresh(site, "any", node, guess)


def binary(rt: Any, op: str, a: Any, b: Any, site: Site) -> Any:
    """An operator with at least one tensor (or graph-carrying unknown) among its operands."""
    if op in ("and", "or", "xor", "lshift", "rshift"):
        return graphless(rt, site, "bool")
    name = OPERATORS.get(op)
    if name is None:
        return graphless(rt, site)
    ta, tb = type(a), type(b)
    if ta is str and op == "mod":
        return rt.fresh(site, "str")  # "%.3f" % loss reads the number
    number_a = ta in (int, float, bool, complex)
    number_b = tb in (int, float, bool, complex)
    if ta in (str, type(None), LDict) or tb in (str, type(None), LDict):
        from ..signals import Raised

        raise Raised("TypeError")
    if number_b:
        profile = table.method(name + "#scalar") or table.method(name)
        result = run_profile(rt, name, profile, [a], site)
        return zeros(result) if op == "mul" and not b else result
    if number_a:
        if op in ("add", "mul", "sub"):
            profile = table.method(name + "#scalar")
            result = run_profile(rt, name, profile, [b], site)
            return zeros(result) if op == "mul" and not a else result
        if op == "truediv":
            return run_profile(rt, "reciprocal", table.method("reciprocal"), [b], site)
        if op == "pow":
            return run_profile(rt, "exp", table.method("exp"), [b], site)
    profile = table.method(name)
    return run_profile(rt, name, profile, [a, b], site)


def bump(rt: Any, t: Tensor, site: Site | None, what: str) -> None:
    """Count an in-place modification."""
    storage = t.storage
    if rt.merged:
        rt.changes(storage)
    if storage.saved:
        rt.happen()  # a backward may notice
    if rt.log is not None:
        rt.note_slot(storage, "version")
        rt.note_slot(storage, "modified")
    if what == "zero":
        if rt.log is not None:
            rt.note_slot(storage, "zeroed")
        storage.zeroed = True
    storage.version += 1
    storage.modified = (site, rt.where, what, rt.seq)


def dropped_detach(rt: Any, t: Tensor, site: Site) -> None:
    rt.shared.observe.dropped_detach(rt, t, site)


__all__ = ["apply", "attach", "binary", "graphless", "run_profile", "unknown_op"]
