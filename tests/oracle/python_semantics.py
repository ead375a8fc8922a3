"""A second judge: does the engine execute plain Python as CPython does?

Programs without torch are generated; every value they print is a computed constant. CPython's printed
values are compared in order with the engine's, which may say of a value that it does not know it.

* `differs`: a value that the engine claims to know is not CPython's;
* `diverged`: the engine prints at another line than CPython, with nothing unknown before;
* `short`, `lost`: the engine stopped, or took another way after a value that it did not know.

The first two are failures, the others are counted.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from .adapter import SERVER
from .limits import TooLong, time_limit
from .observe_python import cpython_prints
from .python_grammar import generate

ENGINE_LIMIT = 20.0
Printed = list[tuple[int, str | None]]


class NoEngine(Exception):
    """There is no engine to ask."""


def abstract_prints(source: str) -> Printed:
    """What the engine says that the program prints: the line and the text, None where it is unknown."""
    if importlib.util.find_spec("loopgrad") is None and SERVER.is_dir():
        sys.path.insert(0, str(SERVER))
    try:
        run = importlib.import_module("loopgrad.analysis.prints").run
    except (ImportError, AttributeError) as error:
        raise NoEngine from error
    return list(run(source))


@dataclass
class Verdict:
    """How one program compared: the first failure (or None) and how many values were what."""

    failure: str | None = None
    kind: str = "agrees"
    known: int = 0
    unknown: int = 0
    missing: int = 0


def compare(real: list[tuple[int, str]], claimed: Printed) -> Verdict:
    """Compare in order, up to the first place where they part."""
    verdict = Verdict()
    for position, (line, text) in enumerate(real):
        left = len(real) - position
        if position >= len(claimed):
            verdict.kind, verdict.missing = "short", left
            return verdict
        at, said = claimed[position]
        if at != line:
            verdict.missing = left
            verdict.kind = "lost" if verdict.unknown else "diverged"
            if verdict.kind == "diverged":
                verdict.failure = f"prints at line {at} where CPython prints {text!r} at line {line}"
            return verdict
        if said is None:
            verdict.unknown += 1
        elif said != text:
            verdict.kind, verdict.failure = (
                "differs",
                f"line {line}: {said!r} is claimed, {text!r} is printed",
            )
            return verdict
        else:
            verdict.known += 1
    if len(claimed) > len(real):
        verdict.kind = "lost" if verdict.unknown else "diverged"
        if verdict.kind == "diverged":
            verdict.failure = f"prints at line {claimed[len(real)][0]}, where CPython has ended"
    return verdict


def judge(source: str) -> Verdict:
    """Run a program in both and compare."""
    real = cpython_prints(source)
    if real is None:
        return Verdict(kind="invalid")
    try:
        with time_limit(ENGINE_LIMIT):
            claimed = abstract_prints(source)
    except NoEngine:
        raise
    except TooLong:
        return Verdict("took too long", "broken")
    except Exception as error:
        return Verdict(f"{type(error).__name__}: {error}", "broken")
    return compare(real, claimed)


@dataclass
class Tally:
    """Counts over many programs."""

    kinds: Counter[str] = field(default_factory=Counter)
    known: int = 0
    unknown: int = 0
    missing: int = 0
    constructs: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)

    def add(self, index: int, verdict: Verdict) -> None:
        """Count one program."""
        self.kinds[verdict.kind] += 1
        self.known += verdict.known
        self.unknown += verdict.unknown
        self.missing += verdict.missing
        if verdict.failure:
            self.failures.append((index, f"{verdict.kind}: {verdict.failure}"))

    def __str__(self) -> str:
        rows = [", ".join(f"{kind} {count}" for kind, count in self.kinds.most_common())]
        rows.append(f"values known {self.known}, unknown {self.unknown}, not reached {self.missing}")
        rows += [f"  program {index}: {text}" for index, text in self.failures[:40]]
        return "\n".join(rows)


def judge_programs(seed: int, count: int, start: int = 0) -> Tally:
    """Judge programs `start` to `start + count` of a seed."""
    tally = Tally()
    for index in range(start, start + count):
        program = generate(seed, index)
        tally.constructs.update(program.constructs.keys())
        tally.add(index, judge(program.source))
    return tally


def shrunk(source: str, kind: str, budget: int = 400) -> str:
    """A smaller program that fails in the same way."""
    from .shrink import shrink

    def labels(sources: list[str]) -> list[set[str]]:
        return [{judge(text).kind} for text in sources]

    return shrink(source, kind, labels, budget)


def main(arguments: list[str] | None = None) -> int:
    """`python -m tests.oracle.python_semantics`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--show", metavar="SEED:INDEX")
    parser.add_argument("--shrink", type=int, default=3, help="how many failures are shrunk and printed")
    options = parser.parse_args(arguments)
    if options.show:
        seed, index = map(int, options.show.split(":"))
        print(generate(seed, index).source)
        return 0
    try:
        tally = judge_programs(options.seed, options.programs, options.start)
    except NoEngine:
        tally = _without_engine(options.seed, options.programs, options.start)
        print("no engine to compare with")
    print(tally)
    for name, count in tally.constructs.most_common():
        print(f"  {count:5d}  {name}")
    for index, text in tally.failures[: options.shrink]:
        print(f"--- program {index}: {text}")
        with contextlib.suppress(NoEngine):
            print(shrunk(generate(options.seed, index).source, text.split(":")[0]))
    return 1 if tally.failures else 0


def _without_engine(seed: int, count: int, start: int) -> Tally:
    tally = Tally()
    for index in range(start, start + count):
        program = generate(seed, index)
        tally.constructs.update(program.constructs.keys())
        real: Any = cpython_prints(program.source)
        tally.add(index, Verdict(kind="invalid" if real is None else "valid", known=len(real or ())))
    return tally


if __name__ == "__main__":
    sys.exit(main())
