"""Expressions over tensors of 4 rows and 3 columns, in the ways that scripts write them."""

from __future__ import annotations

from .draft import Draft, Lines, block

#: The backward needs saved tensors. `{x}` is the operand, `{w}` a leaf, a constant or another value.
SAVING = (
    "torch.tanh({x})", "{x}.sigmoid()", "F.relu({x})", "{x} * 0.9", "{x} / 2", "{x} ** 2", "torch.exp(-{x} ** 2)",
    "F.softmax({x}, dim=-1)", "F.layer_norm({x}, (3,))", "{x}.clamp(-1, 1)", "{x} / (1e-6 + {x}.norm())",
    "F.dropout({x}, 0.1)", "torch.where({x} > 0, {x}, 0.1 * {x})", "F.gelu({x})", "torch.sin({x})", "{x} * {w}",
    "{w} * {x}", "({x} + {w}).tanh()", "torch.sqrt({x}.abs() + 1e-3)", "torch.einsum('bi,bi->bi', {x}, {x})",
    "{x}.mul(0.5).add(1.0)", "F.normalize({x}, dim=-1)", "torch.lerp({x}, {x} * {w}, 0.3)", "F.leaky_relu({x}, 0.2)",
)  # fmt: skip
#: The backward needs nothing.
PLAIN = (
    "{x} + 1.0", "{x} - {w}", "-{x}", "{x}.view(-1, 3)", "{x}.reshape(4, 3)", "{x}.t().t()", "{x}.clone()",
    "torch.cat([{x}[:2], {x}[2:]])", "torch.stack([{x}, {x}]).sum(0)", "{x}.flip(0)", "{x}.unsqueeze(0).squeeze(0)",
    "{x}.cumsum(0)", "{x} + {w}", "{x}.roll(1, 0)", "{x}.transpose(0, 1).transpose(0, 1)", "torch.add({x}, {w})",
    "sum({x}.split(2, dim=0)).repeat(2, 1)", "{x}.contiguous()", "{x}.float()", "{x}.expand(4, 3)",
)  # fmt: skip
CUTS = {
    "{x}.detach()": 8.0, "{x}.data": 1.5, "{x}.detach().clone()": 2, "{x}.clone().detach()": 1,
    "torch.tensor({x}.tolist())": 0.5, "torch.from_numpy({x}.detach().numpy())": 0.4, "torch.zeros_like({x})": 0.5,
    "{x}.new_tensor({x}.detach().numpy())": 0.2, "torch.as_tensor({x}.detach())": 0.3, "torch.zeros(4, 3)": 0.3,
    "Variable({x})": 0.5,
}  # fmt: skip
#: Look like cuts and are none.
NO_CUTS = {
    "{x}.clone()": 3.0, "torch.as_tensor({x})": 1, "{x}.contiguous()": 1, "{x}.to('cpu')": 1,
    "({x} * 1)": 1, "{x}.float()": 0.5, "(0.0 * {x} + 0.1)": 0.5, "{x}.view(4, 3)": 0.5, "torch.clone({x})": 0.5,
}  # fmt: skip
LOSSES = {
    "F.mse_loss({x}, {y})": 5.0, "({x} - {y}).pow(2).mean()": 3, "({x} - {y}).abs().sum()": 1.5, "{x}.mean()": 1.5,
    "{x}.sum()": 1.5, "F.smooth_l1_loss({x}, {y})": 1, "F.cross_entropy({x}, {y}.argmax(dim=1))": 1,
    "torch.norm({x} - {y})": 0.7, "criterion({x}, {y})": 2, "-F.log_softmax({x}, dim=-1)[:, 0].mean()": 0.7,
    "((({x} - {y}) ** 2).sum(dim=1)).mean()": 1, "F.binary_cross_entropy_with_logits({x}, torch.sigmoid({y}))": 0.7,
    "{x}.square().mean()": 1, "torch.stack([{x}.mean(), {x}.var()]).sum()": 0.5, "1.0 - F.cosine_similarity({x}, {y}).mean()": 0.5,
}  # fmt: skip


def saving(d: Draft, x: str, w: str = "0.7") -> str:
    """An operation whose backward needs what it saved."""
    d.note("op that saves")
    return d.pick(SAVING).format(x=_operand(x), w=w)


def plain(d: Draft, x: str, w: str = "0.7") -> str:
    """An operation whose backward needs nothing."""
    d.note("op that saves nothing")
    return d.pick(PLAIN).format(x=_operand(x), w=w)


def operation(d: Draft, x: str, w: str = "0.7") -> str:
    """One or two operations, mostly such as save."""
    result = saving(d, x, w) if d.chance(0.72) else plain(d, x, w)
    if d.chance(0.2):
        result = plain(d, f"({result})", w) if d.chance(0.6) else saving(d, f"({result})", w)
    return result


