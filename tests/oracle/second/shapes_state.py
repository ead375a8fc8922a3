"""Shapes of training in which something is carried: hidden states, memories, simulations, multipliers."""

from __future__ import annotations

from .carriers import carrier
from .draft import Draft, Lines, Parts, block
from .loops import epochs, loop
from .models import model
from .tensors import cut, loss_of, maybe_cut, no_cut, optimizer, update

ZEROS = "torch.zeros(4, 3)"


def _recurrent_cell(d: Draft) -> tuple[str, str]:
    """A cell: how it is made, and a call with `{x}` and `{h}`."""
    kind = d.pick({"nn": 3, "user": 3, "linear": 2, "function": 1.5}, "cell")
    if kind == "nn":
        return d.pick(["nn.RNNCell(3, 3)", "nn.GRUCell(3, 3)"]), "{net}({x}, {h})"
    if kind == "user":
        cls = d.fresh("Cell", "RecurrentUnit")
        body = d.pick(
            [
                "torch.tanh(self.inp(x) + self.rec(h))",
                "self.rec(h) + self.inp(x)",
                "self.inp(torch.cat([x, h], dim=1)[:, :3]) + h",
            ]
        )
        d.define(
            f"class {cls}(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.inp = nn.Linear(3, 3)\n"
            f"        self.rec = nn.Linear(3, 3)\n\n    def forward(self, x, h=None):\n"
            f"        if h is None:\n            h = torch.zeros_like(x)\n        return {body}"
        )
        return f"{cls}()", "{net}({x}, {h})"
    if kind == "linear":
        return model(d), d.pick(
            ["{net}({x}) + {h}", "torch.tanh({net}({x}) + 0.5 * {h})", "{net}({x} + {h})"]
        )
    d.define("def cell(net, x, h):\n    return torch.tanh(net(x) * h + x)")
    return model(d), "cell({net}, {x}, {h})"


def recurrent(d: Draft) -> Parts:
    """A hidden state from batch to batch, truncated where the author thinks of it."""
    net, opt, out, loss = (
        d.fresh("rnn", "cell_", "net"),
        d.fresh("optimizer", "optim_"),
        d.fresh("out", "pred", "logits"),
        d.fresh("loss", "l"),
    )
    made, call = _recurrent_cell(d)
    kept = carrier(d, "h", "hidden", "state")
    lazy = "{h}" in call and call.startswith("{net}({x}, {h})") and "nn." not in made and d.chance(0.3)
    start = (
        "None"
        if lazy
        else d.pick([ZEROS, "torch.randn(4, 3) * 0.1", "torch.zeros(4, 3, requires_grad=False)"])
    )
    where = d.pick({"before": 3, "after": 3, "at the use": 2, "reset": 1, "every few": 0.8}, "truncation")
    head = d.fresh("head", "decoder")
    with_head = d.chance(0.6)

    def body(i: str, x: str, y: str) -> Lines:
        h = kept.read
        lines: Lines = []
        if where == "before" and not lazy:
            lines += kept.put(maybe_cut(d, h))
        elif where == "before":
            lines += block(f"if {h} is not None:", kept.put(maybe_cut(d, h)))
        elif where == "reset" and d.careful():
            lines += kept.put(start)
        elif where == "every few" and not lazy:
            lines += block(f"if {i} % {d.pick(['2', '3', '1'])} == 0:", kept.put(cut(d, h)))
        used = maybe_cut(d, h) if where == "at the use" and not lazy else h
        new = d.fresh("h_new", "h_next", "nxt")
        lines += [
            f"{new} = {call.format(net=net, x=x, h=used)}",
            f"{out} = {head}({new})" if with_head else f"{out} = {new}",
        ]
        lines += [f"{loss} = {loss_of(d, out, y)}"]
        stored = kept.put(
            cut(d, new)
            if where == "after" and d.careful()
            else maybe_cut(d, new)
            if where == "at the use"
            else new
        )
        step = update(
            d, loss, opt, f"list({net}.parameters())" if d.chance(0.3) else "", retain=d.chance(0.1)
        )
        return [*lines, *stored, *step] if d.chance(0.6) else [*lines, *step, *stored]

    before, run = loop(d, body)
    begin = kept.begin(start)
    params = f"list({net}.parameters()) + list({head}.parameters())" if with_head else f"{net}.parameters()"
    setup = [
        f"{net} = {made}",
        *([f"{head} = nn.Linear(3, 3)"] if with_head else []),
        f"{opt} = {optimizer(d, params)}",
    ]
    inside = d.chance(0.5)
    whole = epochs(d, [*begin, *run] if inside else run)
    return Parts([*setup, *before] if inside else [*setup, *before, *begin], whole)


