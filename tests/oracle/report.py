"""The tally of a run and how it is printed."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from .grammar import Program
from .observe import RAISING

FAILING = ("wrong certain", "false alarm", "miss", "fix", "information", "witness", "broken")


@dataclass
class Tally:
    """Counts over all judged programs, and an example of each disagreement."""

    programs: int = 0
    judged: int = 0
    lost: int = 0
    partial: int = 0
    witnesses: int = 0
    forced: int = 0
    weak: int = 0
    runs: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    weighted: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    iterations: Counter[str] = field(default_factory=Counter)
    certainty: Counter[str] = field(default_factory=Counter)
    constructs: Counter[str] = field(default_factory=Counter)
    carrying: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, index: int, program: Program, verdict: dict[str, Any]) -> None:
        """Count one program."""
        self.programs += 1
        self.constructs.update(program.constructs)
        self.carrying.update(program.constructs.keys())
        if verdict.get("lost"):
            self.lost += 1
            return
        runs = verdict["runs"]
        self.runs += len(runs)
        if any(run["outcome"] == "error" for run in runs):
            self.outcomes["error"] += 1
            self.weighted["error"] += 1
            self.errors[next(run["error"] for run in runs if run["outcome"] == "error")[:90]] += 1
            return
        for outcome in {run["outcome"] for run in runs} | {
            "silent" for run in runs if run["silent"] == "carried"
        }:
            self.outcomes[outcome] += 1
        for run in runs:
            self.weighted[run["outcome"]] += 1 / len(runs)
        if runs[0]["outcome"] in RAISING:
            self.iterations[str(runs[0]["iteration"] or "no loop")] += 1
        if verdict["report"] is not None:
            self._compared(index, verdict)

    def _compared(self, index: int, verdict: dict[str, Any]) -> None:
        self.judged += 1
        report = verdict["report"]
        self.partial += bool(report.get("partial"))
        self.weak += verdict["weak"]
        self.witnesses += verdict["witnesses"]
        self.forced += verdict["forced"]
        for finding in report["findings"]:
            self.certainty[f"{finding['code']} {finding['outcome']} {finding['certainty']}"] += 1
        for kind, about, detail in verdict["disagreements"]:
            self.kinds[kind] += 1
            label = f"{kind}: {about}"
            self.labels[label] += 1
            self.examples[label].append((index, detail))

    def broken(self, index: int, verdict: dict[str, Any]) -> None:
        """Count a program on which the analyser failed."""
        for kind, about, detail in verdict["disagreements"]:
            if kind == "broken":
                self.kinds[kind] += 1
                self.labels[f"{kind}: {about}"] += 1
                self.examples[f"{kind}: {about}"].append((index, detail))

    def share(self, *outcomes: str) -> float:
        """The share of all programs' runs with one of the outcomes."""
        return sum(self.weighted[o] for o in outcomes) / max(1, self.programs)


def _table(title: str, counts: Counter[str], total: int, columns: int = 1) -> list[str]:
    cells = [
        f"{count:6d} {100 * count / max(1, total):5.1f}%  {name:<34}" for name, count in counts.most_common()
    ]
    rows = [title]
    height = -(-len(cells) // columns)
    for row in range(height):
        rows.append(
            "  "
            + "".join(
                cells[row + height * c] for c in range(columns) if row + height * c < len(cells)
            ).rstrip()
        )
    return rows


def describe(tally: Tally, seed: int, seconds: float, asked: bool) -> str:
    """The printed report."""
    rate = tally.programs / max(seconds, 1e-9)
    rows = [
        f"seed {seed}: {tally.programs} programs, {tally.runs} runs, {seconds:.1f} s, {rate:.1f} a second"
    ]
    if tally.lost:
        rows.append(f"{tally.lost} programs lost (crash or hang)")
    rows.append(
        f"raising {100 * tally.share(*RAISING):.1f}%, growing {100 * tally.share('grows'):.1f}%, "
        f"clean {100 * tally.share('clean'):.1f}%, invalid {100 * tally.share('error'):.1f}%"
    )
    rows += _table("programs with an outcome in some assignment:", tally.outcomes, tally.programs)
    rows += _table(
        "raising iteration (innermost loop, first assignment):",
        tally.iterations,
        sum(tally.iterations.values()),
    )
    if tally.errors:
        rows += _table("invalid programs:", tally.errors, tally.programs)
    rows += _table("constructs (programs that have one):", tally.carrying, tally.programs, columns=3)
    if not asked:
        rows.append("no analyser to compare with")
        return "\n".join(rows)
    rows += _table("findings:", tally.certainty, tally.judged)
    rows.append(
        f"compared {tally.judged}; partly analysed {tally.partial} "
        f"({100 * tally.partial / max(1, tally.judged):.1f}%)"
    )
    rows.append(f"witnesses replayed {tally.witnesses}, of them {tally.forced} by forcing a condition")
    rows.append(f"possible where every assignment raises alike: {tally.weak}")
    rows.append("disagreements: " + (", ".join(f"{kind} {tally.kinds[kind]}" for kind in FAILING)))
    for label, count in tally.labels.most_common():
        where = ", ".join(str(index) for index, _ in tally.examples[label][:60])
        rows.append(f"  {count:5d}  {label}   e.g. {where}: {tally.examples[label][0][1]}")
    return "\n".join(rows)
