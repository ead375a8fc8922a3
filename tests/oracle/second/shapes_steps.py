"""Shapes of training with a step of their own: hooks, hand-written updates, inner loops, losses without a graph."""

from __future__ import annotations

from .draft import Draft, Lines, Parts, block
from .loops import epochs, loop
from .models import model
from .tensors import backward, loss_of, maybe_cut, optimizer, update

_METER = """
class AverageMeter:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n

    @property
    def avg(self):
        return self.total / max(1, self.count)
"""
_HISTORY = """
class History:
    def __init__(self):
        self.records = {}

    def log(self, **values):
        for key, value in values.items():
            self.records.setdefault(key, []).append(value)
"""


def hooks(d: Draft) -> Parts:
    """Activations that a forward hook or a tensor hook keeps, for a penalty or for a look."""
    net, opt, acts, loss = (
        d.fresh("net", "model"),
        d.fresh("optimizer", "opt"),
        d.fresh("activations", "captured"),
        d.fresh("loss", "total_loss"),
    )
    fn = d.fresh("save_activation", "hook")
    value = maybe_cut(d, "output")
    as_list = d.chance(0.55)
    keep = f"{acts}.append({value})" if as_list else f'{acts}["out"] = {value}'
    used = d.chance(0.6)

    def body(i: str, x: str, y: str) -> Lines:
        lines = [f"{loss} = {loss_of(d, f'{net}({x})', y)}"]
        if used:
            lines += [
                f"{loss} = {loss} + 0.01 * "
                + (
                    d.pick(
                        [
                            f"{acts}[-1].pow(2).mean()",
                            f"sum(a.abs().mean() for a in {acts})",
                            f"torch.stack({acts}).mean()",
                        ]
                    )
                    if as_list
                    else f'{acts}["out"].pow(2).mean()'
                )
            ]
        lines += update(d, loss, opt)
        return [*lines, *([f"{acts}.clear()"] if d.careful() or d.chance(0.2) else [])]

    before, run = loop(d, body)
    setup = [
        f"{net} = {d.pick(['nn.Linear(3, 3)', 'nn.Sequential(nn.Linear(3, 3), nn.Tanh())', model(d)])}",
        f"{opt} = {optimizer(d, f'{net}.parameters()')}",
        f"{acts} = {'[]' if as_list else '{}'}",
        *block(f"def {fn}(module, inputs, output):", [keep]),
        d.pick([f"{net}.register_forward_hook({fn})", f"handle = {net}.register_forward_hook({fn})"]),
        *before,
    ]
    return Parts(setup, epochs(d, run))


def lost_graph(d: Draft) -> Parts:
    """A loss that may have lost its graph on the way: item, numpy, argmax, no_grad, an evaluation mode."""
    net, opt, out, loss = (
        d.fresh("net", "model"),
        d.fresh("optimizer", "opt"),
        d.fresh("out", "pred"),
        d.fresh("loss", "obj"),
    )
    ways = {
        "item": [
            f"{out} = {net}({{x}})",
            f"{loss} = torch.tensor({loss_of(d, out, '{y}')}.item(), requires_grad={d.pick(['False', 'True'])})",
        ],
        "argmax": [
            f"{out} = {net}({{x}}).argmax(dim=1).float()",
            f"{loss} = ({out} - {{y}}[:, 0]).pow(2).mean()",
        ],
        "no_grad": [
            *block("with torch.no_grad():", [f"{out} = {net}({{x}})"]),
            f"{loss} = {loss_of(d, out, '{y}')}",
        ],
        "detach": [f"{out} = {net}({{x}}).detach()", f"{loss} = {loss_of(d, out, '{y}')}"],
        "compared": [f"{out} = ({net}({{x}}) > 0).float()", f"{loss} = {loss_of(d, out, '{y}')}"],
        "listed": [
            f"{out} = [{net}({{x}}).mean().item() for _ in range(2)]",
            f"{loss} = torch.tensor({out}).mean()",
        ],
        "numpy": [
            f"{out} = torch.from_numpy({net}({{x}}).detach().numpy())",
            f"{loss} = {loss_of(d, out, '{y}')}",
        ],
        "made a leaf": [
            f"{loss} = {loss_of(d, f'{net}({{x}})', '{y}')}.detach()",
            f"{loss}.requires_grad = True",
        ],
    }
    right = [f"{out} = {net}({{x}})", f"{loss} = {loss_of(d, out, '{y}')}"]
    wrong = ways[d.pick(list(ways), "lost by")]

    def body(i: str, x: str, y: str) -> Lines:
        fill = lambda lines: [line.replace("{x}", x).replace("{y}", y) for line in lines]  # noqa: E731
        if d.careful():
            lines = fill(right)
        elif d.chance(0.2):
            test = d.flag() if d.chance(0.6) else f"{i} == {d.pick(['2', '3'])}"
            lines = [*block(f"if {test}:", fill(wrong)), *block("else:", fill(right))]
        else:
            lines = fill(wrong)
        if d.chance(0.1):
            return [*lines, *block(f"if {loss}.requires_grad:", update(d, loss, opt))]
        return [*lines, *update(d, loss, opt)]

    before, run = loop(d, body)
    return Parts(
        [f"{net} = {model(d)}", f"{opt} = {optimizer(d, f'{net}.parameters()')}", *before], epochs(d, run)
    )


