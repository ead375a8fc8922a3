"""Themes: the skeleton of a loop's body, chosen so that every kind of outcome is met often enough.

A theme writes the statements of one iteration in order, and may add declarations, statements at the
start and the end of an epoch, and statements after the loop. Noise and wrapping come later.
"""

from __future__ import annotations

from . import modules, rarer
from .builder import Builder
from .carriers import carrier
from .expressions import cut, keep, scalar, vec
from .plan import Plan, train
from .training import backward, gatherer, scalar_cut, step, zero
from .tree import Compound, Node


def _param(b: Builder) -> str:
    return b.pick(b.params)


def _no_grad(b: Builder, body: list[Node]) -> Compound:
    form = b.pick(["torch.no_grad()"] * 5 + ["torch.set_grad_enabled(False)", "torch.inference_mode()"])
    b.note("with " + form)
    return Compound(f"with {form}:", body)


def carry(b: Builder) -> Plan:
    """A value of one iteration is used by the next."""
    plan = Plan()
    form = b.weighted({"carrier": 7, "module": 2, "recurrent": 1.3, "two": 1.3})
    retain = 0.06
    if form == "module":
        call, reset = modules.stateful(b)
        plan.body = [f"out = {call}({vec(b, ['x'], depth=1)})", *train(b, ["out"], retain)]
        if b.chance(0.3):
            plan.epoch_start += reset
        elif b.chance(0.25):
            plan.body = reset + plan.body if b.chance(0.5) else plan.body + reset
        elif b.chance(0.2):
            plan.body.append(Compound(f"if {b.condition()}:", reset))
        return plan
    if form == "recurrent":
        calls, out, cuts = modules.recurrent(b)
        plan.body = [*[c.format(x="x") for c in calls], *train(b, [out], retain)]
        if b.chance(0.5):
            plan.body = cuts + plan.body if b.chance(0.5) else plan.body + cuts
            b.note("recurrent cut")
        return plan
    carriers = [carrier(b) for _ in range(2 if form == "two" else 1)]
    reads = [cut(b, c.read) if b.chance(0.12) else c.read for c in carriers]
    plan.body = train(b, reads, retain)
    for c in carriers:
        value = b.pick(
            ["v", "v", "v", vec(b, ["v"]), vec(b, [c.read, _param(b)]), c.read + " + " + _param(b)]
        )
        value = cut(b, value) if b.chance(0.34) else keep(b, value)
        stored: list[Node] = c.store(value)
        if b.chance(0.07):
            stored = [_no_grad(b, stored)]
        if b.chance(0.15):
            stored = [
                Compound(
                    f"if {b.condition()}:", stored, [("else:", c.store(cut(b, "v")))] if b.chance(0.4) else []
                )
            ]
        at = b.rng.randint(1, len(plan.body))
        plan.body[at:at] = stored
        if b.chance(0.15):
            b.note("conditional reset")
            plan.body.insert(0, Compound(f"if {b.condition()}:", c.reset))
        elif b.chance(0.12):
            plan.epoch_start += c.reset
    return plan


def outside(b: Builder) -> Plan:
    """A graph is built once, outside the loop, and used by every iteration."""
    plan = Plan()
    form = b.weighted(
        {"name": 5, "dict": 1, "list": 1, "view": 1.5, "generator": 0.5, "layer": 1, "epoch": 2}
    )
    b.note(f"outside {form}")
    value = f"{_param(b)}.view(-1)" if form == "view" else vec(b, [_param(b)])
    if form == "layer" and b.layers:
        value = f"{b.pick(b.layers)}(torch.ones(3))"
    value = value.replace("x", "torch.ones(3)") if value == "x" else value
    value = cut(b, value) if b.chance(0.2) else value
    if form == "dict":
        ref = b.declare("table", f'{{"g": {value}}}') + '["g"]'
    elif form == "list":
        ref = b.declare("parts", f"[{value} for _ in range(2)]") + "[0]"
    elif form == "generator":
        ref = b.declare("pairs", f"tuple({value} for _ in range(2))") + "[1]"
    else:
        ref = b.declare("base", value)
    if form == "epoch":
        b.decl.pop()
        plan.epoch_start.append(f"{ref} = {value}")
    if form == "name" and b.chance(0.1):
        b.decl[-1] = _no_grad(b, [b.decl[-1]])
    plan.body = train(b, [ref], 0.12)
    if b.chance(0.12):
        plan.body.insert(0, f"{ref} = {vec(b, [_param(b)])}" if b.chance(0.5) else f"{ref} = {ref}.detach()")
    return plan


