"""What an unknown does: attributes, items and calls of values that the analysis cannot see into.

An unknown callee may keep, cut, store or clear what it is given. Its result therefore carries the
graphs of its arguments only by guess, and a container handed to it may hold more afterwards.
"""

from __future__ import annotations

from typing import Any

from .. import cuts
from ..signals import Raised
from ..tape import DEPENDS, UNSAID, Node, Tensor, reachable
from ..values import CONST, Bound, LDict, LList, LSet, Native, Obj, Sym, tensors_in
from ..where import Site

#: Libraries whose results are no tensors with a graph.
PLAIN_LIBRARIES = frozenset(
    "numpy np math os sys json time random logging pandas matplotlib PIL cv2 scipy sklearn argparse pathlib re shutil "
    "glob pickle csv yaml datetime copyreg subprocess psutil gc signal socket struct string typing warnings abc enum "
    "inspect io hashlib tempfile urllib zipfile tarfile platform getpass uuid traceback wandb tensorboard tensorboardX "
    "tensorboard_logger mlflow neptune comet_ml visdom seaborn imageio skimage nltk spacy tqdm rich click hydra omegaconf "
    "gym gymnasium h5py librosa soundfile termcolor colorama prettytable tabulate requests packaging pkg_resources".split()
)
#: Methods that log or show what they are given and keep nothing of the graph.
SINKS = frozenset(
    "log info debug warning warn error critical exception print write add_scalar add_scalars add_image add_images "
    "add_histogram add_text add_figure add_graph add_hparams set_postfix set_postfix_str set_description refresh "
    "log_metric log_metrics log_dict plot line show savefig record_metric image images log_scalar logkv".split()
)
#: Methods whose result is no graph-carrying tensor, whoever has them.
CUTS = frozenset(
    "item detach tolist numpy cpu_numpy argmax size dim numel shape long int bool byte __len__ type_as_int".split()
)


_TENSORS_OWN = frozenset({"detach", "backward", "requires_grad", "requires_grad_", "cpu", "numpy", "grad"})


def attribute(rt: Any, sym: Sym, name: str, site: Site) -> Any:
    """``unknown.name``."""
    if sym.attrs is not None:
        value = sym.attrs.get(name)
        if value is not None:
            return value
    if sym.kind == "tensor" or (
        sym.node is not None and name in ("backward", "detach", "item", "data", "grad", "grad_fn", "numpy")
    ):
        found = rt.shared.tensors.unknown_attribute(rt, sym, name, site)
        if found is not None:
            return found
    if sym.kind == "number" and (name in _TENSORS_OWN or name == "item" and sym.cut is not None):
        raise Raised("AttributeError")  # what .item() gave is a number
    if sym.kind == "object" and sym.cut is not None and name in _TENSORS_OWN:
        raise Raised("AttributeError")  # what .numpy() gave is an array
    special = rt.shared.libraries.attribute(rt, sym, name, site)
    if special is not None:
        return special
    value = rt.child(sym, name)
    if name == "backward" and sym.kind == "any" and root_of(sym.key) is None:
        return Native(name, lambda rt_, s, a, k: _backward(rt_, sym, value, a, k, s))
    if sym.cut is not None:
        value.cut = sym.cut
    if name in ("shape", "device", "dtype", "ndim", "is_cuda"):
        value.node = None
        value.kind = "object" if name != "ndim" else "number"
    return value


def _backward(rt: Any, sym: Sym, method: Sym, args: list, kwargs: dict[str, Any], site: Site) -> Any:
    """``unknown.backward()`` is a loss's; with an argument (``engine.backward(loss)``) it is some object's."""
    if args:
        return call(rt, method, args, kwargs, site)
    return rt.shared.autograd.tensor_backward(rt, sym, args, kwargs, site)


def item(rt: Any, sym: Sym, key: Any, site: Site) -> Any:
    """``unknown[key]``: the same part for the same key."""
    if sym.items is not None:
        from ..values import hashable

        stored = sym.items.get(hashable(key))
        if stored is not None:
            return stored
    if type(key) in CONST and type(key) is not slice:
        value = rt.child(sym, ("item", key))
    elif type(key) is Sym:
        value = rt.child(sym, ("item", key.key))
    else:
        value = rt.fresh(site, node=sym.node, guess=sym.guess)
    if sym.cut is not None:
        value.cut = sym.cut
    return value


