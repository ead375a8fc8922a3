"""``backward``, ``autograd.grad``, grad mode and user-defined Functions."""

from __future__ import annotations

from typing import Any

from ..observation import innermost
from ..semantics.calls import arg
from ..signals import Raised
from ..tape import ALWAYS, DEPENDS, NEVER, Node, Pass, TapeError, Tensor, reachable, run_backward
from ..values import MISSING, Bound, Class, LDict, LList, Native, Obj, Sym, node_of, tensors_in
from ..where import Site
from . import tensors
from .double import SUM, Gradients


def flag(rt: Any, value: Any, site: Site) -> bool:
    """A boolean argument such as ``create_graph``."""
    if value is None:
        return False
    return bool(rt.truth(value, site))


#: How many nodes and edges a backward walks at the cost of a statement.
WALKED_A_STEP = 64


def retains(rt: Any, value: Any, create: bool, site: Site) -> bool:
    """``retain_graph``, which is ``create_graph`` where it is not given.

    Who computes it in the loop (``k + 1 < length``) frees the graph with its last use: what is not known of that
    is taken to retain, and the other side is no path of its own, so that nothing is certain. An option of the
    program is tried on both.
    """
    if value is None:
        return create
    if type(value) is Sym and rt.known(value, site) is None and _counts(rt, value):
        rt.supposed = True
        return True
    return flag(rt, value, _given(site, "retain_graph"))


def _given(site: Site, name: str) -> Site:
    """Where a call gives an argument by its name, else the call: what is decided there is the argument."""
    given = [k.value for k in getattr(site.node, "keywords", ()) if k.arg == name]
    return Site(site.file, given[0], site.stmt, site.func) if given else site


def _counts(rt: Any, condition: Any) -> bool:
    """Whether a condition is another one in each iteration: made in the loop, or compared with a number."""
    if type(condition) is not Sym:
        return False
    if condition.op in ("not", "and", "or"):
        return any(_counts(rt, each) for each in condition.args)
    if condition.op in ("lt", "gt", "eq"):
        return any(type(each) in (int, float) for each in condition.args) or rt.made_here(condition.key)
    return bool(rt.made_here(condition.key))


def tensor_backward(rt: Any, t: Any, args: list, kwargs: dict[str, Any], site: Site) -> None:
    """``t.backward(gradient, retain_graph, create_graph, inputs)``."""
    if "retain_variables" in kwargs:
        raise Raised("TypeError", sure=True)  # as torch 0.1 allowed
    create = flag(rt, arg(args, kwargs, 2, "create_graph", False), site)
    retain_arg = arg(args, kwargs, 1, "retain_graph", None)
    retain = retains(rt, retain_arg, create, site)
    inputs = arg(args, kwargs, 3, "inputs", None)
    backward(rt, [t], site, retain, create, _inputs(rt, inputs, site), retain_arg is not None)


def _inputs(rt: Any, value: Any, site: Site) -> list[Tensor] | None:
    if value is None:
        return None
    if type(value) is Tensor:
        return [value]
    items, more = rt.shared.objects.listed(rt, value, site)
    found = [v for v in items if type(v) is Tensor]
    return found if found or not more else None


