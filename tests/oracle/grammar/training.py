"""The statements of a training step: backward calls, optimizer steps, sums and logs."""

from __future__ import annotations

from dataclasses import dataclass

from .builder import Builder
from .tree import Compound, Node


def optimizer(b: Builder) -> None:
    """Declare an optimizer over all parameters, most of the time."""
    if b.chance(0.15):
        b.note("no optimizer")
        return
    held = list(b.params + b.matrices)
    for layer in b.layers + b.recurrent:
        held.append(f"*{layer}.parameters()")
    groups = [held]
    if len(held) > 1 and b.chance(0.25):
        b.note("two optimizers")
        groups = [held[::2], held[1::2]]
    for group in groups:
        kind = b.pick(["SGD", "SGD", "Adam"])
        b.note(f"optimizer {kind}")
        momentum = ", momentum=0.9" if kind == "SGD" and b.chance(0.2) else ""
        b.optimizers.append(b.declare("opt", f"torch.optim.{kind}([{', '.join(group)}], lr=0.01{momentum})"))


def zero(b: Builder) -> list[Node]:
    """Reset the gradients, or forget to."""
    if not b.optimizers:
        return [f"{p}.grad = None" for p in b.params[:1]] if b.chance(0.3) else []
    if b.chance(0.2):
        return []
    b.note("zero_grad")
    return [f"{b.pick(b.optimizers)}.zero_grad({b.pick(['', '', '', 'set_to_none=False'])})"]


def step(b: Builder, p: float = 0.7) -> list[Node]:
    """Step the optimizer, or update a parameter by hand."""
    if not b.chance(p):
        return []
    if b.optimizers and not b.chance(0.08):
        b.note("optimizer.step")
        return [
            f"{optimizer}.step()" for optimizer in (b.optimizers if b.chance(0.4) else [b.pick(b.optimizers)])
        ]
    b.note("hand-written update")
    w = b.pick(b.params)
    update = b.pick(
        [f"{w}.sub_(0.01 * {w}.grad)", f"{w} -= 0.01 * {w}.grad", f"{w}.add_({w}.grad, alpha=-0.01)"]
    )
    guarded = Compound(f"if {w}.grad is not None:", [update])
    return [Compound("with torch.no_grad():", [guarded])]


def backward(b: Builder, loss: str, retain: float = 0.1) -> list[Node]:
    """One backward-like call on a loss."""
    form = b.weighted(
        {"plain": 60, "retain": 100 * retain, "false": 2, "function": 5, "list": 3, "scaled": 3, "grad": 5}
        | {"inputs": 3, "create": 3, "helper": 8, "no_grad": 1, "gradient": 2}
    )
    b.note(f"backward {form}")
    w = b.pick(b.params)
    if form == "grad":
        options = b.pick(["", "", ", retain_graph=True", ", create_graph=True"])
        g = b.fresh("g")
        taken = f"({g},) = torch.autograd.grad({loss}, [{w}]{options}, allow_unused=True)"
        use = b.pick(
            [f"{w}.grad = {g}", "pass", f"if {g} is not None:\n    {w}.data.sub_(0.01 * {g}.detach())"]
        )
        return [taken] if use == "pass" else [taken, use]
    if form == "helper":
        name = b.helper("run_backward", "def run_backward(value):", ["value.backward()"])
        return [f"{name}({loss})"]
    if form == "no_grad":
        return [Compound("with torch.no_grad():", [f"{loss}.backward()"])]
    forms = {
        "plain": "{x}.backward()",
        "retain": "{x}.backward(retain_graph=True)",
        "false": "{x}.backward(retain_graph=False)",
        "function": "torch.autograd.backward({x})",
        "list": "torch.autograd.backward([{x}])",
        "scaled": "({x} * 2.0).backward()",
        "inputs": "{x}.backward(inputs=[{w}])",
        "create": "{x}.backward(create_graph=True)",
        "gradient": "{x}.backward(torch.ones_like({x}))",
    }
    return [forms[form].format(x=loss, w=w)]


