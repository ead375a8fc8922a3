"""Shapes of training in which something is updated step by step: estimates, tables, sums, a module's memory."""

from __future__ import annotations

from .carriers import carrier
from .draft import Draft, Lines, Parts, block
from .loops import epochs, loop
from .models import model
from .tensors import backward, loss_of, maybe_cut, operation, optimizer, plain, update

ZEROS = "torch.zeros(4, 3)"


def module_state(d: Draft) -> Parts:
    """A module that remembers its last output, on an attribute or in a buffer."""
    cls, net, opt = d.fresh("Stateful", "MemoryNet"), d.fresh("net", "model"), d.fresh("optimizer", "opt")
    buffer = d.chance(0.35)
    first = (
        'self.register_buffer("memory", torch.zeros(4, 3))'
        if buffer
        else d.pick(["self.memory = None", "self.memory = torch.zeros(4, 3)"])
    )
    lazy = first.endswith("None")
    mixed = d.pick(
        [
            "torch.tanh(self.fc(x) + {m})",
            "self.fc(x + {m})",
            "self.fc(x) + {m}",
            "self.fc(x) * torch.sigmoid({m})",
        ]
    )
    stored = maybe_cut(d, "out")
    update_lines = [f"self.memory = {stored}"]
    if buffer and d.chance(0.5):
        update_lines = d.pick(
            [
                "self.memory.copy_({s})|self.memory = 0.9 * self.memory + 0.1 * {s}|self.memory.mul_(0.5).add_({s})"
            ]
        ).split("|")
        update_lines = [d.pick(update_lines).format(s=stored)]
        if d.careful():
            update_lines = block("with torch.no_grad():", update_lines)
    if d.chance(0.2):
        update_lines = block("if self.training:", update_lines)
    used = maybe_cut(d, "self.memory") if not lazy else "self.memory"
    forward = [f"out = {mixed.format(m=used)}", *update_lines, "return out"]
    if lazy:
        forward = [*block("if self.memory is None:", ["self.memory = torch.zeros_like(x)"]), *forward]
    text = [
        f"class {cls}(nn.Module):",
        "    def __init__(self):",
        "        super().__init__()",
        "        self.fc = nn.Linear(3, 3)",
        f"        {first}",
        "",
        "    def forward(self, x):",
        *("        " + line for line in forward),
        "",
        "    def reset(self):",
        f"        self.memory = {'torch.zeros(4, 3)' if not lazy else 'None'}",
    ]
    d.define("\n".join(text))
    d.note("module state: " + ("buffer" if buffer else "attribute"))
    out, loss = d.fresh("out", "pred"), d.fresh("loss", "l")

    def body(i: str, x: str, y: str) -> Lines:
        lines = [f"{net}.reset()"] if d.chance(0.15) else []
        if d.chance(0.12):
            lines += block(f"if {net}.memory is not None:", [f"{net}.memory = {net}.memory.detach()"])
        lines += [f"{out} = {net}({x})", f"{loss} = {loss_of(d, out, y)}"]
        return [*lines, *update(d, loss, opt)]

    before, run = loop(d, body)
    return Parts(
        [f"{net} = {cls}()", f"{opt} = {optimizer(d, f'{net}.parameters()')}", *before], epochs(d, run)
    )


def refinement(d: Draft) -> Parts:
    """An estimate that is refined step by step, with a loss in each step."""
    net, opt, loss = d.fresh("refiner", "net"), d.fresh("optimizer", "opt"), d.fresh("loss", "step_loss")
    kept = carrier(d, "pred", "estimate", "x_hat")

    def body(i: str, x: str, y: str) -> Lines:
        before = kept.put(maybe_cut(d, kept.read)) if d.chance(0.6) else []
        change = d.pick(
            [
                f"{kept.read} + {net}({kept.read})",
                f"{kept.read} + {net}({x})",
                f"{x} + {plain(d, kept.read)}",
                operation(d, kept.read, x) + f" + {net}({x})",
            ]
        )
        lines = [*before, *kept.put(change), f"{loss} = {loss_of(d, kept.read, y)}"]
        return [*lines, *update(d, loss, opt)]

    before, run = loop(d, body)
    start = kept.begin(d.pick([ZEROS, "torch.rand(4, 3)"]))
    setup = [f"{net} = {model(d)}", f"{opt} = {optimizer(d, f'{net}.parameters()')}", *before]
    if d.chance(0.4):
        return Parts(setup, epochs(d, [*start, *run]))
    return Parts([*setup, *start], epochs(d, run))


