"""Expressions: vectors, scalars, and the ways of cutting one out of its graph (or of not doing so)."""

from __future__ import annotations

from .builder import Builder
from .tree import Node

NEVER = {
    "add": "{a} + {b}",
    "sub": "{a} - {b}",
    "neg": "-{a}",
    "view": "{a}.view(3)",
    "reshape": "{a}.reshape(-1)",
    "slice": "{a}[:]",
    "clone": "{a}.clone()",
    "cat": "torch.cat([{a}[:1], {b}[1:]])",
    "stack-sum": "torch.stack([{a}, {b}]).sum(0)",
    "flip": "{a}.flip(0)",
    "roll": "torch.roll({a}, 1)",
    "unsqueeze": "{a}.unsqueeze(0).squeeze(0)",
    "expand": "{a}[0].expand(3)",
    "repeat": "{a}[:1].repeat(3)",
    "add-number": "{a} + 1.0",
}
ALWAYS = {
    "mul": "{a} * {b}",
    "mul-number": "{a} * 0.5",
    "div-number": "{a} / 2.0",
    "tanh": "torch.tanh({a})",
    "sigmoid": "{a}.sigmoid()",
    "exp": "({a} * 0.1).exp()",
    "pow": "{a} ** 2",
    "sin": "torch.sin({a})",
    "relu": "F.relu({a})",
    "softmax": "F.softmax({a}, dim=0)",
    "where": "torch.where(torch.tensor([True, False, True]), {a}, {b})",
    "clamp": "{a}.clamp(-1.0, 1.0)",
    "mask-zero": "{a} + 0.0 * {b}",
}
MATRIX = {"matmul": "{m} @ {a}", "linear": "F.linear({a}, {m})", "mv": "torch.mv({m}, {a})"}
SCALARS = {
    "sum": ("never", "{a}.sum()"),
    "index": ("never", "{a}[0]"),
    "mean": ("mixed", "{a}.mean()"),
    "square-sum": ("always", "({a} ** 2).sum()"),
    "mul-sum": ("always", "({a} * {b}).sum()"),
    "dot": ("always", "torch.dot({a}, {b})"),
    "mse": ("always", "F.mse_loss({a}, {b})"),
    "norm": ("always", "{a}.norm()"),
}
CUTS = {
    "detach": ("{a}.detach()", 8.0),
    "data": ("{a}.data", 2.0),
    "detach-clone": ("{a}.detach().clone()", 1.5),
    "clone-detach": ("{a}.clone().detach()", 1.0),
    "tensor-of-list": ("torch.tensor({a}.tolist())", 1.0),
    "zeros-like": ("torch.zeros_like({a})", 0.7),
    "numpy": ("torch.from_numpy({a}.detach().numpy())", 0.5),
    "parameter-free": ("torch.ones(3) * {a}.sum().item()", 0.7),
    "comparison": ("({a} > 0).float()", 0.5),
}
KEEPS = {
    "nothing": ("{a}", 6.0),
    "clone": ("{a}.clone()", 1.5),
    "to-float": ("{a}.float()", 0.7),
    "contiguous": ("{a}.contiguous()", 0.7),
    "cpu": ("{a}.cpu()", 0.7),
    "as-tensor": ("torch.as_tensor({a})", 0.5),
    "view": ("{a}.view(3)", 0.7),
    "scaled": ("0.9 * {a}", 0.7),
}


def _paren(text: str) -> str:
    """The text, in brackets unless it is a name, an attribute, an index or a call already."""
    if all(c.isalnum() or c in "._" for c in text) or (text.endswith((")", "]")) and " " not in text):
        return text
    return f"({text})"


def atom(b: Builder, extra: list[str]) -> str:
    """A vector that is at hand: data, a parameter, a local."""
    pool = b.data_atoms + extra * 2 + (b.params if b.chance(0.7) else [])
    return b.pick(pool)


def vec(b: Builder, must: list[str], extra: list[str] | None = None, depth: int = 2) -> str:
    """A vector that is computed from all of `must` (and perhaps more)."""
    extra = extra or []
    if depth <= 0 and len(must) <= 1:
        return must[0] if must else atom(b, extra)
    left, right = must[::2], must[1::2]
    if b.chance(0.5):
        left, right = right, left
    saving = b.saving if b.saving != "mixed" else b.pick(["never", "always"])
    table = dict(NEVER if saving == "never" else ALWAYS)
    if saving == "always" and b.matrices:
        table.update(MATRIX)
    name = b.pick([k for k, v in table.items() if "{b}" in v or not (left and right)])
    form = table[name]
    if saving == "always" and b.layers and not (left and right) and b.chance(0.2):
        name, form = "layer", f"{b.pick(b.layers)}({{a}})"
    b.note(f"op {name}")
    if "{b}" not in form:
        left, right = left + right, []
    first = _paren(vec(b, left, extra, depth - 1))
    second = _paren(vec(b, right, extra, depth - 1)) if "{b}" in form else ""
    return form.format(a=first, b=second, m=b.pick(b.matrices) if b.matrices else "")


def scalar(b: Builder, must: list[str], extra: list[str] | None = None, depth: int = 0) -> str:
    """A scalar that is computed from all of `must`."""
    allowed = {"never": ("never",), "always": ("never", "mixed", "always")}
    kinds = allowed.get(b.saving, ("never", "mixed", "always"))
    name = b.pick([k for k, (kind, _) in SCALARS.items() if kind in kinds])
    b.note(f"loss {name}")
    first = _paren(vec(b, must, extra, max(depth, len(must) - 1)))
    second = _paren(atom(b, extra or []))
    return SCALARS[name][1].format(a=first, b=second)


def cut(b: Builder, text: str) -> str:
    """The value without its graph."""
    if b.chance(0.12):
        return b.helper("repackage", "def repackage(value):", REPACKAGE) + f"({text})"
    name = b.weighted({k: weight for k, (_, weight) in CUTS.items()})
    b.note(f"cut {name}")
    return CUTS[name][0].format(a=_paren(text))


def keep(b: Builder, text: str) -> str:
    """The value with its graph, perhaps through something that looks like a cut."""
    if b.chance(0.08):
        return b.helper("passed", "def passed(value):", ["copy = value.clone()", "return copy"]) + f"({text})"
    name = b.weighted({k: weight for k, (_, weight) in KEEPS.items()})
    b.note(f"keep {name}")
    return KEEPS[name][0].format(a=_paren(text))


REPACKAGE: list[Node] = [
    "if isinstance(value, tuple):\n    return tuple(repackage(item) for item in value)",
    "if isinstance(value, list):\n    return [repackage(item) for item in value]",
    "return value.detach()",
]


def scalar_like(b: Builder, name: str) -> str:
    """Another value for a local: a scalar for a loss, a vector for the rest."""
    must = [b.pick(b.params)]
    return scalar(b, must) if name in ("loss", "first", "second") else vec(b, must, depth=1)
