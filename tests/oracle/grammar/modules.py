"""User modules and functions that a forward pass goes through."""

from __future__ import annotations

from .builder import Builder
from .expressions import cut, keep, vec
from .tree import Compound, Node


def parameters(b: Builder) -> None:
    """Declare the leaves that train: one to three vectors, perhaps a matrix, perhaps layers."""
    for stem in ("w", "u", "z")[: b.pick([1, 2, 2, 3])]:
        form = b.pick(["torch.randn(3, requires_grad=True)", "nn.Parameter(torch.randn(3))"])
        b.note("leaf " + form.split("(")[0])
        b.params.append(b.declare(stem, form))
    if b.chance(0.4):
        b.matrices.append(b.declare("m", "nn.Parameter(0.3 * torch.randn(3, 3))"))
        b.note("leaf matrix")
    if b.chance(0.35):
        layer = b.pick(
            [
                "nn.Linear(3, 3)",
                "nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))",
                "nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.0))",
                "nn.Linear(3, 3, bias=False)",
            ]
        )
        b.note("layer " + layer.split("(")[0])
        b.layers.append(b.declare("net", layer))
    b.data_atoms.append("x")


def function(b: Builder) -> str:
    """A function of two vectors, perhaps one that calls another; returns its name."""
    name = b.fresh("mix")
    saved = (b.params, b.matrices, b.layers, b.data_atoms)
    b.data_atoms = ["p", "q"]
    if b.style != "script":
        b.params, b.matrices, b.layers = ["q"], [], []
    inner = vec(b, ["p", "q"])
    body: list[Node] = [f"r = {inner}", "return r"]
    if b.chance(0.3):
        deep = b.fresh("deep")
        b.top.append(Compound(f"def {deep}(p, q):", body))
        body = [f"s = {deep}(q, p)", f"return {vec(b, ['s'], ['p'])}"]
        b.note("function, two levels")
    b.top.append(Compound(f"def {name}(p, {b.pick(['q', 'q', 'q=None'])}):", body))
    b.note("function")
    b.params, b.matrices, b.layers, b.data_atoms = saved
    return name


def stateful(b: Builder) -> tuple[str, list[Node]]:
    """A user module that keeps `self.h`: the call's function and the statements that reset it."""
    name = b.fresh("Cell")
    saved = (b.params, b.matrices, b.layers, b.data_atoms)
    b.params, b.matrices, b.layers, b.data_atoms = ["self.scale"], [], [], ["v"]
    lazy = b.chance(0.3)
    start = "None" if lazy else "torch.zeros(3)"
    init: list[Node] = ["super().__init__()", "self.scale = nn.Parameter(torch.ones(3))"]
    if b.chance(0.5):
        init.append("self.lin = nn.Linear(3, 3)")
        b.layers = ["self.lin"]
    as_buffer = not lazy and b.chance(0.2)
    init.append(f'self.register_buffer("h", {start})' if as_buffer else f"self.h = {start}")
    first: list[Node] = [Compound("if self.h is None:", ["self.h = torch.zeros(3)"])] if lazy else []
    read = cut(b, "self.h") if b.chance(0.15) else "self.h"
    out = vec(b, [read, "self.scale"], ["v"])
    form = b.pick(["keep", "keep", "cut", "no_grad", "part"])
    b.note(f"stateful module {form}")
    if form == "keep":
        store: list[Node] = [f"self.h = {keep(b, 'out')}"]
    elif form == "cut":
        store = [f"self.h = {cut(b, 'out')}"]
    elif form == "no_grad":
        store = [Compound("with torch.no_grad():", [f"self.h = {vec(b, ['out'])}"])]
    else:
        store = [Compound("if self.training:", [f"self.h = {cut(b, 'out')}"], [("else:", ["self.h = out"])])]
    methods: list[Node] = [Compound("def __init__(self):", init)]
    methods.append(Compound("def reset(self):", [f"self.h = {start}"]))
    if b.chance(0.3):
        methods.append(Compound("def advance(self, v):", [*first, f"out = {out}", *store, "return out"]))
        methods.append(Compound("def forward(self, v):", ["return self.advance(v)"]))
        b.note("stateful module, method")
    else:
        methods.append(Compound("def forward(self, v):", [*first, f"out = {out}", *store, "return out"]))
    b.top.append(Compound(f"class {name}(nn.Module):", methods))
    if b.chance(0.15):
        child = b.fresh("Child")
        extra: list[Node] = ["out = super().forward(v)", f"return {vec(b, ['out'])}"]
        b.top.append(Compound(f"class {child}({name}):", [Compound("def forward(self, v):", extra)]))
        b.note("stateful module, inherited")
        name = child
    b.params, b.matrices, b.layers, b.data_atoms = saved
    ref = b.declare("cell", f"{name}()")
    if form == "part" and b.chance(0.3):
        b.decl.append(f"{ref}.eval()")
    b.recurrent.append(ref)
    return ref, [f"{ref}.reset()"]


def recurrent(b: Builder) -> tuple[list[str], str, list[Node]]:
    """A torch cell with its state in names: the call's statement forms, the output, the statements that cut.

    The statement is a template over `{x}`; the state is carried by the statement itself.
    """
    kind = b.pick(["LSTMCell", "GRUCell", "RNNCell"])
    b.note(f"recurrent {kind}")
    rnn = b.declare("rnn", f"nn.{kind}(3, 3)")
    b.recurrent.append(rnn)
    if kind == "LSTMCell":
        h, c = b.declare("hx", "torch.zeros(3)"), b.declare("cx", "torch.zeros(3)")
        cuts = b.pick(
            [
                [f"{h}, {c} = {h}.detach(), {c}.detach()"],
                [f"{h} = {h}.detach()"],
                [f"{h} = {h}.data", f"{c} = {c}.data"],
            ]
        )
        return [f"{h}, {c} = {rnn}({{x}}, ({h}, {c}))"], h, list(cuts)
    h = b.declare("hx", "torch.zeros(3)")
    return [f"{h} = {rnn}({{x}}, {h})"], h, [f"{h} = {cut(b, h)}"]