def in_place(d: Draft) -> Parts:
    """A table of rows that is written in place from step to step, and views of it."""
    net, opt, table, loss = (
        d.fresh("net", "embedder"),
        d.fresh("optimizer", "opt"),
        d.fresh("table", "bank", "cache"),
        d.fresh("loss", "nce"),
    )

    def body(i: str, x: str, y: str) -> Lines:
        feat = d.fresh("feat", "keys")
        value = maybe_cut(d, feat)
        write = d.pick(
            [
                f"{table}[{i} % 8] = {value}",
                f"{table}[{i} % 4, :] = {value}",
                f"{table}.narrow(0, 0, 1)[0].copy_({value})",
                f"{table}[0] += {value}",
                f"{table} = torch.cat([{table}[1:], {value}.unsqueeze(0)])",
                f"{table}.index_copy_(0, torch.tensor([0]), {value}.unsqueeze(0))",
                f"{table}[:1].mul_(0.9).add_({value})",
                f"{table} = torch.roll({table}, 1, 0)",
            ]
        )
        use = d.pick(
            [
                f"{table}.mean(0)",
                f"{table}[0]",
                f"{table}.sum(0) / 8",
                f"{table}[{i} % 8]",
                f"torch.tanh({table}).mean(0)",
                f"{table}.max(0).values",
            ]
        )
        writing = block("with torch.no_grad():", [write]) if d.careful() and d.chance(0.4) else [write]
        lines = [f"{feat} = {net}({x})"]
        late = d.chance(0.5)
        lines += [] if late else writing
        lines += [
            f"{loss} = {loss_of(d, feat, y)} + {d.pick(['0.1 * ', ''])}({feat} * {use}).sum()"
            if d.chance(0.6)
            else f"{loss} = ({feat} - {use}).pow(2).sum()"
        ]
        lines += update(d, loss, opt)
        return [*lines, *writing] if late else lines

    before, run = loop(d, body)
    setup = [
        f"{net} = {model(d)}",
        f"{opt} = {optimizer(d, f'{net}.parameters()')}",
        f"{table} = torch.zeros(8, 4, 3)",
        *before,
    ]
    return Parts(setup, epochs(d, run))


def several_steps(d: Draft) -> Parts:
    """Gradients accumulated over several batches, with something else than losses carried along."""
    net, opt, loss, held = (
        d.fresh("net", "model"),
        d.fresh("optimizer", "opt"),
        d.fresh("loss", "l"),
        d.fresh("acc", "running", "pending"),
    )

    def body(i: str, x: str, y: str) -> Lines:
        lines = [f"{loss} = {loss_of(d, f'{net}({x})', y)}"]
        mode = d.pick({"each": 3, "summed": 3, "summed kept": 1.5}, "accumulation")
        if mode == "each":
            return [
                *lines,
                *backward(d, f"({loss} / 2)"),
                *block(f"if ({i} + 1) % 2 == 0:", [f"{opt}.step()", f"{opt}.zero_grad()"]),
            ]
        lines += [f"{held} {d.pick(['+=', '= ' + held + ' +'])} {loss}"]
        after = [
            f"{held}.backward()",
            f"{opt}.step()",
            f"{opt}.zero_grad()",
            f"{held} = {d.pick(['0.0', '0', 'torch.zeros(())'])}",
        ]
        if mode == "summed kept" and not d.careful():
            after = (
                after[:-1] if d.chance(0.6) else [after[0].replace("()", "(retain_graph=True)"), *after[1:-1]]
            )
        return [*lines, *block(f"if ({i} + 1) % {d.pick(['2', '3'])} == 0:", after)]

    before, run = loop(d, body)
    setup = [f"{net} = {model(d)}", f"{opt} = {optimizer(d, f'{net}.parameters()')}", *before]
    start = [f"{held} = 0.0"]
    return Parts(setup, epochs(d, [*start, *run]))
