"""What scripts do besides training: logging, scheduling, saving, checking."""

from __future__ import annotations

import ast
import re

from .draft import Draft, Parts
from .shapes_records import record
from .trees import blocks, stored

_SCALAR = re.compile(r"\w*loss\d*|l\d*|obj\d*|mse\d*|objective\d*|err[DG]\d*|total\d*|cost\d*|nce\d*")

_IN_LOOP = {
    "print": 'print("step", {loss}.item())',
    "format": 'print(f"loss {{{loss}:.4f}} {{{loss}.item():>8}}")',
    "compare": "if {loss}.item() > 1e6:\n    print('diverged')",
    "finite": "if not torch.isfinite({loss}):\n    raise SystemExit(3)",
    "assert": "assert {loss}.dim() == 0, 'scalar'",
    "accuracy": "accuracy = ({loss} < 0.5).float().mean().item()",
    "numpy": "shown = {loss}.detach().cpu().numpy().copy()",
    "float list": "curve = [float({loss})]",
    "try float": "try:\n    number = float({loss})\nexcept ValueError:\n    number = 0.0",
    "rounded": "text = '%.3f' % {loss}",
    "walrus": "if (value_now := {loss}.item()) < 0:\n    print(value_now)",
    "match": "match {loss}.dim():\n    case 0:\n        pass\n    case _:\n        raise SystemExit(4)",
    "lambda": "describe = lambda v=float({loss}): v + 1",
    "no_grad look": "with torch.no_grad():\n    scale = {loss} * 2",
    "dict": "metrics = {{'loss': {loss}.item(), 'step': 1}}",
    "global rng": "torch.manual_seed(int(abs({loss}.item()) * 10) % 7)",
}


def add(d: Draft, tree: ast.Module) -> None:
    """Put some of it after a backward pass, where a loss is at hand."""
    for _ in range(d.rng.choices([0, 1, 2], [0.4, 0.4, 0.2])[0]):
        places = _losses(tree)
        if not places:
            return
        block, at, name, _ = d.rng.choice(places)
        kind = d.pick(list(_IN_LOOP), "beside")
        _insert(d, block, at, ast.parse(_IN_LOOP[kind].format(loss=name)).body)


def keep_record(d: Draft, parts: Parts, tree: ast.Module) -> None:
    """Keep the losses of some loop, with their graphs or without."""
    places = _losses(tree)
    if not places:
        return
    block, at, name, counter = d.rng.choice(places)
    start, keep = record(d, name, counter)
    parts.setup += start
    _insert(d, block, at, ast.parse("\n".join(keep)).body)


def _insert(d: Draft, block: list[ast.stmt], at: int, nodes: list[ast.stmt]) -> None:
    where = d.rng.randrange(at + 1, len(block) + 1)
    if any(isinstance(node, (ast.Break, ast.Continue, ast.Return)) for node in block[at:where]):
        where = at + 1
    block[where:where] = nodes


def _losses(tree: ast.Module) -> list[tuple[list[ast.stmt], int, str, str]]:
    """Where a scalar loss is assigned in a loop: block, place, name and the loop's counter (or 0)."""
    found = []
    counters = {
        loop: sorted(stored(loop.target) & {"i", "step", "it", "k"})
        for loop in ast.walk(tree)
        if isinstance(loop, ast.For)
    }
    for block in blocks(tree, loops=True):
        counter = next((names[0] for loop, names in counters.items() if names and loop.body is block), "0")
        for at, node in enumerate(block):
            if isinstance(node, ast.Assign):
                found += [
                    (block, at, name, counter) for name in sorted(stored(node)) if _SCALAR.fullmatch(name)
                ]
    return found
