"""What a check costs, as ratios to ``ast.parse`` of the same file in one run (CPU time, start-up left out).

    python benchmarks/speed.py [FILE ...] [--flake8-python PYTHON]

Without files: the cases, one by one and joined into one dense file. Beside the check stand
``libcst.parse_module``, torchfix (its visitors over a tree that libcst parsed) and flake8 with torchfix's TOR
codes, which run in the interpreter that ``--flake8-python`` names (an environment with flake8 and torchfix; they
are no dependencies of Loopgrad). Then come how the cost grows with length (the same code 1, 2, 4 and 8 times), the
peak memory of checking each file in a process of its own, what the edits of a fix cost beside its analysis, and the
start-up of ``loopgrad check`` on an empty file beside Python's. Nothing here passes or fails: ratios are printed, to
be read.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import libcst

from loopgrad.fixes import EditError
from loopgrad.fixes.edits import file_edits
from loopgrad.fixes.text import document
from loopgrad.model import Step
from loopgrad.rules import check
from loopgrad.source import FileProvider, SourceFile

RUNS = 5
CASES = Path(__file__).parents[1] / "tests" / "cases"

#: Run by the other interpreter: prints the CPU seconds of torchfix and of flake8, for one file, as JSON.
OTHERS = """
import json, os, statistics, sys, time
import libcst
from flake8.main.application import Application
from torchfix import torchfix

text = open(sys.argv[1], encoding="utf-8").read()

def cost(work):
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)

def fix():
    checker = torchfix.TorchChecker(None, text.splitlines(keepends=True))
    list(checker.run())

def lint():
    Application().run(["--isolated", "--jobs=1", "--select=TOR", "--output-file=" + os.devnull, sys.argv[1]])

fix()
print(json.dumps([cost(fix), cost(lint)]))
"""

#: Prints the peak memory of one check in MB. What Linux says of a process counts its parent's size at the fork.
MEMORY = """
import re, resource, sys
from pathlib import Path
from loopgrad.rules import check
from loopgrad.source import FileProvider, SourceFile
check(SourceFile(sys.argv[1], Path(sys.argv[1]).read_text(encoding="utf-8")), FileProvider([sys.argv[1]]))
if sys.platform == "linux":
    print(int(re.search(r"VmHWM:\\s*([0-9]+)", Path("/proc/self/status").read_text())[1]) / 1024)
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024 * 1024))
"""


def cost(work: Callable[[], object], runs: int = RUNS) -> float:
    """The median CPU seconds of a few runs."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def checked(name: str, text: str) -> float:
    return cost(lambda: check(SourceFile(name, text), FileProvider([name])))


def others(python: str | None, text: str) -> tuple[float, float] | None:
    """The CPU seconds of torchfix and of flake8 with its codes, where an interpreter has them."""
    if python is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "code.py"
        path.write_text(text, encoding="utf-8")
        run = subprocess.run([python, "-c", OTHERS, str(path)], capture_output=True, text=True, cwd=folder)
    if run.returncode or not run.stdout:
        print(run.stderr.strip().splitlines()[-1], file=sys.stderr)
        return None
    fix, lint = json.loads(run.stdout.splitlines()[-1])
    return fix, lint


