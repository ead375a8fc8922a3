"""Autograd graphs, walked from Python.

A node's Python object comes and goes, and so does its id; its ``metadata`` dict lives in the C++ node
(``Node::metadata``, torch/csrc/autograd/function.h) and so as long as the node does. Marks are put there.
``AccumulateGrad`` nodes belong to their parameter and are shared by all graphs, so they get none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Node = Any

#: Keys in ``node.metadata``: the pass that freed the node, what the live frames called its value, and the
#: growth tag of a root.
FREED, NAMES, HELD = "loopgrad.freed", "loopgrad.names", "loopgrad.held"

#: A leaf's node has no sequence number of its own: it gets the largest, so that it runs as soon as it can.
_NO_NUMBER = 1 << 62


def walk(roots: Iterable[Node]) -> list[Node]:
    """All nodes that the roots reach. Holding them keeps their Python objects, and so their ids, apart."""
    seen: set[Node] = set()
    order: list[Node] = []
    stack = [root for root in roots if root is not None]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        order.append(node)
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                stack.append(following)
    return order


def executed(roots: Iterable[Node], inputs: Any) -> list[Node]:
    """The nodes that a pass runs: all, or with ``inputs`` those on a way to one of them."""
    nodes = walk(roots)
    if not inputs:
        return nodes
    targets = {node for node in map(node_of, inputs) if node is not None}
    return list(reaching(nodes, targets) - {node for node in targets if not is_leaf(node)})


def reaching(nodes: list[Node], targets: set[Node]) -> set[Node]:
    """Those of some nodes that lead to one of the targets, and the targets among them."""
    users: dict[Node, list[Node]] = {}
    for node in nodes:
        for following, _ in node.next_functions:
            if following is not None:
                users.setdefault(following, []).append(node)
    found = {node for node in targets if node in users} | (targets & set(nodes))
    stack = list(found)
    while stack:
        for user in users.get(stack.pop(), ()):
            if user not in found:
                found.add(user)
                stack.append(user)
    return found


def node_of(value: Any) -> Node | None:
    """The node of a tensor or of a ``GradientEdge``: what made it, or what accumulates into it."""
    if hasattr(value, "node"):
        return value.node
    if value.grad_fn is not None or not value.requires_grad:
        return value.grad_fn
    # The first view of a leaf is the public way to its accumulator in every version since 2.1.
    import torch

    with torch.enable_grad():
        return value.view_as(value).grad_fn.next_functions[0][0]


def is_leaf(node: Node) -> bool:
    return type(node).__name__ == "AccumulateGrad"


def number_of(node: Node) -> int:
    """The node's sequence number, -1 for a leaf's or where the version of torch does not tell."""
    try:
        number = int(node._sequence_nr())
    except (AttributeError, RuntimeError):
        return -1
    return number if number < _NO_NUMBER else -1


_SAVED: dict[type, tuple[str, ...]] = {}


def saved_names(node: Node) -> tuple[str, ...]:
    """The attributes by which a node's kind shows the tensors it saved (``_saved_self``, ...).

    ``_raw_saved_self`` exists beside it for tensors alone; ``_saved_alpha`` without one is a plain number.
    """
    kind = type(node)
    if kind not in _SAVED:
        raw = "_raw_saved_"
        names = tuple("_saved_" + name[len(raw) :] for name in dir(kind) if name.startswith(raw))
        _SAVED[kind] = ("saved_tensors",) if "_saved_tensors" in names else names
    return _SAVED[kind]


def saves(node: Node) -> bool:
    """Whether a second pass over the node may raise. A compiled region is one node that always saves."""
    name = type(node).__name__
    return bool(saved_names(node)) or name == "CopySlices" or "Compiled" in name


def is_modified(node: Node) -> bool:
    """Whether something that the node saved has been changed in place since: unpacking it says so."""
    for name in saved_names(node):
        try:
            getattr(node, name)
        except RuntimeError as error:
            if "modified by an inplace operation" in str(error):
                return True
        except Exception:
            continue
    return False


#: Nodes that save nothing and whose value shares its input's memory.
_VIEWS = (
    "Alias", "AsStrided", "Diagonal", "Expand", "Permute", "Select", "Slice", "Split", "Squeeze", "T",
    "Transpose", "Unbind", "Unfold", "Unsqueeze", "UnsafeView", "View", "ReshapeAlias",
)  # fmt: skip
VIEWS = frozenset(name + "Backward" for name in _VIEWS)


def is_view(node: Node) -> bool:
    return type(node).__name__.rstrip("0123456789") in VIEWS
