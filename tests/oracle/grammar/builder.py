"""What all parts of the grammar share: the random source, the names in scope, the parts of the program.

Every tensor of a program has one of three shapes, so that any two fit: vectors of three (`vec`), a
matrix parameter of three by three, and scalars (losses). A *declared* name lives for the whole run
(parameters, carriers, sums); a local name belongs to one iteration.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

from .tree import Compound, Node

T = TypeVar("T")

#: A value, what an unknown condition makes of it, and a question that tells the two apart.
SETTINGS = (
    ("None", "{} = torch.ones(3)", "{} is not None"),
    ("None", "{} = [1, 2]", "{} is None"),
    ("None", "{} = {'on': True}", "{}"),
    ("torch.ones(3)", "{} = None", "{} is None"),
    ("(1, 2)", "{} = ()", "{}"),
    ("[]", "{}.append('on')", "'on' in {}"),
    ("['on']", "{}.clear()", "len({}) > 0"),
    ("[1]", "{}.append(2)", "len({}) == 1"),
    ("set()", "{}.add('on')", "{}"),
    ("dict(n=0)", "{}['on'] = 1", "'on' in {}"),
    ("dict(n=0)", "{}['on'] = 1", "{}.get('on')"),
    ("0", "{} = 2", "{} > 1"),
    ("'sum'", "{} = 'mean'", "{} == 'mean'"),
    ("1", "{} = 'auto'", "isinstance({}, str)"),
)
STYLES = ("script", "function", "step-global", "step-nonlocal", "trainer")


class Builder:
    """A program under construction."""

    def __init__(self, rng: random.Random, style: str) -> None:
        self.rng = rng
        self.style = style
        self.constructs: Counter[str] = Counter()
        self.top: list[Node] = []
        self.decl: list[Node] = []
        self.after: list[Node] = []
        self.declared: set[str] = set()
        self.flags: list[str] = []
        self.params: list[str] = []
        self.matrices: list[str] = []
        self.layers: list[str] = []
        self.recurrent: list[str] = []
        self.data_atoms: list[str] = ["x"]
        self.saving = rng.choices(["mixed", "never", "always"], [4, 1.2, 6])[0]
        self.counter: str | None = "i"
        self.optimizers: list[str] = []
        self._numbers: Counter[str] = Counter()
        self._helpers: dict[str, str] = {}

    # chance

    def chance(self, p: float) -> bool:
        """True with probability `p`."""
        return self.rng.random() < p

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return self.rng.choice(options)

    def weighted(self, options: dict[str, float]) -> str:
        """A key, chosen by its weight."""
        return self.rng.choices(list(options), list(options.values()))[0]

    def note(self, construct: str) -> None:
        """Count a construct."""
        self.constructs[construct] += 1

    # names

    def fresh(self, stem: str) -> str:
        """A name that nothing else has: the stem, then stem2, stem3, ..."""
        self._numbers[stem] += 1
        number = self._numbers[stem]
        return stem if number == 1 else f"{stem}{number}"

    def declare(self, stem: str, value: str) -> str:
        """Declare a name for the whole run and return the expression that reads it."""
        name = self.fresh(stem)
        ref = f"self.{name}" if self.style == "trainer" else name
        self.declared.add(name)
        self.decl.append(f"{ref} = {value}")
        return ref

    def helper(self, name: str, header: str, body: list[Node]) -> str:
        """Define a module-level function once and return its name."""
        if name not in self._helpers:
            self._helpers[name] = name
            self.top.append(Compound(header, body))
        self.note(f"helper {name}")
        return name

    # conditions

    def unknown(self) -> str:
        """A condition that no reader of the source can decide; often one that was used before."""
        if self.flags and (len(self.flags) >= 3 or self.chance(0.5)):
            self.note("unknown condition, again")
            name = self.pick(self.flags)
        else:
            self.note("unknown condition")
            name = "abc"[len(self.flags)]
            self.flags.append(name)
        if self.chance(0.15):
            return self._setting(name)
        return f"not flags.{name}" if self.chance(0.2) else f"flags.{name}"

    def _setting(self, flag: str) -> str:
        """A question about a value that the condition has set or changed before."""
        self.note("setting")
        start, change, question = self.pick(SETTINGS)
        option = self.declare("option", start)
        self.decl.append(Compound(f"if flags.{flag}:", [change.replace("{}", option)]))
        return question.replace("{}", option)

    def known(self) -> str:
        """A condition that the loop's counter or a constant decides."""
        self.note("known condition")
        if self.counter is None:
            return self.pick(["N > 3", "N == 1", "N % 2 == 0"])
        i = self.counter
        return self.pick(
            [
                f"{i} == 0",
                f"{i} == 2",
                f"{i} > 0",
                f"{i} % 2 == 0",
                f"{i} % 3 == 0",
                f"{i} >= 3",
                f"{i} < 4",
                f"{i} % 2 == 1",
                f"{i} == N - 1",
                f"{i} in (1, 3)",
                f"0 < {i} < 3",
            ]
        )

    def condition(self) -> str:
        """A condition of either kind."""
        return self.unknown() if self.chance(0.45) else self.known()