def lstm(d: Draft) -> Parts:
    """An LSTM's pair of states, cut both, one of them, or none; in tuples, lists, comprehensions, helpers."""
    net, opt, out = (
        d.fresh("lstm", "encoder", "model"),
        d.fresh("optimizer", "solver"),
        d.fresh("out", "output"),
    )
    single = d.chance(0.5)
    made = (
        "nn.LSTMCell(3, 3)"
        if single
        else d.pick(["nn.LSTM(3, 3)", "nn.LSTM(3, 3, num_layers=2)", "nn.GRU(3, 3)"])
    )
    gru, rows = "GRU" in made, "2, 3" if "layers" in made else "1, 3"
    zeros = "torch.zeros(4, 3)" if single else f"torch.zeros({rows[0]}, 1, 3)"
    state = d.fresh("hidden", "state", "hc")
    first = zeros if gru else f"({zeros}, {zeros})"
    d.define(
        "def repackage(h):\n    if isinstance(h, torch.Tensor):\n        return h.detach()\n"
        "    return tuple(repackage(v) for v in h)"
    )
    cuts = (
        {f"{state} = {state}.detach()": 3.0, f"{state} = repackage({state})": 1, f"{state}.detach_()": 1}
        if gru
        else {
            f"{state} = tuple(s.detach() for s in {state})": 3,
            f"{state} = repackage({state})": 2,
            f"{state} = ({state}[0].detach(), {state}[1].detach())": 2,
            f"{state} = tuple(map(torch.Tensor.detach, {state}))": 0.7,
            f"{state} = [s.data for s in {state}]": 1,
            f"for s in {state}: s.detach_()": 0.7,
            f"{state} = tuple([s.detach().clone() for s in {state}])": 0.7,
            f"h, c = {state}; {state} = (h.detach(), c.detach())": 1,
        }
    )
    half = (
        {}
        if gru
        else {
            f"{state} = ({state}[0].detach(), {state}[1])": 1.0,
            f"{state} = ({state}[0], {state}[1].detach())": 1,
            f"[s.detach() for s in {state}]": 0.6,
        }
    )
    loss = d.fresh("loss", "total")

    def body(i: str, x: str, y: str) -> Lines:
        lines: Lines = []
        if d.careful():
            lines += d.pick(cuts).split("; ")
            d.note("cut: of an LSTM's state")
        elif half and d.chance(0.5):
            lines += [d.pick(half)]
            d.note("cut: half of an LSTM's state")
        seq = x if single else f"{x}.unsqueeze(1)"
        lines += (
            [f"{state} = {net}({seq}, {state})", f"{out} = {state}[0]"]
            if single
            else [f"{out}, {state} = {net}({seq}, {state})", f"{out} = {out}.squeeze(1)"]
        )
        lines += [f"{loss} = {loss_of(d, out, y)}"]
        return [*lines, *update(d, loss, opt, f"list({net}.parameters())" if d.chance(0.3) else "")]

    before, run = loop(d, body)
    start = [f"{state} = {first}"]
    setup = [f"{net} = {made}", f"{opt} = {optimizer(d, f'{net}.parameters()')}", *before]
    if d.chance(0.4):
        return Parts(setup, epochs(d, [*start, *run]))
    return Parts([*setup, *start], epochs(d, run))


