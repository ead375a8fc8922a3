"""What a check costs, as ratios to ``ast.parse`` of the same file in one run (CPU time, start-up left out).

    python benchmarks/speed.py [FILE ...]      default: the cases, one by one and joined into one dense file

Beside the check stands ``libcst.parse_module``. Nothing here passes or fails: ratios are printed, to be read.
"""

from __future__ import annotations

import ast
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import libcst

from loopgrad.rules import check
from loopgrad.source import FileProvider, SourceFile

RUNS = 5


def cost(work: Callable[[], object]) -> float:
    """The median CPU seconds of a few runs."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def measure(name: str, text: str) -> None:
    parse = cost(lambda: ast.parse(text))
    cst = cost(lambda: libcst.parse_module(text))
    whole = cost(lambda: check(SourceFile(name, text), FileProvider([name])))
    lines = text.count("\n")
    print(f"{name:44} {lines:6} lines   libcst {cst / parse:6.1f}   check {whole / parse:6.1f}")


def joined(paths: list[Path]) -> str:
    """The scripts as functions of one file, each called: a file as dense as training code can be."""
    parts = []
    for number, path in enumerate(paths):
        body = "\n".join("    " + line if line.strip() else "" for line in path.read_text().splitlines())
        parts.append(f"def case_{number}():\n    __name__ = '__main__'\n{body}\n\n\ncase_{number}()\n")
    return "\n".join(parts)


def main() -> None:
    check(SourceFile("warm.py", "import torch\n"), FileProvider([]))
    files = [Path(argument) for argument in sys.argv[1:]]
    if not files:
        files = sorted(Path(__file__).parents[1].glob("tests/cases/*/bug.py"))
        print("ratios to ast.parse")
        for path in files[:: max(1, len(files) // 8)]:
            measure(path.parent.name, path.read_text())
        measure(
            "all right cases joined",
            joined(sorted(Path(__file__).parents[1].glob("tests/cases/negative*/bug.py"))),
        )
    else:
        for path in files:
            measure(path.name, path.read_text())
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