def peak(text: str) -> float:
    """The peak memory, in MB, of a process that checks one file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "code.py"
        path.write_text(text, encoding="utf-8")
        run = subprocess.run(
            [sys.executable, "-c", MEMORY, str(path)], capture_output=True, text=True, check=True
        )
    return float(run.stdout)


def measure(name: str, text: str, python: str | None) -> None:
    parse = cost(lambda: ast.parse(text))
    cst = cost(lambda: libcst.parse_module(text))
    whole = checked(name, text)
    found = others(python, text)
    beside = (
        f"torchfix {found[0] / parse:6.1f}   flake8+TOR {found[1] / parse:6.1f}"
        if found is not None
        else "torchfix and flake8+TOR: not installed"
    )
    result = check(SourceFile(name, text), FileProvider([name]))
    partly = "   partial" if result.partial else ""
    print(
        f"{name:38} {text.count(chr(10)):6} lines   check {whole / parse:6.1f}   libcst {cst / parse:6.1f}   "
        f"{beside}   peak {peak(text):4.0f} MB{partly}"
    )


def fixing(name: str, texts: dict[str, str]) -> None:
    """What making the edits of a fix costs beside the analysis that it is checked with, the median of all."""
    shares, parses = [], []
    for path, text in texts.items():
        whole, parse = checked(path, text), cost(partial(ast.parse, text))
        for finding in check(SourceFile(path, text), FileProvider([path])).findings:
            for request in finding.requests:

                def edit(steps: tuple[Step, ...] = request.steps, path: str = path, text: str = text) -> None:
                    document.cache_clear()
                    with contextlib.suppress(EditError):
                        file_edits(path, text, steps)

                spent = cost(edit, 3)
                shares.append(spent / whole)
                parses.append(spent / parse)
    print(
        f"{name:38} {len(shares):6} fixes   edits {statistics.median(shares):.2f} of a check (at most {max(shares):.2f}), "
        f"{statistics.median(parses):.1f} of ast.parse"
    )


def joined(paths: list[Path]) -> str:
    """The scripts as functions of one file, each called: a file as dense as training code can be."""
    parts = []
    for number, path in enumerate(paths):
        body = "\n".join("    " + line if line.strip() else "" for line in path.read_text().splitlines())
        parts.append(f"def case_{number}():\n    __name__ = '__main__'\n{body}\n\n\ncase_{number}()\n")
    return "\n".join(parts)


def apart(paths: list[Path]) -> str:
    """The scripts as functions that nothing calls: each is explored on its own, faults and all."""
    return joined(paths).replace("\n\n\ncase_", "\n\n\n# case_")


def linearity(text: str) -> None:
    """What a line costs where the same functions stand in a file once, twice, four and eight times."""
    figures = []
    for times in (1, 2, 4, 8):
        whole = "\n".join(text.replace("def case_", f"def again_{k}_case_") for k in range(times))
        figures.append(checked("again.py", whole) / times)
    print(
        f"{'the same code 1, 2, 4, 8 times':38} a line costs "
        + ", ".join(f"{figure / figures[0]:.2f}" for figure in figures)
        + " of what it costs once"
    )


def startup() -> None:
    """The start of ``loopgrad check`` on an empty file beside that of Python, in CPU time of the child."""

    def child(*command: str) -> float:
        times = []
        for _ in range(RUNS):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, capture_output=True, env={**os.environ})
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return statistics.median(times)

    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.py"
        empty.touch()
        bare = child(sys.executable, "-c", "pass")
        ours = child(sys.executable, "-m", "loopgrad", "check", str(empty))
        torch_file = Path(folder) / "one.py"
        torch_file.write_text("import torch\n")
        engine = child(sys.executable, "-m", "loopgrad", "check", str(torch_file))
    print(
        f"start-up, ratio to `python -c pass`: empty file {ours / bare:.1f}, one that imports torch {engine / bare:.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--flake8-python", metavar="PYTHON", help="an interpreter with flake8 and torchfix")
    options = parser.parse_args()
    python: str | None = options.flake8_python
    check(SourceFile("warm.py", "import torch\n"), FileProvider([]))
    print("ratios to ast.parse of the same file, CPU time")
    for path in options.files:
        measure(path.name, path.read_text(encoding="utf-8"), python)
    if options.files:
        return
    folders = sorted(folder for folder in CASES.iterdir() if folder.is_dir())
    faulty = [folder / "bug.py" for folder in folders]
    right = [
        folder / "fixed.py" if (folder / "fixed.py").exists() else folder / "bug.py" for folder in folders
    ]
    for path in faulty[:: max(1, len(faulty) // 8)]:
        measure(path.parent.name, path.read_text(encoding="utf-8"), python)
    measure("the right cases joined, each called", joined(right), python)
    measure("the faulty cases joined, none called", apart(faulty), python)
    linearity(apart(faulty[:10]))
    fixing("the fixes of the faulty cases", {str(path): path.read_text(encoding="utf-8") for path in faulty})
    fixing("those of a third of them, joined", {"joined.py": apart(faulty[::3])})
    startup()


if __name__ == "__main__":
    main()
