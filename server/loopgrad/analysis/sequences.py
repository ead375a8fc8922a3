"""Sequences: a loop that unrolls one input builds one graph, and grows nothing from batch to batch.

``h = cell(x[t], h)`` for every step of an input is a recurrence: what a step leaves goes into an operation of
the next one that saves it. Until something runs back over it, the graph of the whole sequence is wanted, and it
goes with the sequence. A sum is no recurrence: what it has so far meets the next value in an addition alone.
"""

from __future__ import annotations

import ast
from typing import Any

from .observation import iteration_in
from .tape import NEVER, Node, Tensor, children_first, reachable
from .where import LoopRun

#: So many steps that take up what the step before left make a recurrence.
LINKS = 2
#: Writing into a part of a tensor keeps what was written before, and computes nothing from it.
WRITES = frozenset({"setitem", "copy_slices", "copy", "index_put", "index_copy", "scatter", "masked_scatter"})
#: Additions save nothing, but where they go on in a part of a tensor (``sums[k] += loss``).
SUMS = frozenset({"add", "sub", "iadd", "isub"})
#: Operations that take a part of a tensor; other views (``w.T``) are all of it.
PARTS = frozenset({"getitem", "select", "narrow", "unbind", "split", "chunk"})


def is_one_graph(loop: LoopRun, nodes: list[Node]) -> bool:
    """Whether what a loop without a backward keeps is one graph, that of an output it takes apart."""
    return not (loop.backwards or loop.grads) and out_of_one_graph(nodes, loop)


def is_unrolled(rt: Any, loop: LoopRun, nodes: list[Node]) -> bool:
    """Whether a loop without a backward unrolls a sequence, for a backward that comes behind it."""
    return not (loop.backwards or loop.grads) and (
        is_one_sequence(rt, loop, nodes) or through_time(loop, nodes)
    )


def through_time(loop: LoopRun, nodes: list[Node]) -> bool:
    """Whether a loop goes through the time of a spiking neuron, whose membrane comes from the step before."""
    for node in reachable(nodes):
        if node.op == "neuron":
            k = iteration_in(node.where, loop)
            if k is not None and any((iteration_in(n.where, loop) or k) < k for n in node.inputs):
                return True
    return False


def out_of_one_graph(nodes: list[Node], loop: LoopRun) -> bool:
    """Whether all that a loop without a backward recorded hangs on a graph from before it.

    Taking the parts of one output together, one by one, keeps that output's graph, not one of each iteration.
    The parts of a leaf from before it are such parts as well, and views of one hold no more than the leaf, but for
    the same part again and again.
    """
    older = False
    seen: set[int] = set()
    #: (a node, whether what took it is a part of it, whether all above are views)
    stack = [(node, False, True) for node in nodes]
    while stack:
        node, part, views = stack.pop()
        if node.leaf is not None:
            made = node.leaf.where
            if not part or made is not None and iteration_in(made, loop) is not None:
                return False
            older = True
            continue
        if id(node) in seen:
            continue
        seen.add(id(node))
        if iteration_in(node.where, loop) is None:
            older = True
        else:
            views = views and node.view
            part = (views or loop.steps and node.op in PARTS) and not _same_each_time(node)
            stack.extend((below, part, views) for below in node.inputs)
    return older


def _same_each_time(node: Node) -> bool:
    """Whether a part is plainly the same one in each iteration (``w[0]``)."""
    at = node.site.node if node.site is not None else None
    if not isinstance(at, ast.Subscript):
        return False
    return not any(isinstance(inner, (ast.Name, ast.Attribute, ast.Call)) for inner in ast.walk(at.slice))


def is_one_sequence(rt: Any, loop: LoopRun, nodes: list[Node]) -> bool:
    """Whether ``nodes``, kept by a loop without a backward, are one sequence that is unrolled for training.

    In ``eval()`` nothing will run back over it, and a loop over batches is no sequence, whatever it carries.
    """
    return loop.steps and is_recurrence(nodes, loop) and _learns(rt, nodes)


def is_recurrence(nodes: list[Node], loop: LoopRun) -> bool:
    """Whether each iteration's graph goes on from what the one before left, through what it computes."""
    carried: set[int] = set()
    linked: set[int] = set()
    iterations: dict[int, int | None] = {}
    for node in children_first(nodes):
        here = iterations[id(node)] = iteration_in(node.where, loop) if node.leaf is None else None
        if here is None:
            continue
        for below in node.inputs:
            there = iterations[id(below)]
            if there is not None and (there < here or id(below) in carried):
                carried.add(id(node))
                if node.saves != NEVER and node.op not in WRITES and node.op not in SUMS:
                    linked.add(here)
    return len(linked) >= LINKS


def walked_since(nodes: list[Node], loop: LoopRun, index: int) -> bool:
    """Whether a backward behind the loop, the ``index``-th pass or a later one, freed what all but the last iterations made.

    The last state of a sequence goes into no loss, where each state before it is behind the outputs. (Of a list
    that is gone through a last element may be left out here, hence more than one.)
    """
    freed: set[int] = set()
    kept: set[int] = set()
    for node in reachable(nodes):
        k = iteration_in(node.where, loop)
        if k is not None:
            run = node.freed
            late = run is not None and run.index >= index and iteration_in(run.where, loop) is None
            (freed if late else kept).add(k)
    return len(freed) > 1 and all(k >= max(freed) for k in kept)


def is_solved(rt: Any, loop: LoopRun, place: Any) -> bool:
    """Whether a loop without a backward improves one value until it is good enough, and the function gives it back.

    Its graph is that of one result, as a recursion's would be: what ends the loop is a test of the value itself.
    """
    function = rt.frames[-1].func if rt.frames else None
    tree = function.code.node if function is not None else None
    node = loop.site.node
    if loop.backwards or loop.grads or place[0] != "name" or not isinstance(node, ast.While) or tree is None:
        return False
    given = [each.value for each in ast.walk(tree) if isinstance(each, ast.Return)]
    if not any(isinstance(value, ast.Name) and value.id == place[1] for value in given):
        return False
    tests = [each.test for each in ast.walk(node) if isinstance(each, ast.If) and _leaves(each)] + [node.test]
    wanted = {each.id for test in tests for each in ast.walk(test) if isinstance(each, ast.Name)}
    for each in ast.walk(node):
        if isinstance(each, ast.Assign) and wanted & {t.id for t in each.targets if isinstance(t, ast.Name)}:
            wanted |= {name.id for name in ast.walk(each.value) if isinstance(name, ast.Name)}
    return place[1] in wanted


def _leaves(node: ast.If) -> bool:
    return any(isinstance(each, ast.Break) for each in node.body)


def _learns(rt: Any, nodes: list[Node]) -> bool:
    """Whether a parameter that the graph leads to belongs to a module in training mode, or to one out of reach."""
    leaves = [node.leaf for node in reachable(nodes) if node.leaf is not None and node.leaf.is_param]
    return any(_owner_trains(rt, leaf) for leaf in leaves)


def _owner_trains(rt: Any, leaf: Tensor) -> bool:
    owner = rt.owners.get(id(leaf))
    owners = [owner] if owner is not None else [m for m in rt.modules_made if leaf in m.attrs.values()]
    return bool(leaf.guess) or any(m.attrs.get("training") is not False for m in owners)