def shared(b: Builder) -> Plan:
    """Two backward calls in one pass share a part, or are kept from it."""
    f = f"f = {vec(b, ['x', _param(b)])}"
    use = "f" if b.chance(0.65) else cut(b, "f")
    first, second = f"first = {scalar(b, ['f'])}", f"second = {scalar(b, [use, _param(b)])}"
    form = b.weighted({"two": 5, "sum": 1.2, "list": 0.8, "grad": 1.2, "swap": 1, "again": 1})
    b.note(f"shared {form}")
    body: list[Node] = [f, first]
    if form == "sum":
        body += [second, *zero(b), *backward(b, "(first + second)"), *step(b)]
    elif form == "list":
        body += [second, *zero(b), "torch.autograd.backward([first, second])", *step(b)]
    elif form == "grad":
        option = b.pick(["", ", retain_graph=True", ", create_graph=True"])
        body += [
            f"(g,) = torch.autograd.grad(first, [{b.pick(['f', _param(b)])}]{option}, allow_unused=True)"
        ]
        body += [second, *backward(b, "second"), *step(b)]
    elif form == "again":
        body += [*backward(b, "first", 0.5), *step(b, 0.2), *backward(b, "first", 0.2), *step(b)]
    else:
        middle = [*backward(b, "first", 0.35), *step(b, 0.3)]
        last = [*backward(b, "second"), *step(b)]
        body += [second, *zero(b), *middle, *last] if form == "two" else [*zero(b), *middle, second, *last]
    return Plan(body)


def modified(b: Builder) -> Plan:
    """Something that a backward needs is changed in place (or only seems to be)."""
    plan = Plan()
    w = _param(b)
    form = b.weighted({"value": 5, "retained": 3, "weight": 2.5, "buffer": 1.5})
    b.note(f"modified {form}")
    if form == "value":
        saves = b.pick(
            ["torch.exp({w} * 0.1)", "torch.tanh({w})", "{w}.sigmoid()", "{w} * x", "{w} + x", "{w} * {w}"]
        )
        change = b.pick(
            ["v.add_(1.0)", "v *= 2.0", "v[0] = 0.0", "v.zero_()", "v.fill_(1.0)", "v.copy_(x)", "v += x"]
        )
        if b.chance(0.15):
            change = change.replace("v.", "v.data.", 1) if change.startswith("v.") else "v.detach().add_(1.0)"
        target: list[Node] = [_no_grad(b, [change])] if b.chance(0.15) else [change]
        use = [
            f"y = {b.pick(['v * 2.0', 'v ** 2', 'v + 1.0', 'torch.sin(v)', 'v * ' + w])}",
            f"loss = {scalar(b, ['y'])}",
        ]
        order = (
            [*target, *use]
            if b.chance(0.45)
            else [use[0], *target, use[1]]
            if b.chance(0.7)
            else [*use, *target]
        )
        plan.body = [f"v = {saves.format(w=w)}", *order, *zero(b), *backward(b, "loss"), *step(b)]
    elif form == "retained":
        b.saving = "always"
        plan.body = [f"v = {vec(b, [w, 'x'])}", f"y = v * {_param(b)}", f"first = {scalar(b, ['y'])}"]
        plan.body += [f"second = {scalar(b, ['y', 'v'])}", "first.backward(retain_graph=True)"]
        plan.body += [*step(b, 0.8), *backward(b, "second"), *step(b, 0.5)]
    elif form == "weight":
        plan.body = train(b, [w])
        change = b.pick([f"{w}.mul_(0.9)", f"{w}.add_(0.1)", f"{w}.data.mul_(0.9)", f"{w}.copy_({w} * 0.5)"])
        at = b.rng.randint(1, len(plan.body))
        plan.body.insert(at, Compound("with torch.no_grad():", [change]))
    else:
        buffer = b.declare("scale", "torch.ones(3)")
        plan.body = train(b, [buffer])
        change = b.pick(
            ["{b}.add_(1.0)", "{b} += x", "{b}[1] = 2.0", "{b}.copy_(v.detach())", "{b} = {b} + 1.0"]
        )
        plan.body.insert(b.rng.randint(1, len(plan.body)), change.format(b=buffer))
    return plan


