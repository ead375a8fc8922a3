"""A whole run: mutate, check, count, and make the failures small."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .corpus import Corpus
from .reduce import reduce
from .text_mutations import MUTATIONS
from .tree_mutations import mutate_tree
from .worker import Pool, Result

#: The share of sources that are mutated as trees: those alone are sure to reach the analysis.
TREES = 0.7


def mutated(corpus: Corpus, seed: int, index: int) -> tuple[str, bytes]:
    """Source number `index` of a seed and what was done to it; the same every time for the same files."""
    rng = random.Random(f"{seed}:{index}")
    data, other = corpus.draw(rng), corpus.draw(rng)
    if rng.random() < TREES:
        changed = mutate_tree(rng, data, other)
        if changed is not None:
            return "tree", changed
    kinds = rng.choices(list(MUTATIONS), list(MUTATIONS.values()), k=rng.choice([1, 1, 1, 2, 3]))
    for kind in kinds:
        data = kind(rng, data, other)
    return kinds[0].__name__, data


@dataclass
class Tally:
    """What a run showed; `failures` by what failed, with the numbers of the sources."""

    sources: int = 0
    parsed: int = 0
    with_findings: int = 0
    cpu: float = 0.0
    slowest: tuple[float, int] = (0.0, 0)
    kinds: Counter[str] = field(default_factory=Counter)
    partial: Counter[str] = field(default_factory=Counter)
    failures: dict[str, list[tuple[int, str]]] = field(default_factory=dict)

    def add(self, index: int, kind: str, result: Result) -> None:
        self.sources += 1
        self.parsed += result.parsed
        self.with_findings += result.findings > 0
        self.cpu += result.seconds
        self.slowest = max(self.slowest, (result.seconds, index))
        self.kinds[kind] += 1
        self.partial.update(result.partial)
        if result.failure:
            self.failures.setdefault(result.failure, []).append((index, result.detail))

    def describe(self) -> str:
        rows = [
            f"{self.sources} sources, {self.parsed} of them Python, {self.with_findings} with findings; "
            f"{self.cpu:.0f} s of CPU, the slowest {self.slowest[0]:.1f} s (number {self.slowest[1]})",
            "mutations: " + ", ".join(f"{kind} {count}" for kind, count in self.kinds.most_common()),
            "partly analysed: "
            + (", ".join(f"{key} {count}" for key, count in self.partial.items()) or "none"),
            f"failures: {sum(map(len, self.failures.values()))}",
        ]
        for failure, examples in self.failures.items():
            numbers = ", ".join(str(index) for index, _ in examples[:8])
            rows.append(f"  {len(examples):5d}  {failure}   e.g. {numbers}\n{examples[0][1]}")
        return "\n".join(rows)


def run(corpus: Corpus, pool: Pool, seed: int, count: int, start: int = 0) -> Tally:
    """Check sources `start` to `start + count` of a seed."""
    tally, kinds = Tally(), {}

    def sources() -> Iterator[bytes]:
        for number in range(count):
            kinds[number], data = mutated(corpus, seed, start + number)
            yield data

    for number, result in pool.check(sources()):
        tally.add(start + number, kinds.pop(number), result)
        if result.failure:
            print(f"{start + number}: {result.failure}: {result.detail}", file=sys.stderr)
        if tally.sources % 1000 == 0:
            print(
                f"{tally.sources} sources, {sum(map(len, tally.failures.values()))} failures", file=sys.stderr
            )
    return tally


def write_examples(corpus: Corpus, pool: Pool, tally: Tally, seed: int, folder: Path, each: int = 2) -> None:
    """Write some sources of each failure, made small."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (failure, examples) in enumerate(tally.failures.items()):
        for index, detail in examples[:each]:

            def fails(data: bytes, failure: str = failure) -> bool:
                return all(result.failure == failure for _, result in pool.check([data]))

            data = mutated(corpus, seed, index)[1]
            slow = failure in ("hang", "out of time")
            small = reduce(data, fails, budget=30 if slow else 600) if fails(data) else data
            (folder / f"{number:02d}-{index}.py").write_bytes(small)
            (folder / f"{number:02d}-{index}.txt").write_text(f"{failure}\n{detail}\n", "utf-8")