@dataclass
class Sum:
    """Something that gathers values over iterations: how to add, to reset, and to make one scalar of it."""

    kind: str
    add: str
    reset: str
    total: str


def gatherer(b: Builder) -> Sum:
    """Declare a sum, list, dict, attribute or buffer that gathers scalars."""
    kind = b.weighted(
        {
            "augmented": 4,
            "rebound": 3,
            "list": 5,
            "dict-list": 1.5,
            "dict-sum": 1.5,
            "meter": 2,
            "tensor-sum": 1.5,
        }
        | {"buffer": 1, "set": 0.4, "tuple": 0.6, "extend": 0.7, "insert": 0.4}
    )
    b.note(f"gatherer {kind}")
    if kind in ("augmented", "rebound", "tensor-sum"):
        start = "torch.zeros(())" if kind == "tensor-sum" else b.pick(["0.0", "0"])
        ref = b.declare("total", start)
        add = f"{ref} = {ref} + {{v}}" if kind == "rebound" else f"{ref} += {{v}}"
        return Sum(kind, add, f"{ref} = {start}", f"(0.0 + {ref})")
    if kind in ("list", "extend", "insert"):
        ref = b.declare("losses", "[]")
        add = {"list": ".append({v})", "extend": ".extend([{v}])", "insert": ".insert(0, {v})"}[kind]
        reset = b.pick([f"{ref} = []", f"{ref}.clear()", f"del {ref}[:]"])
        return Sum(kind, ref + add, reset, b.pick([f"sum({ref})", f"torch.stack({ref}).sum()"]))
    if kind == "set":
        ref = b.declare("seen_values", "set()")
        return Sum(kind, f"{ref}.add({{v}})", f"{ref}.clear()", f"sum({ref})")
    if kind == "tuple":
        ref = b.declare("kept_values", "()")
        return Sum(kind, f"{ref} = {ref} + ({{v}},)", f"{ref} = ()", f"sum({ref})")
    if kind == "dict-list":
        ref = b.declare("logs", '{"loss": []}')
        return Sum(kind, f'{ref}["loss"].append({{v}})', f'{ref}["loss"] = []', f'sum({ref}["loss"])')
    if kind == "dict-sum":
        ref = b.declare("stats", '{"loss": 0.0}')
        return Sum(kind, f'{ref}["loss"] += {{v}}', f'{ref}["loss"] = 0.0', f'({ref}["loss"] * 1.0)')
    if kind == "buffer":
        ref = b.declare("record", "torch.zeros(3)")
        slot = f"{b.counter} % 3" if b.counter else "0"
        return Sum(kind, f"{ref}[{slot}] += {{v}}", f"{ref} = torch.zeros(3)", f"{ref}.sum()")
    body: list[Node] = [
        Compound("def __init__(self):", ["self.sum = 0.0", "self.count = 0"]),
        Compound("def update(self, value, n=1):", ["self.sum += value * n", "self.count += n"]),
        Compound("def reset(self):", ["self.sum = 0.0", "self.count = 0"]),
    ]
    b.helper("Meter", "class Meter:", body)
    ref = b.declare("meter", "Meter()")
    return Sum(kind, f"{ref}.update({{v}})", f"{ref}.reset()", f"({ref}.sum / 1.0)")


def scalar_cut(b: Builder, value: str) -> str:
    """A scalar without its graph."""
    form = b.weighted({"item": 5, "detach": 4, "float": 2, "data": 1, "helper": 0.7})
    b.note(f"scalar cut {form}")
    if form == "helper":
        return b.helper("as_number", "def as_number(v):", ["return v.item()"]) + f"({value})"
    return {
        "item": f"{value}.item()",
        "detach": f"{value}.detach()",
        "float": f"float({value})",
        "data": f"{value}.data",
    }[form]
