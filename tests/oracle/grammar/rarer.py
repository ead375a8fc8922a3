"""Rarer themes: inner gradients, fast weights, step closures, user-written Functions, loops of phases."""

from __future__ import annotations

from .builder import Builder
from .expressions import cut, scalar, vec
from .plan import Plan, train
from .training import backward, step, zero
from .tree import Compound, Node


def penalty(b: Builder) -> Plan:
    """A gradient of a loss is part of another loss (gradient penalties, adaptive weights)."""
    w = b.pick(b.params)
    b.saving = "always"
    option = b.pick([", create_graph=True"] * 4 + [", retain_graph=True", ""])
    b.note("penalty" + option)
    body: list[Node] = [
        f"v = {vec(b, [w, 'x'])}",
        f"first = {scalar(b, ['v'])}",
        f"(g,) = torch.autograd.grad(first, [{w}]{option}, allow_unused=True)",
    ]
    weight = b.pick(["(g ** 2).sum()", "g.norm()", "g.norm().detach()", "float(g.norm())"])
    body.append(f"loss = {b.pick(['first', 'first', 'first.detach()', scalar(b, ['v', w])])} + {weight}")
    return Plan([*body, *zero(b), *backward(b, "loss"), *step(b)])


def meta(b: Builder) -> Plan:
    """Fast weights: inner steps on a copy of the weights, one outer backward through them."""
    w = b.pick(b.params)
    b.note("fast weights")
    carried = b.chance(0.3)
    fast = b.declare("fast", f"{w} * 1.0") if carried else b.fresh("fast")
    option = b.pick([", create_graph=True"] * 3 + ["", ", retain_graph=True"])
    index = b.fresh("j")
    inner: list[Node] = [
        f"first = {scalar(b, [fast, 'x'])}",
        f"(g,) = torch.autograd.grad(first, [{fast}]{option}, allow_unused=True)",
        f"{fast} = {fast} - 0.1 * (0.0 if g is None else {b.pick(['g', 'g', 'g.detach()'])})",
    ]
    start = (
        []
        if carried and b.chance(0.8)
        else [f"{fast} = {b.pick([f'{w} * 1.0', f'{w}.clone()', cut(b, w) + ' + ' + w])}"]
    )
    body: list[Node] = [
        *start,
        Compound(f"for {index} in range(2):", inner),
        f"loss = {scalar(b, [fast, 'x'])}",
    ]
    return Plan([*body, *zero(b), *backward(b, "loss", 0.05), *step(b)])


def step_closure(b: Builder) -> Plan:
    """The optimizer calls the loss itself (once, or several times as LBFGS does)."""
    w = b.pick(b.params)
    kind = b.pick(["SGD", "LBFGS"])
    b.note(f"step closure {kind}")
    options = "lr=0.1, max_iter=3" if kind == "LBFGS" else "lr=0.01"
    opt = b.declare("solver", f"torch.optim.{kind}([{', '.join(b.params)}], {options})")
    name = b.fresh("closure")
    outside = b.chance(0.4)
    make = f"base = {vec(b, [w], depth=1)}"
    inside: list[Node] = [] if outside else [make]
    loss = scalar(b, ["base", b.pick(b.params)])
    inner: list[Node] = [f"{opt}.zero_grad()", *inside, f"loss = {loss}", "loss.backward()", "return loss"]
    call = b.pick([f"{opt}.step({name})", f"{opt}.step(closure={name})"])
    body: list[Node] = [*([make] if outside else []), Compound(f"def {name}():", inner), call]
    if b.chance(0.2) and outside:
        body[0] = f"base = {cut(b, make.removeprefix('base = '))}"
    return Plan(body)


def function(b: Builder) -> Plan:
    """A user-written Function that saves what its backward reads, or saves nothing."""
    saves = b.chance(0.6)
    b.note("user Function, saving" if saves else "user Function")
    name = "Scaled"
    forward: list[Node] = ["return value * 2.0"]
    body: list[Node] = ["return grad * 2.0"]
    if saves:
        forward.insert(0, "ctx.save_for_backward(value)")
        body = ["(value,) = ctx.saved_tensors", "return grad * 2.0 + 0.0 * value"]
    methods: list[Node] = [
        Compound("@staticmethod\ndef forward(ctx, value):", forward),
        Compound("@staticmethod\ndef backward(ctx, grad):", body),
    ]
    b.helper(name, f"class {name}(torch.autograd.Function):", methods)
    b.saving = b.pick(["never", "never", b.saving])
    ref = b.declare("h", b.pick(["torch.zeros(3)", f"{name}.apply({b.pick(b.params)})"]))
    steps = train(b, [f"{name}.apply({ref})"], 0.06)
    if b.chance(0.6):
        steps.append(f"{ref} = {b.pick(['v', 'v.detach()', f'{name}.apply(v)'])}")
    return Plan(steps)


def phases(b: Builder) -> Plan:
    """A training step and, in the same pass, an evaluation that records or keeps (or does neither)."""
    b.note("phases")
    plan = Plan(train(b, ["x"], 0.04))
    score = b.declare("scores", "[]")
    value = b.pick(["q", "q.sum()", "q.detach()", "float(q.sum())", "q.sum().item()", "q.max()"])
    inner: list[Node] = [f"q = {vec(b, [b.pick(b.params), 'sample'])}", f"{score}.append({value})"]
    loop: Node = Compound("for sample in [torch.ones(3) for _ in range(N)]:", inner)
    if b.chance(0.4):
        loop = Compound("with torch.no_grad():", [loop])
    if b.chance(0.3):
        loop = Compound(f"if {b.condition()}:", [loop])
    plan.epoch_end.append(loop)
    if b.chance(0.3):
        plan.epoch_start.append(b.pick([f"{score} = []", f"{score}.clear()"]))
    return plan