def grow(b: Builder) -> Plan:
    """Values are gathered over iterations: with their graph, without it, or to be consumed later."""
    plan = Plan()
    sums = [gatherer(b) for _ in range(2 if b.chance(0.15) else 1)]
    trains = b.chance(0.5)
    plan.body = (
        train(b, ["x"]) if trains else [f"v = {vec(b, ['x', _param(b)])}", f"loss = {scalar(b, ['v'])}"]
    )
    for total in sums:
        value = b.pick(["loss", "loss", "loss", "v.sum()", scalar(b, ["v"])])
        is_cut = b.chance(0.14)
        if is_cut:
            value = scalar_cut(
                b, value if value.isalpha() or (value.endswith(")") and " " not in value) else f"({value})"
            )
        add: list[Node] = [total.add.format(v=value)]
        if b.chance(0.08):
            add = [_no_grad(b, add)]
        if b.chance(0.2):
            add = [Compound(f"if {b.condition()}:", add)]
        at = b.rng.randint(2, len(plan.body))
        plan.body[at:at] = add
        fate = b.weighted({"none": 11, "consumed": 1.6, "epoch": 1, "reset": 0.7, "window": 0.8})
        if is_cut and fate in ("consumed", "window"):
            fate = "epoch"
        b.note(f"gathered {fate}")
        if fate == "consumed":
            plan.epoch_start.append(total.reset)
            plan.epoch_end += [*zero(b), f"({total.total}).backward()", *step(b)]
        elif fate == "epoch":
            plan.epoch_start.append(total.reset)
        elif fate == "reset":
            plan.body.append(
                total.reset if b.chance(0.3) else Compound(f"if {b.condition()}:", [total.reset])
            )
        elif fate == "window" and b.counter:
            plan.body.append(
                Compound(f"if {b.counter} % 3 == 2:", [f"({total.total}).backward()", total.reset])
            )
    if not trains and b.chance(0.12):
        plan.body = [_no_grad(b, plan.body)]
    return plan


def cut_off(b: Builder) -> Plan:
    """The loss has lost its graph, wholly, in some iterations, or only in part."""
    plan = Plan()
    must = [_param(b)]
    form = b.weighted(
        {"value": 3, "loss": 3, "no_grad": 2.5, "part": 2, "switch": 1, "frozen": 1, "leaf": 1, "argmax": 1}
    )
    b.note(f"cut off {form}")
    make, loss = f"v = {vec(b, must)}", f"loss = {scalar(b, ['v'])}"
    plan.body = [make, loss]
    if form in ("value", "part"):
        plan.body.insert(1, f"v = {cut(b, 'v')}" + (f" + {_param(b)}" if form == "part" else ""))
    elif form == "loss":
        plan.body.append(
            b.pick(
                [
                    "loss = loss.detach()",
                    "loss = loss.data",
                    "loss = torch.tensor(loss.item())",
                    "loss = loss.detach_()",
                ]
            )
        )
    elif form == "no_grad":
        plan.body = [_no_grad(b, plan.body if b.chance(0.6) else [plan.body[0]]), *plan.body[2:]]
        if len(plan.body[0].body) == 1:  # type: ignore[union-attr]
            plan.body.append(loss)
    elif form == "switch":
        plan.body = [f"torch.set_grad_enabled({b.pick(['False', b.known(), 'True'])})", *plan.body]
        if b.chance(0.5):
            plan.body.append("torch.set_grad_enabled(True)")
    elif form == "frozen":
        plan.epoch_start += [f"{p}.requires_grad_(False)" for p in b.params[: b.pick([1, 2, 3])]]
    elif form == "leaf":
        plan.body += [
            "loss = loss.detach()",
            b.pick(["loss.requires_grad = True", "loss.requires_grad_(True)"]),
        ]
    else:
        plan.body[1:1] = [
            "v = (v == v.max()).float()" if b.chance(0.5) else "v = F.one_hot(v.argmax(), 3).float()"
        ]
    if b.chance(0.35) and len(plan.body) > 2 and isinstance(plan.body[-1], str):
        other: list[Node] = [f"loss = {scalar(b, must)}"]
        clauses = [("else:", other)] if plan.body[-1].startswith("loss =") or form == "value" else []
        plan.body[-1] = Compound(f"if {b.condition()}:", [plan.body[-1]], clauses)
    plan.body += [*zero(b), *backward(b, "loss", 0.03), *step(b)]
    return plan