def backward(
    rt: Any,
    values: list[Any],
    site: Site,
    retain: bool,
    create: bool,
    inputs: list[Tensor] | None = None,
    asked: bool = False,
    collect: bool = False,
) -> Pass | None:
    """Run a backward from ``values``; ``collect`` returns gradients instead of accumulating them."""
    rt.happen()
    rt.training_loops.update(id(loop.site.node) for loop in rt.loops)
    roots: list[Node] = []
    for value in values:
        node = value.edge() if type(value) is Tensor else node_of(value)
        if type(value) is Tensor and value.unrooted and value.node is None and value.guess == 0:
            rt.shared.observe.no_grad_fn(rt, value, site)
        if (
            node is None
            and type(value) is Tensor
            and value.guess == 0
            or node is not None
            and node.leaf is value
        ):
            rt.shared.observe.rootless(rt, value, site)
        if node is None and type(value) is Sym and not collect:
            node = rt.prove(value, site)
        if node is None:
            if type(value) is Tensor and value.guess == 0:
                rt.shared.observe.no_grad_fn(rt, value, site)
            elif len(values) == 1:
                return None
            continue
        roots.append(node)
    if not collect:
        for t in inputs or ():
            t.used_grad = True
            if not t.requires_grad and t.guess == 0:
                rt.shared.observe.grad_input(rt, t, site)
    run = Pass(site, rt.where, len(rt.passes), retain, create)
    run.retain_arg = asked
    rt.passes.append(run)
    for loop in rt.loops:
        if collect:
            loop.grads += 1
        else:
            loop.backwards += 1
    if rt.loops and not collect:
        rt.loops[-1].direct += 1
    try:
        executed = run_backward(roots, run, inputs, accumulate=not collect)
    except TapeError as error:
        note_leaves(rt, run)
        # What the failed walk would have reached counts as reached: the fix is judged against it.
        for node in reachable(roots):
            if node.leaf is not None:
                rt.shared.observe.trained(rt, node.leaf)
        rt.shared.observe.tape_error(rt, error, roots)
        return None
    rt.steps += run.walked // WALKED_A_STEP
    for node in roots:
        node.rooted = True
    note_leaves(rt, run)
    rt.shared.observe.backward(rt, run, roots)
    if create and not collect:
        made = Gradients(rt, roots, executed, site)
        for leaf in run.leaves:
            grad, double = leaf.grad, made.of.get(id(leaf.acc))
            if grad is None:
                continue
            if double is not None:
                inputs_ = (double,) if grad.node is None else (grad.node, double)
                grad.node = rt.record("grad", inputs_, ALWAYS, site)
            elif grad.node is not None:
                # What is added has no graph, the sum has: it is a new tensor under create_graph.
                grad.node = rt.record(SUM, (grad.node,), NEVER, site)
            if grad.node is None:
                continue
            rt.graded[id(leaf)] = leaf
            if leaf.where is not None and innermost(leaf.where)[0] is not None:
                _note_circle(rt, leaf, grad.node)
    run.revisited = []
    return run


def _note_circle(rt: Any, leaf: Tensor, gradient: Node) -> None:
    """A leaf whose gradient's graph leads back to it: nothing frees the two, however many are made in a loop."""
    if leaf not in rt.circles and any(node is leaf.acc for node in reachable([gradient])):
        rt.circles.append(leaf)


def note_leaves(rt: Any, run: Pass) -> None:
    for leaf in run.leaves:
        rt.shared.observe.trained(rt, leaf)


def grad(rt: Any, site: Site, args: list, kwargs: dict[str, Any]) -> Any:
    """``torch.autograd.grad(outputs, inputs, grad_outputs, retain_graph, create_graph, ...)``."""
    if "retain_variables" in kwargs:
        raise Raised("TypeError", sure=True)  # as torch 0.1 allowed
    outputs, inputs = arg(args, kwargs, 0, "outputs"), arg(args, kwargs, 1, "inputs")
    create = flag(rt, arg(args, kwargs, 4, "create_graph", False), site)
    retain_arg = arg(args, kwargs, 3, "retain_graph", None)
    retain = retains(rt, retain_arg, create, site)
    outs = [outputs] if type(outputs) in (Tensor, Sym) else rt.shared.objects.listed(rt, outputs, site)[0]
    single = type(inputs) in (Tensor, Sym)
    wanted = [inputs] if single else rt.shared.objects.listed(rt, inputs, site)[0]
    known = [w for w in wanted if type(w) is Tensor]
    for t in known:
        t.used_grad = True
    if any(type(w) is Sym for w in wanted) or any(type(o) is Sym and o.node is None for o in outs):
        return tuple(rt.fresh(site) for _ in wanted)
    for out in outs:
        if type(out) is Tensor and out.guess == 0 and out.edge() is None:
            rt.shared.observe.no_grad_fn(rt, out, site)
    for t in known:
        if not t.requires_grad and t.guess == 0:
            rt.shared.observe.grad_input(rt, t, site)
    run = backward(rt, outs, site, retain, create, known, retain_arg is not None, collect=True)
    made: dict[int, Node | None] = {}
    roots = [n for n in (node_of(o) for o in outs) if n is not None]
    zeros = bool(rt.known(arg(args, kwargs, 8, "materialize_grads", False), site))
    unused = _unused(rt, known, roots) if run is not None and not zeros else set()
    if unused:
        allowed = rt.known(arg(args, kwargs, 6, "allow_unused", None), site)
        if allowed is False:
            raise Raised("RuntimeError")
        unused = unused if allowed else set()
    if create and run is not None:
        # The walk again, to know what was executed; it frees nothing since create_graph retains.
        silent = Pass(site, rt.where, run.index, True, True)
        try:
            executed = run_backward(roots, silent, known, accumulate=False)
        except TapeError:
            executed = set()
        given = arg(args, kwargs, 2, "grad_outputs", None)
        edges = [node_of(t) for t in (tensors_in(given) if given is not None else ())]
        made = Gradients(rt, roots, executed, site, [e for e in edges if e is not None]).of
    return tuple(None if id(t) in unused else _gradient(rt, made.get(id(t.edge())), site) for t in known)


