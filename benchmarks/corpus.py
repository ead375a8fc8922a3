"""What whole repositories cost: from cold, again untouched, and again after one edit, beside torchfix.

    python benchmarks/corpus.py PATH ... [--torchfix-python PYTHON] [--touch N] [--jobs 2] [--part 10] [--seed 0]

The Python files and notebooks of the paths are copied into a scratch folder; nothing is written next to the
originals. There, one after the other in one run:

- ``loopgrad check .`` from cold, with an empty cache;
- torchfix on a part of the Python files (a tenth of the lines, drawn at random by the seed), with the interpreter
  that ``--torchfix-python`` names (an environment with torchfix; it is no dependency of Loopgrad);
- ``loopgrad check .`` again, with nothing changed;
- ``loopgrad check .`` again, after one line was added to one file, for each of ``--touch`` files, drawn at random
  from those that have ``torch`` in them.

Both tools get ``--jobs`` processes. Nothing here passes or fails: seconds of the clock and of the processors, and
their ratios, are printed, to be read. On a machine that others use as well, those of the processors say more.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from loopgrad.source import discover

#: What settings are read from, and what tells where a project begins.
COPIED = (".py", ".pyw", ".ipynb", "pyproject.toml", "setup.py", "setup.cfg")


class Cost(NamedTuple):
    """Seconds of the clock and of the processors."""

    clock: float
    processors: float

    def over(self, other: Cost) -> str:
        return f"{self.clock / other.clock:.1f} (processors: {self.processors / other.processors:.1f})"

    def __str__(self) -> str:
        return f"{self.clock:.1f} s (processors: {self.processors:.1f} s)"


def cost(command: Sequence[str], folder: Path, good: Sequence[int] = (0,)) -> tuple[Cost, str]:
    """What a command costs, and what it prints."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    clock, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode not in good:
        raise SystemExit(f"{command[:4]}: status {run.returncode}\n{run.stderr[-2000:]}")
    return Cost(clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime), run.stdout


def copy(paths: Sequence[Path], scratch: Path) -> None:
    """Copies what a check reads. Each path gets a folder of its own, with what marks it as a project."""
    for path in paths:
        target = scratch / path.resolve().name
        for folder, folders, names in os.walk(path):
            folders[:] = [name for name in folders if name != ".git"]
            for name in names:
                source = Path(folder) / name
                if name.endswith(COPIED) and source.is_file() and not source.is_symlink():
                    copied = target / source.relative_to(path)
                    copied.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(source, copied)
        if (path / ".git").exists():
            (target / ".git").mkdir(parents=True, exist_ok=True)


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def part(files: dict[Path, int], of: int, draw: random.Random) -> list[Path]:
    """Files drawn at random, until they have one ``of``-th of all lines."""
    mixed = sorted(files)
    draw.shuffle(mixed)
    wanted, chosen = sum(files.values()) / of, list[Path]()
    for file in mixed:
        if wanted <= 0:
            break
        chosen.append(file)
        wanted -= files[file]
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="folders, as a rule repositories")
    parser.add_argument("--torchfix-python", metavar="PYTHON", help="an interpreter that has torchfix")
    parser.add_argument("--touch", type=int, default=5, metavar="N", help="how many files to edit, each alone (5)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes of both tools (2)")
    parser.add_argument("--part", type=int, default=10, metavar="N", help="torchfix gets one N-th of the lines (10)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name) / "corpus"
        scratch.mkdir()
        (scratch / "pyproject.toml").touch()  # the workspace of what has no project of its own
        copy(options.paths, scratch)
        time.sleep(3)  # files that were written this moment are hashed each time
        measure(scratch, draw, options)


def measure(scratch: Path, draw: random.Random, options: argparse.Namespace) -> None:
    os.chdir(scratch)
    files = {Path(item.path): lines(Path(item.path)) for item in discover(["."])[0]}
    python = {path: count for path, count in files.items() if path.suffix == ".py"}
    print(f"{len(files)} files, {len(python)} of them Python with {sum(python.values()):,} lines")
    print("load of the machine:", ", ".join(f"{load:.1f}" for load in os.getloadavg()), "on", os.cpu_count(), "cores")
    check = [sys.executable, "-m", "loopgrad", "check", ".", "-j", str(options.jobs)]
    cold, said = cost(check, scratch, (0, 1, 2))
    print(f"check from cold: {cold}", flush=True)
    if options.torchfix_python:
        sample = part(python, options.part, draw)
        count = sum(python[path] for path in sample)
        command = [options.torchfix_python, "-m", "torchfix", "-j", str(options.jobs), *map(str, sample)]
        theirs, _ = cost(command, scratch, (0, 1))
        print(f"torchfix on {len(sample)} files, {count:,} lines: {theirs}; {theirs.over(cold)} times the check of all")
    again, same = cost(check, scratch, (0, 1, 2))
    print(f"check again: {again}; from cold {cold.over(again)} times that")
    if same != said:
        print("the second report differs from the first")
    touched: list[Cost] = []
    for path in draw.sample(sorted(path for path in python if b"torch" in path.read_bytes()), options.touch):
        with open(path, "a", encoding="utf-8") as file:
            file.write("\nTOUCHED = True\n")
        touched.append(cost(check, scratch, (0, 1, 2))[0])
        print(f"  after an edit of {path}: {touched[-1]}; from cold {cold.over(touched[-1])} times that", flush=True)
    if touched:
        middle = Cost(*(statistics.median(figures) for figures in zip(*touched)))
        print(f"after one edit, median of {len(touched)}: {middle}; from cold {cold.over(middle)} times that")
    print("load of the machine:", ", ".join(f"{load:.1f}" for load in os.getloadavg()))


if __name__ == "__main__":
    main()