def set_item(rt: Any, sym: Sym, key: Any, value: Any, site: Site) -> None:
    from ..values import hashable

    if sym.cut is None and type(value) is Sym:
        sym.cut = value.cut  # an array that is filled with numbers read from tensors
    if sym.items is None:
        sym.items = {}
    if type(key) in (str, int, Sym):
        rt.put(sym.items, hashable(key), value)


def root_of(key: Any) -> str | None:
    """The library that an unknown came from, if it came from one."""
    while type(key) is tuple and key:
        if key[0] == "lib":
            return str(key[1]).split(".")[0]
        key = key[0]
    return None


def is_plain(sym: Sym) -> bool:
    """Whether an unknown comes from a library whose values carry no graph: an array, a number."""
    return sym.cut is not None or root_of(sym.key) in PLAIN_LIBRARIES


def last_name(key: Any) -> str:
    if type(key) is tuple and len(key) == 2:
        if key[0] == "lib":
            return str(key[1]).rsplit(".", 1)[-1]
        if type(key[1]) is str:
            return key[1]
    return ""


def call(rt: Any, fn: Sym, args: list, kwargs: dict[str, Any], site: Site) -> Any:
    """A call out of reach."""
    rt.work += 1
    name = last_name(fn.key)
    special = rt.shared.libraries.call(rt, fn, name, args, kwargs, site)
    if special is not NotImplemented:
        return special
    root = root_of(fn.key)
    values = [*args, *kwargs.values()]
    if root in PLAIN_LIBRARIES or name in SINKS or name in CUTS:
        made = rt.fresh(site, "call" if root in PLAIN_LIBRARIES else "any")
        made.cut = cuts.of(values)
        return made
    taint(rt, values)
    if fn.op == "" and fn.args:
        rewritten(rt, fn.args[0], site)
    nodes = []
    guess = 2
    for value in values:
        for t in tensors_in(value, 3):
            node = t.edge() if type(t) is Tensor else t.node
            if node is not None and node not in nodes:
                nodes.append(node)
    if nodes and (rt.retained or rt.growth):
        given_away(rt, nodes)
    if fn.node is not None and fn.node not in nodes:
        nodes.append(fn.node)
    if fn.params is not None and fn.params.leaf_grad:
        edge = fn.params.edge()
        if edge is not None:
            nodes.append(edge)
            guess = 1
    if not nodes or not rt.grad:
        return rt.fresh(site, "any")
    node = rt.record("unknown", tuple(nodes), DEPENDS, site, (), False, guess)
    return rt.fresh(site, "any", node, guess)


def given_away(rt: Any, nodes: list[Node]) -> None:
    """A callee out of reach may run a backward: it needs what was retained, and what inner gradients lead through."""
    below = list(reachable(nodes))
    for node in below:
        if node.retained is not None:
            node.retained.needed = True
    if rt.growth and any(node.op.startswith("grad") for node in below):
        rt.shared.growth.handed_over(rt, tuple(Sym(("given",), node=node) for node in nodes))


def rewritten(rt: Any, owner: Sym, site: Site) -> None:
    """``graph.update_all(…)`` may put anything in the place of ``graph.ndata["h"]``: the old value is not claimed then."""
    for part in list((owner.attrs or {}).values()):
        for key, value in list((part.items or {}).items()) if type(part) is Sym else ():
            node = value.node if type(value) in (Tensor, Sym) else None
            if node is not None and node.op != "unknown":
                made = rt.record("unknown", (node,), DEPENDS, site, (), False, UNSAID)
                rt.put(part.items, key, rt.fresh(site, "any", made, UNSAID))


def taint(rt: Any, values: list) -> None:
    """A mutable container given to a callee out of reach may hold more, or less, afterwards."""
    for value in values:
        kind = type(value)
        if kind is LList or kind is LDict or kind is LSet:
            if rt.log is not None:
                rt.note_slot(value, "open")
            value.open = True
            if kind is LList and value and all(v is None for v in value):
                # Places that are held free for what the callee puts there.
                rt.note_list(value)
                value[:] = [Sym(("filled", id(value), k)) for k in range(len(value))]
            for t in tensors_in(value, 3):
                # It may have been cut, or walked, where nobody sees: what follows from it is possible.
                if t.node is not None:
                    t.node.guess = max(t.node.guess, 1)
        elif kind is Obj:
            rt.shared.objects.open_up(value)


__all__ = ["Bound", "Native", "attribute", "call", "item"]
