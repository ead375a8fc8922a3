"""What the engine saw: the raw material of findings.

An :class:`Observation` is made at the moment something goes wrong, while the tape can still be read, and
holds plain places and numbers only. The rules turn observations into findings; they do not look at values.
"""

from __future__ import annotations

from typing import Any

from .observation import Carrier, Observation, Step, in_a_later_call, innermost, witness_of
from .semantics.exceptions import EXCEPTIONS
from .signals import Raised
from .stories import second_backward, version_error
from .tape import ALWAYS, NEVER, Node, Pass, TapeError, Tensor, reachable
from .values import Obj
from .where import Parting, Site, lift

MESSAGES = {
    "second-backward": "Trying to backward through the graph a second time",
    "inplace-version": "one of the variables needed for gradient computation has been modified by an inplace operation",
    "no-grad-fn": "element 0 of tensors does not require grad and does not have a grad_fn",
    "leaf-inplace": "a leaf Variable that requires grad is being used in an in-place operation.",
}


def fail(rt: Any, seen: Observation) -> None:
    """Raise torch's RuntimeError; the observation counts if nothing in the program catches it."""
    if rt.trying:
        rt.happen()
    seen.witness = witness_of(rt, rt.where)
    error = Obj(EXCEPTIONS["RuntimeError"], (MESSAGES[seen.outcome],))
    error.attrs["args"] = error.data
    raised = Raised("RuntimeError", error)
    raised.observation = seen  # type: ignore[attr-defined]
    error.attrs["__observation__"] = seen
    raise raised


def trained(rt: Any, leaf: Tensor) -> None:
    rt.reached[id(leaf)] = leaf


def tape_error(rt: Any, error: TapeError, roots: list[Node]) -> None:
    """A backward failed: find what carried the old graph to it."""
    if error.outcome == "detached":
        raise Raised("RuntimeError", sure=True)
    if error.outcome == "second-backward":
        seen = second_backward(rt, error.node, error.culprit, error.run, roots)
    else:
        seen = version_error(rt, error, roots)
    if in_a_later_call(rt.where):
        seen.guess = max(seen.guess, _may_vanish(roots))
    fail(rt, seen)


#: Operations whose gradient is zero for some inputs, and those through which many inputs reach one result.
VANISHING = frozenset(
    "relu relu6 clamp clamp_min clamp_max clip hardtanh threshold where maximum minimum".split()
)
MIXING = frozenset("matmul mm mv bmm linear conv1d conv2d conv3d".split())
#: Those that take each element from one of two inputs: a gradient comes through if both of them have one.
CHOOSING = frozenset("where maximum minimum".split())
#: Those through which a gradient comes as it is.
PASSING = frozenset({"add", "sub", "sum", "mean", "getitem", "cat", "stack"})
#: Operations on the difference of their two inputs.
DIFFERENCES = frozenset("sub subtract mse_loss l1_loss smooth_l1_loss huber_loss dist".split())


def _may_vanish(roots: list[Node]) -> int:
    """How doubtful it is that a solver asks again: it does not where the first gradient is zero.

    One dead unit is enough for that where it is the only one that is taken, or a difference of equals;
    then nothing is claimed.
    """
    nodes = list(reachable(roots))
    ops = {node.op.strip("_").lower() for node in nodes}
    if ops & DIFFERENCES and any(_of_equals(node) for node in nodes):
        return 2
    leaves = [node.leaf for node in nodes if node.leaf is not None]
    # What a solver has made of zeros since, before it asked again, is not told from them.
    if leaves and all(leaf.storage.zeroed for leaf in leaves):
        return 2  # of zeros the gradient of a square is zero as well
    if any(_adds_up_to_one(root) for root in roots):
        return 2
    if not any(_vanishes(node) for node in nodes) or any(map(_comes_through, roots)):
        return 0
    return 2 if "getitem" in ops and not ops & MIXING else 1


def _adds_up_to_one(node: Node) -> bool:
    """Whether a loss is the sum of a softmax, which is the same whatever went into it."""
    while node.op in ("sum", "mean", "add", "sub"):
        inputs = [one for one in node.inputs if not one.zeros]
        if len(inputs) != 1:
            return False
        node = inputs[0]
    return node.op == "softmax"