def multipliers(d: Draft) -> Parts:
    """ADMM: an optimised variable, an auxiliary one and a multiplier, updated once a step."""
    w, z, u, opt = (
        d.fresh("w", "theta"),
        carrier(d, "z", "aux"),
        carrier(d, "u", "lam", "dual"),
        d.fresh("opt", "optimizer"),
    )
    loss, inner = d.fresh("loss", "objective"), d.chance(0.3)

    def body(i: str, x: str, y: str) -> Lines:
        penalty = d.pick(
            [
                f"((({w} - {z.read} + {u.read}) ** 2).sum())",
                f"({u.read} * ({w} - {z.read})).sum()",
                f"F.mse_loss({w}, {z.read} - {u.read})",
            ]
        )
        fit = [f"{loss} = {loss_of(d, w, y)} + 0.5 * {penalty}", *update(d, loss, opt)]
        if inner:
            j = d.fresh("j", "inner")
            fit = block(f"for {j} in range({d.pick(['2', '3'])}):", fit)
        second = d.pick(
            [
                f"F.softshrink({w} + {u.read}, 0.1)",
                f"torch.sign({w}) * F.relu({w}.abs() - 0.1)",
                f"({w} + {u.read}) / 2",
                f"{w} + {u.read}",
            ]
        )
        renew = [*z.put(maybe_cut(d, f"({second})")), *u.put(maybe_cut(d, f"({u.read} + {w} - {z.read})"))]
        if d.careful() and d.chance(0.5):
            renew = block("with torch.no_grad():", [*z.put(second), *u.put(f"{u.read} + {w} - {z.read}")])
        return [*fit, *renew]

    before, run = loop(d, body)
    leaf = d.pick(
        [
            "nn.Parameter(torch.randn(4, 3))",
            "torch.randn(4, 3, requires_grad=True)",
            "torch.zeros(4, 3).requires_grad_()",
        ]
    )
    setup = [f"{w} = {leaf}", *z.begin(ZEROS), *u.begin(ZEROS), f"{opt} = {optimizer(d, f'[{w}]')}", *before]
    return Parts(setup, epochs(d, run))


def simulation(d: Draft) -> Parts:
    """A rolled-out state: several steps within an iteration, one loss at the end, and a new start or none."""
    net, opt, loss = (
        d.fresh("policy", "force", "dynamics"),
        d.fresh("optimizer", "opt"),
        d.fresh("loss", "cost"),
    )
    pos, vel = carrier(d, "pos", "position"), d.fresh("vel", "velocity")
    reset = d.careful()

    def body(i: str, x: str, y: str) -> Lines:
        t = d.fresh("t", "substep")
        moved = [f"{vel} = {vel} + 0.1 * {net}({pos.read})", *pos.put(f"{pos.read} + {vel} * 0.1")]
        per_step = d.chance(0.2)
        start = [*pos.put(d.pick([x, ZEROS, f"{x} * 0.5"])), f"{vel} = torch.zeros(4, 3)"] if reset else []
        lines = [*start, f"{loss} = 0.0" if d.chance(0.5) else f"{loss} = torch.zeros(())"]
        inner = [*moved, f"{loss} {d.pick(['+=', '= ' + loss + ' +'])} {loss_of(d, pos.read, y)}"]
        if per_step:
            inner += update(d, loss, opt)
        lines += block(f"for {t} in range(3):", inner)
        if not per_step:
            lines += update(d, loss, opt)
        if not reset and d.chance(0.4):
            lines += [
                *pos.put(cut(d, pos.read)),
                f"{vel} = {no_cut(d, vel) if d.chance(0.3) else cut(d, vel)}",
            ]
        return lines

    before, run = loop(d, body)
    setup = [
        f"{net} = {model(d)}",
        f"{opt} = {optimizer(d, f'{net}.parameters()')}",
        *pos.begin("torch.randn(4, 3)"),
        f"{vel} = torch.zeros(4, 3)",
    ]
    return Parts([*setup, *before], epochs(d, run))
