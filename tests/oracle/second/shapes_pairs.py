"""Shapes of training with two graphs or two passes: teachers, closures, gradient penalties, auxiliary losses."""

from __future__ import annotations

from .draft import Draft, Lines, Parts, block
from .loops import epochs, loop
from .models import model
from .tensors import backward, loss_of, maybe_cut, operation, optimizer, update


def distillation(d: Draft) -> Parts:
    """A teacher, updated by a moving average or fixed, and a student with one loss or two."""
    stu, tea, opt, loss = (
        d.fresh("student", "net"),
        d.fresh("teacher", "target_net"),
        d.fresh("optimizer", "opt"),
        d.fresh("loss", "kd"),
    )
    d.use("import copy")
    frozen = d.careful()

    def body(i: str, x: str, y: str) -> Lines:
        t, s = d.fresh("t_out", "soft"), d.fresh("s_out", "pred")
        lines = [f"{s} = {stu}({x})"]
        lines += (
            block("with torch.no_grad():", [f"{t} = {tea}({x})"]) if d.careful() else [f"{t} = {tea}({x})"]
        )
        lines += [f"{loss} = {loss_of(d, s, y)} + {loss_of(d, s, maybe_cut(d, t))}", *update(d, loss, opt)]
        if d.chance(0.6):
            p, q = d.fresh("p", "ps"), d.fresh("q", "pt")
            rule = d.pick(
                [
                    f"{q}.mul_(0.9).add_({p}, alpha=0.1)",
                    f"{q}.copy_(0.9 * {q} + 0.1 * {p})",
                    f"{q}.data = 0.9 * {q}.data + 0.1 * {p}.data",
                    f"{q}.data.mul_(0.9).add_({p}.data * 0.1)",
                    f"{q}.lerp_({p}, 0.1)",
                ]
            )
            average = block(f"for {p}, {q} in zip({stu}.parameters(), {tea}.parameters()):", [rule])
            d.note("moving average of parameters")
            lines += (
                block("with torch.no_grad():", average) if ".data" not in rule and d.chance(0.85) else average
            )
        return lines

    before, run = loop(d, body)
    setup = [
        f"{stu} = {model(d)}",
        f"{tea} = copy.deepcopy({stu})",
        *([f"{tea}.requires_grad_(False)"] if frozen else []),
        f"{opt} = {optimizer(d, f'{stu}.parameters()')}",
    ]
    return Parts([*setup, *before], epochs(d, run))


def closure(d: Draft) -> Parts:
    """An optimizer that calls a closure, with something that may be built outside it."""
    net, opt = d.fresh("net", "fit"), d.fresh("optimizer", "lbfgs")
    kind = d.pick(
        {"torch.optim.LBFGS({p}, max_iter=3)": 2, "torch.optim.SGD({p}, lr=0.01)": 2}, "closure for"
    )

    def body(i: str, x: str, y: str) -> Lines:
        out, fn, loss = d.fresh("out", "pred"), d.fresh("closure", "evaluate"), d.fresh("loss", "l")
        outside = not d.careful() and d.chance(0.7)
        inner = [
            f"{opt}.zero_grad()",
            *([] if outside else [f"{out} = {net}({x})"]),
            f"{loss} = {loss_of(d, out, y)}",
            f"{loss}.backward()",
            f"return {loss}",
        ]
        lines = [f"{out} = {net}({x})"] if outside else []
        return [*lines, *block(f"def {fn}():", inner), f"{opt}.step({fn})"]

    before, run = loop(d, body)
    setup = [f"{net} = {model(d)}", f"{opt} = {kind.format(p=f'{net}.parameters()')}"]
    return Parts([*setup, *before], epochs(d, run))


def penalised(d: Draft) -> Parts:
    """A gradient penalty or a hand-made second order, through autograd.grad with create_graph."""
    net, opt, loss = d.fresh("net", "critic"), d.fresh("optimizer", "opt"), d.fresh("loss", "total")

    def body(i: str, x: str, y: str) -> Lines:
        xi, out, g = d.fresh("xi", "interp"), d.fresh("out", "score"), d.fresh("g", "grads")
        create = d.pick({", create_graph=True": 3 if d.careful() else 1.5, "": 1, ", retain_graph=True": 1})
        lines = [
            f"{xi} = {x}.clone().requires_grad_()",
            f"{out} = {net}({xi}).sum()",
            f"{g} = torch.autograd.grad({out}, {xi}{create})[0]",
        ]
        use = d.pick([f"({g}.norm(2, dim=1) - 1).pow(2).mean()", f"{g}.pow(2).sum()", f"{g}.abs().mean()"])
        main = d.pick([f"{loss_of(d, f'{net}({x})', y)} + ", f"{out} + ", f"{out} * 0.1 + ", ""])
        return [*lines, f"{loss} = {main}{use}", *update(d, loss, opt)]

    before, run = loop(d, body)
    return Parts(
        [f"{net} = {model(d)}", f"{opt} = {optimizer(d, f'{net}.parameters()')}", *before], epochs(d, run)
    )


def tower(d: Draft) -> Parts:
    """One loss a part, each with a backward of its own: what the parts share is up to the author."""
    net, opt = d.fresh("net", "stem"), d.fresh("optimizer", "opt")

    def body(i: str, x: str, y: str) -> Lines:
        a, b, l1, l2 = (
            d.fresh("a", "early"),
            d.fresh("b", "late"),
            d.fresh("loss1", "aux_loss"),
            d.fresh("loss2", "main_loss"),
        )
        lines = [f"{a} = {net}({x})", f"{b} = {operation(d, maybe_cut(d, a), y)}"]
        lines += [f"{l1} = {loss_of(d, a, y)}", f"{l2} = {loss_of(d, b, y)}", f"{opt}.zero_grad()"]
        if d.careful() and d.chance(0.6):
            return [*lines, f"({l1} + {l2}).backward()", f"{opt}.step()"]
        return [
            *lines,
            *backward(d, l1, retain=d.chance(0.3)),
            *([f"{opt}.step()"] if d.chance(0.2) else []),
            *backward(d, l2),
            f"{opt}.step()",
        ]

    before, run = loop(d, body)
    return Parts(
        [f"{net} = {model(d)}", f"{opt} = {optimizer(d, f'{net}.parameters()')}", *before], epochs(d, run)
    )