def _unused(rt: Any, wanted: list[Tensor], roots: list[Node]) -> set[int]:
    """Those inputs that the outputs are surely not made from; how a module uses its own is not always seen."""
    below = list(reachable(roots))
    if any(node.guess for node in below):
        return set()
    ids = {id(node) for node in below}
    return {id(t) for t in wanted if not t.guess and id(t) not in rt.owners and id(t.edge()) not in ids}


def _gradient(rt: Any, double: Node | None, site: Site) -> Tensor:
    """A gradient as a tensor: with the graph that ``create_graph`` gave it, or without."""
    return tensors.attach(rt, double, site) if double is not None else tensors.graphless(rt, site)


def autograd_backward(rt: Any, site: Site, args: list, kwargs: dict[str, Any]) -> None:
    """``torch.autograd.backward(tensors, grad_tensors, retain_graph, create_graph, ...)``."""
    if "retain_variables" in kwargs:
        raise Raised("TypeError", sure=True)  # as torch 0.1 allowed
    roots = arg(args, kwargs, 0, "tensors")
    create = flag(rt, arg(args, kwargs, 3, "create_graph", False), site)
    retain_arg = arg(args, kwargs, 2, "retain_graph", None)
    retain = retains(rt, retain_arg, create, site)
    values = [roots] if type(roots) in (Tensor, Sym) else rt.shared.objects.listed(rt, roots, site)[0]
    backward(
        rt, values, site, retain, create, _inputs(rt, kwargs.get("inputs"), site), retain_arg is not None
    )


# -- grad mode ----------------------------------------------------------------------------------------


def _mode_class(name: str, grad_on: bool | None, inference: bool) -> Class:
    cls = Class(name)
    cls.flags = frozenset({"gradmode", "inert"})
    cls.ns["mode"] = (grad_on, inference)

    def build(rt: Any, cls_: Class, args: list, kwargs: dict, site: Site) -> Any:
        if args and type(args[0]).__name__ == "Func":
            return rt.shared.decorators.with_mode(args[0], (grad_on, inference, site))
        mode: Any = grad_on
        if name == "set_grad_enabled":
            given = arg(args, kwargs, 0, "mode", True)
            mode = given if type(given) is Sym and rt.known(given) is None else rt.known(given, site)
            if type(mode) is Sym:
                mode = rt.part(mode, site)
            obj = Obj(cls_, (mode, False))
            # As a statement it takes effect at once; as a context manager its exit restores.
            obj.attrs["prev"] = rt.grad
            if not mode:
                rt.mode_site = site
            _switch(rt, bool(mode))
            return obj
        if name == "inference_mode" and args and rt.known(args[0]) is False:
            return Obj(cls_, (None, False))
        return Obj(cls_, (mode, inference))

    cls.build = build
    cls.ns["__init__"] = Native("__init__", lambda *_: None)
    cls.ns["__call__"] = Native(
        "__call__", lambda rt, site, args, kwargs: rt.shared.decorators.in_mode(rt, args[0], args[1], site)
    )
    cls.ns["__enter__"] = Native("__enter__", lambda rt, site, args, kwargs: _entered(rt, args[0], site))
    cls.ns["__exit__"] = Native("__exit__", lambda rt, site, args, kwargs: _left(rt, args[0]))
    return cls