def leaf(b: Builder) -> Plan:
    """A leaf that trains is changed in place, rightly or not."""
    plan = Plan(train(b, ["x"]))
    w = _param(b)
    change = b.pick(
        [
            f"{w}.add_(0.1)",
            f"{w} += 0.1",
            f"{w}[0] = 0.0",
            f"{w}.zero_()",
            f"{w}.mul_(0.9)",
            f"{w}.copy_(x)",
            f"{w}[:2].mul_(0.5)",
            f"{w}.view(-1).add_(0.1)",
            f"{w}.fill_(1.0)",
            f"{w}[1] += 1.0",
            f"{w}.clamp_(-1.0, 1.0)",
        ]
    )
    form = b.weighted({"bare": 5, "no_grad": 2.5, "data": 1.5, "detach": 1, "rebound": 1})
    b.note(f"leaf change {form}")
    statement: Node = change
    if form == "no_grad":
        statement = Compound("with torch.no_grad():", [change])
    elif form == "data":
        statement = f"{w}.data.mul_(0.9)"
    elif form == "detach":
        statement = f"{w}.detach().add_(0.1)"
    elif form == "rebound":
        statement = b.pick([f"{w} = {w} - 0.01", f"{w} = ({w} * 0.9).detach().requires_grad_(True)"])
    if b.chance(0.35):
        statement = Compound(f"if {b.condition()}:", [statement])
    where = b.weighted({"body": 7, "epoch": 1.5, "before": 1})
    if where == "body":
        plan.body.insert(b.rng.choice([0, 1, len(plan.body), len(plan.body)]), statement)
    elif where == "epoch":
        plan.epoch_end.append(statement)
    else:
        b.decl.append(
            statement if isinstance(statement, str) and "x" not in statement else f"{w}.data.mul_(0.5)"
        )
    return plan


def plain(b: Builder) -> Plan:
    """Ordinary training with logs that hold no graph."""
    plan = Plan(train(b, ["x"], 0.02))
    if b.chance(0.6):
        total = gatherer(b)
        plan.body.append(total.add.format(v=scalar_cut(b, "loss")))
        if b.chance(0.4):
            plan.epoch_start.append(total.reset)
    if b.chance(0.4):
        held = carrier(b)
        plan.body[1:1] = [f"old = {held.read}.detach()"]
        plan.body += held.store(cut(b, "v")) if not held.in_place else held.reset
    return plan


THEMES = {
    "carry": (carry, 7.0),
    "outside": (outside, 3.0),
    "shared": (shared, 3.0),
    "modified": (modified, 3.0),
    "grow": (grow, 17.0),
    "cut_off": (cut_off, 3.0),
    "leaf": (leaf, 2.0),
    "plain": (plain, 1.5),
    "penalty": (rarer.penalty, 0.9),
    "meta": (rarer.meta, 0.9),
    "step_closure": (rarer.step_closure, 0.8),
    "function": (rarer.function, 0.9),
    "phases": (rarer.phases, 1.2),
}


def choose(b: Builder) -> tuple[str, Plan]:
    """A theme, and now and then two of them in one body."""
    name = b.weighted({k: weight for k, (_, weight) in THEMES.items()})
    plan = THEMES[name][0](b)
    if b.chance(0.1):
        other = b.weighted({k: weight for k, (_, weight) in THEMES.items()})
        more = THEMES[other][0](b)
        plan.body += more.body
        plan.epoch_start += more.epoch_start
        plan.epoch_end += more.epoch_end
        name = f"{name}+{other}"
    return name, plan
