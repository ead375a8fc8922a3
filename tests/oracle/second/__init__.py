"""A second generator of training programs, written from the design's description of what code does alone.

The first one is a grammar; this one writes scripts as people write them. A program is a *shape* of training
(a recurrent network, an adversarial pair, an actor and a critic, ...), in which a more or less careful author
decides at each place whether to cut, clear or reset. What varies everywhere is drawn from the parts:
`tensors` (operations, cuts, losses, updates), `carriers` (where something is kept), `loops`, `models`. Then
`mutations` change the training as an edit would, `noise` adds logging and the like, and `layout` moves it
into functions, a class, a step of its own.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable

from ..grammar import Program
from . import (
    noise,
    shapes_pairs,
    shapes_records,
    shapes_shared,
    shapes_state,
    shapes_steps,
    shapes_updates,
    shapes_watched,
)
from .draft import Draft, Lines, Parts
from .layout import assemble, tree_of
from .mutations import mutate

SHAPES: dict[Callable[[Draft], Parts], float] = {
    shapes_state.recurrent: 3,
    shapes_state.lstm: 1.5,
    shapes_state.multipliers: 1.2,
    shapes_state.simulation: 1.2,
    shapes_updates.module_state: 1.6,
    shapes_updates.refinement: 1.5,
    shapes_updates.in_place: 1.3,
    shapes_updates.several_steps: 1.2,
    shapes_shared.adversarial: 1.5,
    shapes_shared.actor_critic: 1.4,
    shapes_shared.features: 1.6,
    shapes_shared.many_tasks: 1.2,
    shapes_pairs.distillation: 1.1,
    shapes_pairs.closure: 0.6,
    shapes_pairs.penalised: 0.8,
    shapes_pairs.tower: 1,
    shapes_records.supervised: 6,
    shapes_records.evaluation: 3,
    shapes_records.replay: 1.2,
    shapes_records.reinforce: 1.2,
    shapes_steps.hooks: 1.7,
    shapes_steps.lost_graph: 0.9,
    shapes_steps.by_hand: 1,
    shapes_steps.meta: 1,
    shapes_steps.generated: 0.7,
    shapes_watched.monitored: 3,
    shapes_watched.averaged: 2,
    shapes_watched.bank: 1.5,
}


def generate(seed: int, index: int) -> Program:
    """Program number `index` of a seed; the same every time."""
    for attempt in range(50):
        program = _write(random.Random(f"second:{seed}:{index}:{attempt}"))
        try:
            compile(program.source, "<program>", "exec")
        except SyntaxError:
            continue
        return program
    raise RuntimeError(f"no program for {seed}:{index}")


def _write(rng: random.Random) -> Program:
    d = Draft(rng)
    shape = rng.choices(list(SHAPES), list(SHAPES.values()))[0]
    d.note(f"shape: {shape.__name__}")
    parts = shape(d)
    train = tree_of(parts.train)
    mutate(d, train)
    noise.add(d, train)
    if d.chance(0.6):
        noise.keep_record(d, parts, train)
    ast.fix_missing_locations(train)
    body = assemble(d, parts, train)
    return Program(_text(d, body), shape.__name__, d.constructs)


def _text(d: Draft, body: Lines) -> str:
    lines = [*sorted(d.imports, key=lambda line: (line.startswith("from"), line)), ""]
    if d.flags:
        lines += ["import argparse", "", "parser = argparse.ArgumentParser()"]
        lines += [f'parser.add_argument("--{flag}", action="store_true")' for flag in d.flags]
        lines += [f"{d.options} = parser.parse_args()"]
    lines += ["torch.manual_seed(0)", "N = 6", "", ""]
    for text in d.definitions:
        lines += [*text.split("\n"), "", ""]
    return "\n".join([*lines, *body]) + "\n"
