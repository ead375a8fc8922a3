"""What is decided while a program is written: names, unknown conditions, imports, definitions, counts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Lines = list[str]


#: A value of the module, how a condition changes it, and the question that is asked later.
_DERIVED = (
    ("None", "{} = torch.ones(4, 3)", "{} is not None"),
    ("None", "{} = 'full'", "{}"),
    ("None", "{} = ['a', 'b']", "{} is None"),
    ("'fast'", "{} = 'exact'", "{} == 'exact'"),
    ("[]", "{}.append('clip')", "'clip' in {}"),
    ("['clip', 'ema']", "{}.remove('ema')", "'ema' in {}"),
    ("{'steps': 1}", "{}.update(clip=True)", "{}.get('clip', False)"),
    ("{'steps': 1}", "{}['steps'] = 2", "{}['steps'] > 1"),
    ("{'clip'}", "{}.discard('clip')", "{}"),
    ("[1.0]", "{}.extend([2.0, 3.0])", "len({}) > 1"),
    ("torch.zeros(1)", "{} = None", "{} is None"),
    ("()", "{} = (0.5, 0.9)", "len({})"),
)


@dataclass
class Parts:
    """A training script in three pieces: what is made first, the training, what follows it."""

    setup: Lines = field(default_factory=list)
    train: Lines = field(default_factory=list)
    after: Lines = field(default_factory=list)


class Draft:
    """A program in the making.

    `care` is the probability with which its author keeps graphs apart as they should: cuts what is carried,
    resets what is summed, detaches what is shared. A program is drawn careless, careful or in between.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.constructs: Counter[str] = Counter()
        self.imports = {"import torch", "from torch import nn", "import torch.nn.functional as F"}
        self.definitions: list[str] = []
        self.flags: list[str] = []
        self.options = rng.choice(["args", "args", "opts", "cfg", "flags"])
        self.names: set[str] = {self.options, "args", "torch", "nn", "F", "N"}
        self.care = rng.choices([0.0, 0.5, 1.0], [0.36, 0.24, 0.4])[0]

    def note(self, construct: str) -> None:
        self.constructs[construct] += 1

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def careful(self) -> bool:
        """Does the author think of it here?"""
        return self.chance(self.care)

    def pick(self, choices: Mapping[str, float] | Sequence[str], what: str = "") -> str:
        """One of the choices; with `what`, counted under that heading."""
        if isinstance(choices, Mapping):
            chosen = self.rng.choices(list(choices), list(choices.values()))[0]
        else:
            chosen = self.rng.choice(choices)
        if what:
            self.note(f"{what}: {chosen}")
        return chosen

    def fresh(self, *wishes: str) -> str:
        """A name that is not in use yet, one of the wishes if possible."""
        free = [name for name in wishes if name not in self.names]
        name = self.rng.choice(free) if free else f"{self.rng.choice(wishes)}{len(self.names)}"
        self.names.add(name)
        return name

    def flag(self) -> str:
        """An unknown condition: a new one, or one that was asked before."""
        self.note("unknown condition")
        if self.flags and (len(self.flags) >= 3 or self.chance(0.35)):
            self.note("the same condition again")
            return self._asked(self.rng.choice(self.flags))
        names = ["verbose", "warmup", "amp", "resume", "clip", "bptt", "stochastic", "debug", "log_grads"]
        name = self.rng.choice([n for n in names if n not in self.flags])
        self.flags.append(name)
        return self._asked(name)

    def _asked(self, flag: str) -> str:
        """The condition itself, or what a script has made of it: a mode, a mask or none, a list of what is on."""
        if not self.chance(0.18):
            return f"{self.options}.{flag}"
        self.note("derived condition")
        name = self.fresh("MODE", "MASK", "ENABLED", "SETTINGS", "CALLBACK_NAMES")
        start, change, question = self.rng.choice(_DERIVED)
        test = f"if {self.options}.{flag}:"
        self.define("\n".join([f"{name} = {start}", *block(test, [change.replace("{}", name)])]))
        return question.replace("{}", name)

    def use(self, *imports: str) -> None:
        self.imports.update(imports)

    def define(self, text: str) -> None:
        """Put a function or class at the top of the module (once)."""
        text = text.strip("\n")
        if text not in self.definitions:
            self.definitions.append(text)


def block(header: str, body: Lines) -> Lines:
    """A compound statement."""
    return [header, *("    " + line for line in body or ["pass"])]