def _entered(rt: Any, mode: Obj, site: Site) -> None:
    """``mode.__enter__()`` written out; a ``with`` keeps its own token."""
    rt.put(mode.attrs, "entered", (*mode.attrs.get("entered", ()), rt.shared.contexts.enter(rt, mode, site)))


def _left(rt: Any, mode: Obj) -> None:
    tokens = mode.attrs.get("entered", ())
    if tokens:
        rt.put(mode.attrs, "entered", tokens[:-1])
        rt.shared.contexts.restore(rt, tokens[-1])


def _switch(rt: Any, mode: bool) -> None:
    if rt.trying and rt.grad != mode:
        rt.events += 0
    rt.grad = mode


NO_GRAD: Class = _mode_class("no_grad", False, False)
ENABLE_GRAD: Class = _mode_class("enable_grad", True, False)
INFERENCE: Class = _mode_class("inference_mode", False, True)
SET_GRAD: Class = _mode_class("set_grad_enabled", None, False)


# -- user-defined Functions -----------------------------------------------------------------------------


def apply(rt: Any, cls: Class, args: list, kwargs: dict[str, Any], site: Site) -> Any:
    """``MyFunction.apply(*args)``: forward runs without grad; the result has one node of its own."""
    forward = cls.find("forward")
    if forward is MISSING:
        return rt.fresh(site)
    context = Obj(CONTEXT)
    context.attrs["needs_input_grad"] = tuple(node_of(a) is not None for a in args)
    inner = forward.func if hasattr(forward, "func") else forward
    before = rt.grad
    rt.grad = False
    try:
        has_setup = cls.find("setup_context") is not MISSING
        out = rt.shared.calls.call(rt, inner, args if has_setup else [context, *args], kwargs, site)
        if has_setup:
            setup = cls.find("setup_context")
            setup = setup.func if hasattr(setup, "func") else setup
            rt.shared.calls.call(rt, setup, [context, tuple(args), out], {}, site)
    finally:
        rt.grad = before
    edges = tuple(e for e in (node_of(a) for a in args) if e is not None)
    if not edges or not rt.grad:
        return out
    kept = context.data or []
    saved = [e for e in (tensors.saved_entry(v, "saved") for v in kept) if e is not None]
    reads = cls.find("backward") is not MISSING and "saved_tensors" in _names(cls)
    saves = ALWAYS if saved and reads else DEPENDS if saved else 0
    node = rt.record(cls.name, edges, saves, site, tuple(saved), False, max(e.guess for e in edges))
    outs = []
    for t in out if isinstance(out, tuple) else (out,):
        outs.append(tensors.attach(rt, node, site) if type(t) in (Tensor, Sym) else t)
    return tuple(outs) if isinstance(out, tuple) else outs[0]


def _names(cls: Class) -> set[str]:
    import ast

    if cls.node is None:
        return set()
    return {n.attr for n in ast.walk(cls.node) if isinstance(n, ast.Attribute)}


def _save(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    args[0].data = [t for v in args[1:] for t in tensors_in(v)]


CONTEXT = Class("FunctionCtx")
CONTEXT.opaque = True
CONTEXT.ns["save_for_backward"] = Native("save_for_backward", _save)
FUNCTION: Class = Class("Function")
FUNCTION.flags = frozenset({"function"})


def checkpoint(rt: Any, site: Site, args: list, kwargs: dict[str, Any]) -> Any:
    """``torch.utils.checkpoint.checkpoint(fn, *args)``: as calling fn."""
    kwargs = {
        k: v
        for k, v in kwargs.items()
        if k
        not in (
            "use_reentrant",
            "preserve_rng_state",
            "context_fn",
            "determinism_check",
            "debug",
            "early_stop",
        )
    }
    return rt.shared.calls.call(rt, args[0], args[1:], kwargs, site)


__all__ = [
    "Bound",
    "LDict",
    "LList",
    "Raised",
    "apply",
    "autograd_backward",
    "backward",
    "grad",
    "tensor_backward",
]