def _vanishes(node: Node) -> bool:
    """Whether an operation's gradient is zero for some inputs."""
    return node.op.strip("_").lower() in VANISHING and not _takes_either(node)


def _comes_through(node: Node) -> bool:
    """Whether a gradient reaches a parameter whatever the values: all else is multiplied by zero (``w + 0.0 * relu(w)``),
    or reaches other ones (``cat([relu(w), u])``), so that it takes nothing away."""
    while node.leaf is None:
        inputs = [one for one in node.inputs if not one.zeros]
        if node.op not in PASSING:
            return False
        if len(inputs) != 1:
            below = [{id(each.leaf) for each in reachable([one]) if each.leaf is not None} for one in inputs]
            # What is apart is looked at alone, so that no part is looked at twice.
            apart = [
                one
                for k, one in enumerate(inputs)
                if all(below[k].isdisjoint(other) for other in below[:k] + below[k + 1 :])
            ]
            return any(map(_comes_through, apart))
        node = inputs[0]
    return node.leaf.held


def _takes_either(node: Node) -> bool:
    """Whether each element comes from one of two graphs, neither of which is all zeros."""
    return (
        node.op.strip("_").lower() in CHOOSING
        and len(node.inputs) == 2
        and not any(_without_zeros(one).zeros for one in node.inputs)
    )


def _of_equals(node: Node) -> bool:
    """Whether it is a difference of two graphs of one value: a solver that starts there is at its goal."""
    if node.op.strip("_").lower() not in DIFFERENCES or len(node.inputs) != 2:
        return False
    one, other = map(_values, node.inputs)
    return len(one) == 1 and one == other


def _values(node: Node) -> set[int]:
    """The nodes that a result has its elements of: those that are chosen from, without zeros that are added."""
    found: set[int] = set()
    stack, seen = [node], set()
    while stack:
        part = _without_zeros(stack.pop())
        if id(part) in seen:
            continue
        seen.add(id(part))
        if part.op.strip("_").lower() in CHOOSING and len(part.inputs) == 2:
            stack.extend(part.inputs)
        else:
            found.add(id(part))
    return found


def _without_zeros(node: Node) -> Node:
    while node.op in ("add", "sub") and len(node.inputs) == 2 and node.inputs[1].zeros:
        node = node.inputs[0]
    return node


def backward(rt: Any, run: Pass, roots: list[Node]) -> None:
    """A backward went through. Did it walk freed nodes again, and was its retain_graph needed?"""
    if run.revisited:
        real = [(n, p) for n, p in run.revisited if not n.view]
        stale = [(n, p) for n, p in real if _from_before(n, run) or _changed_below(n, p, run)]
        # What another pass of this iteration has walked as well is no story; an older graph below may be.
        older = [(n, p) for n, p in stale if _in_a_later_turn(n, p, run)]
        again = in_a_later_call(run.where)
        # A solver is not asked again at all if a loss that is a mere sum has no gradient (`w - w`).
        if older and not (again and all(n.saves == NEVER for n in reachable(roots))):
            node, freed = older[0]
            seen = second_backward(rt, node, freed, run, roots, silent=True)
            if seen.what in ("carried", "outside"):
                seen.outcome = "silent"
                seen.steps[-1].key = "reached-silently"
                if any(n.guess or n.op == "unknown" for n, _ in older):
                    seen.guess = max(seen.guess, 2)  # what comes from out of reach may be a leaf
                elif any(n.saves != NEVER for n, _ in older):
                    seen.guess = max(seen.guess, 1)  # with another version of torch it raises
                seen.guess = max(seen.guess, int(again))
                rt.observe(seen)
    cells = rt.shared.cell_of
    if cells is not None and run.site.file is rt.shared.main:
        rerun(rt, run, roots, cells)
    if run.retain and run.retain_arg:
        rt.retained.append((run, list(roots)))


def rerun(rt: Any, run: Pass, roots: list[Node], cells: Any) -> None:
    """LG205: what this backward freed was built in another notebook cell, so its own cell cannot run twice."""
    here = cells(lift(run.site, run.where, 0).line)
    for node in reachable(roots):
        if node.freed is run and node.saves == ALWAYS and node.site is not None:
            if node.site.file is rt.shared.main and cells(lift(node.site, node.where, 0).line) != here:
                seen = Observation("rerun", "second-backward", run.site)
                seen.steps.append(Step("built", lift(node.site, node.where, 0), None, "built", op=node.op))
                rt.observe(seen)
                return