def by_hand(d: Draft) -> Parts:
    """Leaves that are updated by hand, in place or anew, under no_grad or not."""
    w, b, loss, lr = (
        d.fresh("w", "weight"),
        d.fresh("b", "bias"),
        d.fresh("loss", "mse"),
        d.pick(["0.01", "1e-3"]),
    )
    under = d.careful()
    rules = {"in place": 3, "sub_": 2, "data": 2, "rebind": 1.5, "rebind detached": 1.5, "copy_": 0.7}
    rule = d.pick(rules, "update by hand")

    def body(i: str, x: str, y: str) -> Lines:
        lines = [f"{loss} = {loss_of(d, f'({x} * {w} + {b})', y)}"]
        if d.chance(0.35):
            gw = d.fresh("gw", "grad_w")
            lines += [f"{gw}, gb = torch.autograd.grad({loss}, [{w}, {b}])"]
            grads = (gw, "gb")
        else:
            lines += backward(d, loss)
            grads = (f"{w}.grad", f"{b}.grad")
        new: Lines = []
        for leaf, g in zip((w, b), grads, strict=True):
            new += {
                "in place": [f"{leaf} -= {lr} * {g}"],
                "sub_": [f"{leaf}.sub_({lr} * {g})"],
                "data": [f"{leaf}.data -= {lr} * {g}"],
                "rebind": [f"{leaf} = {leaf} - {lr} * {g}"],
                "copy_": [f"{leaf}.copy_({leaf} - {lr} * {g})"],
                "rebind detached": [f"{leaf} = ({leaf} - {lr} * {g}).detach().requires_grad_()"],
            }[rule]
        if rule in ("in place", "sub_", "copy_") and under or rule == "rebind" and d.chance(0.4):
            new = block("with torch.no_grad():", new)
        clear = (
            [f"{leaf}.grad = None" if d.chance(0.5) else f"{leaf}.grad.zero_()" for leaf in (w, b)]
            if ".grad" in grads[0] and "rebind" not in rule
            else []
        )
        return [*lines, *new, *clear]

    before, run = loop(d, body)
    leaf = d.pick(
        [
            "torch.randn({s}, requires_grad=True)",
            "nn.Parameter(torch.randn({s}))",
            "torch.ones({s}).requires_grad_(True)",
        ]
    )
    return Parts([f"{w} = {leaf.format(s='3')}", f"{b} = {leaf.format(s='3')}", *before], epochs(d, run))


def meta(d: Draft) -> Parts:
    """An inner loop over fast weights, and an outer step through it, to first or second order."""
    w, opt, loss, fast, lr = (
        d.fresh("meta_w", "theta"),
        d.fresh("meta_opt", "outer"),
        d.fresh("outer_loss", "meta_loss"),
        d.fresh("fast", "adapted"),
        d.pick(["0.1", "inner_lr"]),
    )
    second = d.pick({"create_graph=True": 3 if d.careful() else 2, "": 1.5, "retain_graph=True": 0.7})

    def body(i: str, x: str, y: str) -> Lines:
        j, li, g = d.fresh("j", "inner_step"), d.fresh("inner_loss", "li"), d.fresh("g", "grad")
        restart = [f"{fast} = {d.pick([w, f'{w}.clone()', f'{w} * 1.0', f'{w} + 0.0'])}"]
        call = f"torch.autograd.grad({li}, {fast}{', ' + second if second else ''})[0]"
        inner = [
            f"{li} = {loss_of(d, f'({x} @ {fast})', y)}",
            f"{g} = {call}",
            f"{fast} = {fast} - {lr} * {g if d.careful() or d.chance(0.5) else f'{g}.detach()'}",
        ]
        lines = [
            *(restart if d.careful() or d.chance(0.4) else []),
            *block(f"for {j} in range({d.pick(['1', '2', '3'])}):", inner),
        ]
        lines += [f"{loss} = {loss_of(d, f'({x} @ {fast})', y)}"]
        return [*lines, *update(d, loss, opt)]

    before, run = loop(d, body)
    setup = [
        f"{w} = nn.Parameter(torch.randn(3, 3))",
        *(["inner_lr = nn.Parameter(torch.tensor(0.1))"] if lr == "inner_lr" else []),
        f"{opt} = {optimizer(d, f'[{w}]')}",
        f"{fast} = {w}.clone()",
        *before,
    ]
    return Parts(setup, epochs(d, run))


def generated(d: Draft) -> Parts:
    """Losses that a generator yields: the pass runs between its steps."""
    net, opt, gen, loss = (
        d.fresh("net", "model"),
        d.fresh("optimizer", "opt"),
        d.fresh("loss_stream", "produce"),
        d.fresh("loss", "current"),
    )
    carried = d.chance(0.5)
    step = [
        "x = torch.randn(4, 3)",
        "h = torch.tanh(net(x) + h)" if carried else "h = net(x)",
        *(["yield h.pow(2).mean()"]),
        *(["h = " + maybe_cut(d, "h")] if carried else []),
    ]
    d.define(
        "\n".join(
            block(
                f"def {gen}(net, steps):", ["h = torch.zeros(4, 3)", *block("for _ in range(steps):", step)]
            )
        )
    )
    keep = d.fresh("seen", "kept")
    value = f"{loss}.item()" if d.careful() else loss
    body = [*update(d, loss, opt), f"{keep}.append({value})" if d.chance(0.5) else f"{keep} = [{value}]"]
    run = block(f"for {loss} in {gen}({net}, N):", body)
    return Parts(
        [f"{net} = {model(d)}", f"{opt} = {optimizer(d, f'{net}.parameters()')}", f"{keep} = []"],
        epochs(d, run),
    )