def cut(d: Draft, x: str) -> str:
    """The value without its graph."""
    chosen = d.pick(CUTS, "cut")
    if "Variable" in chosen:
        d.use("from torch.autograd import Variable")
    return chosen.format(x=_operand(x))


def no_cut(d: Draft, x: str) -> str:
    """The value with its graph, written as if without."""
    return d.pick(NO_CUTS, "no cut").format(x=_operand(x))


def maybe_cut(d: Draft, x: str) -> str:
    """Cut by a careful author; left alone or cut in name only by another."""
    if d.careful():
        return cut(d, x)
    return no_cut(d, x) if d.chance(0.25) else x


def loss_of(d: Draft, x: str, y: str = "0.5") -> str:
    """A scalar loss; `y` is a target of the same shape or a number."""
    choices = (
        LOSSES
        if y[0].isalpha()
        else {key: p for key, p in LOSSES.items() if "{y}" not in key or "- {y}" in key}
    )
    chosen = d.pick(choices)
    if "criterion" in chosen:
        kind = d.pick(
            {"nn.MSELoss()": 3, "nn.L1Loss()": 1, "nn.SmoothL1Loss(reduction='sum')": 1, "nn.HuberLoss()": 1}
        )
        d.define(f"criterion = {kind}")
    return chosen.format(x=_operand(x), y=y)


def _operand(x: str) -> str:
    simple = (
        x.replace("_", "a")
        .replace(".", "a")
        .replace("[", "a")
        .replace("]", "a")
        .replace('"', "a")
        .replace("'", "a")
    )
    return x if simple.replace("-1", "1").isalnum() or (x.endswith(")") and x.startswith("(")) else f"({x})"


def backward(d: Draft, loss: str, retain: bool = False, parameters: str = "") -> Lines:
    """Statements that run a backward pass over a loss."""
    keep = "retain_graph=True" if retain else ""
    if retain:
        d.note("retain_graph")
    kinds = {"method": 12.0, "function": 1, "gradient given": 0.7, "mean of it": 0.5, "scaled": 0.6}
    if parameters:
        kinds |= {"inputs": 0.7, "autograd.grad": 0.7}
    match d.pick(kinds, "backward"):
        case "function":
            return [f"torch.autograd.backward([{loss}]{', ' + keep if keep else ''})"]
        case "gradient given":
            return [f"{loss}.backward(torch.tensor(1.0){', ' + keep if keep else ''})"]
        case "mean of it":
            return [f"{loss}.mean().backward({keep})"]
        case "scaled":
            return [f"({loss} * 0.5).backward({keep})"]
        case "inputs":
            return [f"{loss}.backward({keep + ', ' if keep else ''}inputs={parameters})"]
        case "autograd.grad":
            got, g, p = d.fresh("grads", "gradients"), d.fresh("g", "grad"), d.fresh("p", "param")
            more = f"{', ' + keep if keep else ''}"
            call = f"{got} = torch.autograd.grad({loss}, {parameters}, allow_unused=True{more})"
            return [call, *block(f"for {p}, {g} in zip({parameters}, {got}):", [f"{p}.grad = {g}"])]
    return [f"{loss}.backward({keep})"]


def optimizer(d: Draft, parameters: str) -> str:
    """An optimizer over an expression that gives parameters."""
    return d.pick(
        {
            f"torch.optim.SGD({parameters}, lr=0.01)": 5,
            f"torch.optim.Adam({parameters}, lr=1e-3)": 4,
            f"torch.optim.AdamW({parameters}, lr=1e-3, weight_decay=0.01)": 1,
            f"torch.optim.SGD([{{'params': {parameters}, 'lr': 0.01}}], momentum=0.9)": 1,
            f"torch.optim.RMSprop(params={parameters})": 0.5,
        }
    )


def update(d: Draft, loss: str, opt: str, parameters: str = "", retain: bool = False) -> Lines:
    """zero_grad, backward and step in one of the usual orders."""
    zero = d.pick(
        {
            f"{opt}.zero_grad()": 6,
            f"{opt}.zero_grad(set_to_none=True)": 1,
            f"{opt}.zero_grad(set_to_none=False)": 0.4,
        }
    )
    run = backward(d, loss, retain, parameters)
    clip = [f"nn.utils.clip_grad_norm_({parameters}, 1.0)"] if parameters and d.chance(0.2) else []
    order = d.pick({"zero first": 6, "zero last": 2, "no zero": 0.5})
    if order == "zero first":
        return [zero, *run, *clip, f"{opt}.step()"]
    return [*run, *clip, f"{opt}.step()", *([zero] if order == "zero last" else [])]