def _from_before(node: Node, run: Pass) -> bool:
    """Whether a node was recorded in an earlier iteration: the pass counts a second time what that one gave."""
    return Parting(node.where, run.where).loop is not None


def _in_a_later_turn(node: Node, freed: Pass, run: Pass) -> bool:
    """Whether a loop has turned between two passes, or one has begun since that goes on with what is stale."""
    parting = Parting(freed.where, run.where)
    if parting.loop is not None:
        return True
    return any(link.loop is not None for link in parting.rest_b) and _changed_below(node, freed, run)


def _changed_below(node: Node, freed: Pass, run: Pass) -> bool:
    """Whether what the old graph was computed from has changed since it was built."""
    for n in reachable([node]):
        if n.leaf is not None:
            modified = n.leaf.storage.modified
            if modified is not None and modified[3] >= node.seq:
                return True
    return False


def no_grad_fn(rt: Any, value: Tensor, site: Site) -> None:
    """``backward()`` on something that has no graph."""
    seen = Observation("no-graph", "no-grad-fn", site)
    seen.raised = site
    seen.loop, seen.iteration = innermost(rt.where)
    cut = rt.shared.cuts.find(rt, value)
    if cut is not None:
        seen.site = cut.site
        for each in cut.all():
            seen.steps.append(Step("cut", each.site, seen.iteration, "cut-" + each.kind, what=each.what))
        seen.facts.update(cut=cut.kind, what=cut.what, cuts=[(each.kind, each.site) for each in cut.all()])
    seen.steps.append(_raise_step_no_graph(site, seen.iteration))
    fail(rt, seen)


def _raise_step_no_graph(site: Site, iteration: int | None) -> Step:
    return Step("reached", site, iteration, "no-graph")


def rootless(rt: Any, value: Tensor, site: Site) -> None:
    """``backward()`` on a leaf that was told to require grad: the exception goes, and nothing trains."""
    if not value.leaf_grad or value.held or value.is_param or not rt.optimizers:
        return
    told = next(((s, w) for t, s, w, _, _ in rt.requires if t is value), None)
    place = told[0] if told is not None else value.site
    if place is None:
        return
    seen = Observation("made-leaf", "not-trained", place)
    seen.loop, seen.iteration = innermost(rt.where)
    cut = rt.shared.cuts.find(rt, value)
    if cut is not None:
        seen.steps.append(Step("cut", cut.site, seen.iteration, "cut-" + cut.kind, what=cut.what))
        seen.facts.update(cut=cut.kind, what=cut.what)
    seen.steps.append(Step("modified", place, seen.iteration, "made-leaf"))
    seen.steps.append(Step("reached", site, seen.iteration, "leaf-backward"))
    value.used_grad = True
    if not rt.trying:
        rt.made_leaves.append(seen)


def grad_input(rt: Any, t: Tensor, site: Site) -> None:
    raise Raised("RuntimeError")


def leaf_inplace(rt: Any, t: Tensor, site: Site | None, name: str) -> None:
    """An in-place operation on a leaf that requires grad; of a module out of reach nobody knows whether it does."""
    assert site is not None
    if t.guess:
        return
    seen = Observation("leaf", "leaf-inplace", site)
    seen.raised = site
    seen.loop, seen.iteration = innermost(rt.where)
    seen.guess = t.guess
    if t.site is not None:
        seen.steps.append(Step("built", t.site, None, "leaf-made"))
    seen.steps.append(Step("modified", site, seen.iteration, "leaf-modified", what=name))
    fail(rt, seen)


def requires_grad(rt: Any, t: Tensor, site: Site, assigned: bool, graph: bool) -> None:
    """``requires_grad_()`` or ``requires_grad = True`` on a tensor."""
    if not rt.trying:
        rt.requires.append((t, site, rt.where, assigned, graph))


def dropped_detach(rt: Any, t: Tensor, site: Site) -> None:
    seen = Observation("dropped", "none", site)
    seen.facts["graph"] = t.requires_grad
    rt.observe(seen)


def updated(rt: Any, t: Tensor, site: Site) -> None:
    if t.leaf_grad:
        t.held = True


__all__ = ["ALWAYS", "Carrier", "Observation", "Step", "fail", "tape_error"]
