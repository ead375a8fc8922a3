"""Running one program in PyTorch and saying what happened: the ground truth of every comparison.

A program is run with every combination of its unknown conditions, once with the steps it names (`N = 6`)
and, if that is clean, once with twice as many, which tells growth from a bounded keep.
"""

from __future__ import annotations

import gc
import random
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch.autograd.variable import Variable
from torch.optim.optimizer import register_optimizer_step_pre_hook

from .instrument import FILE, Instrumented, assignments, instrument, with_steps
from .limits import TooLong, time_limit
from .tape import Tape

MESSAGES = {
    "backward through the graph a second time": "second-backward",
    "modified by an inplace operation": "inplace-version",
    "leaf Variable that requires grad": "leaf-inplace",
    "does not require grad and does not have a grad_fn": "no-grad-fn",
}
RAISING = tuple(MESSAGES.values())
#: Processor time of one run; they take some hundredths of a second.
LIMIT = 4.0


@dataclass
class Run:
    """What one run of a program showed.

    `outcome` is one of the four exceptions, `grows`, `clean` or `error`; `counters` holds the iteration of
    each loop around the raising line, by the loop's line; `trips` says how often each loop ran; `growth` is
    `yes`, `no` or `unclear`.
    """

    argv: tuple[str, ...]
    outcome: str
    line: int | None = None
    lines: list[int] = field(default_factory=list)
    counters: dict[int, int] = field(default_factory=dict)
    trips: dict[int, int] = field(default_factory=dict)
    iteration: int | None = None
    growth: str = "no"
    grow_loops: list[int] = field(default_factory=list)
    silent: str | None = None
    silent_line: int | None = None
    reached: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    trained: list[str] = field(default_factory=list)
    error: str = ""

    def data(self) -> dict[str, Any]:
        """The run as plain data."""
        return asdict(self)


class _Engine:
    """A proxy of the autograd engine that lets a tape see every pass."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self.tape: Tape | None = None

    def run_backward(self, *args: Any, **options: Any) -> Any:
        if self.tape is None:
            return self._real.run_backward(*args, **options)
        return self.tape.run_backward(self._real.run_backward, args, options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


@contextmanager
def _watched(tape: Tape, argv: tuple[str, ...]) -> Iterator[None]:
    real = Variable._execution_engine
    engine = _Engine(real)
    engine.tape = tape
    Variable._execution_engine = engine
    hook = register_optimizer_step_pre_hook(tape.stepping)
    saved = sys.argv, sys.stdout, sys.getrecursionlimit()
    sys.argv = ["program", *argv]
    sys.stdout = _Sink()
    torch.manual_seed(0)
    random.seed(0)
    try:
        with warnings.catch_warnings(), torch.inference_mode(False), torch.enable_grad():
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.set_grad_enabled(True)
        Variable._execution_engine = real
        hook.remove()
        sys.argv, sys.stdout = saved[:2]
        sys.setrecursionlimit(saved[2])


class _Sink:
    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        return None


def run_once(
    program: Instrumented, argv: tuple[str, ...], names: dict[str, Any] | None = None
) -> tuple[Run, Tape]:
    """Run a program once; `names` are further names that its instrumentation calls."""
    gc.collect()
    gc.freeze()
    tape = Tape()
    scope: dict[str, Any] = {"__name__": "__main__", "__file__": FILE}
    scope.update(__enter__=tape.enter, __tick__=tape.tick, __leave__=tape.leave)
    scope.update(names or {})
    run = Run(argv, "clean")
    try:
        with _watched(tape, argv), time_limit(LIMIT, work=True):
            exec(program.code, scope)
    except TooLong:
        run.outcome, run.error = "error", "took too long"
    except (Exception, SystemExit) as error:
        _failed(run, error, program, tape)
    # A generator that is given up now leaves its loops after the program has ended.
    scope.update(dict.fromkeys(("__enter__", "__tick__", "__leave__"), lambda _: None))
    for name in [name for name in scope if name not in ("__enter__", "__tick__", "__leave__")]:
        del scope[name]
    run.trips = tape.longest()
    run.reached, run.held, run.trained = sorted(tape.reached), sorted(tape.held), sorted(tape.trained)
    if tape.silent and run.outcome == "clean":
        run.silent = next(kind for kind in ("carried", "shared", "views") if kind in tape.silent)
        run.silent_line = tape.silent[run.silent][0]
    return run, tape


def _failed(run: Run, error: BaseException, program: Instrumented, tape: Tape) -> None:
    if isinstance(error, SystemExit) and error.code in (0, None):
        return
    text = str(error)
    run.outcome = next((kind for part, kind in MESSAGES.items() if part in text), "error")
    run.error = f"{type(error).__name__}: {text}"[:200]
    run.lines = [f.lineno or 0 for f in traceback.extract_tb(error.__traceback__) if f.filename == FILE]
    if not run.lines:
        run.outcome = "error"
        return
    run.line = run.lines[-1]
    around = [(first, loop) for at in run.lines for loop, first, last in program.loops if first <= at <= last]
    for _, loop in around:
        run.counters[loop] = tape.iterations(loop)
    for at in reversed(run.lines):
        inner = [(first, loop) for loop, first, last in program.loops if first <= at <= last]
        if inner:
            run.iteration = tape.iterations(max(inner)[1])
            break


def _growth(run: Run, tape: Tape, longer: tuple[Run, Tape] | None) -> None:
    short = tape.generations()
    if longer is None:
        longest = tape.longest()
        run.grow_loops = [line for line, n in short.items() if n >= 4 and n >= longest[line] // 2]
        run.growth = "yes" if run.grow_loops else "unclear" if max(short.values(), default=0) > 2 else "no"
        return
    if longer[0].outcome != "clean":
        run.growth = "unclear"
        return
    more = longer[1].generations()
    run.grow_loops = [line for line, n in more.items() if n >= short.get(line, 0) + 2]
    if run.grow_loops:
        run.growth = "yes"
    elif any(
        n >= 3 and longer[1].longest()[line] <= tape.longest().get(line, 0) for line, n in more.items()
    ) or any(n > short.get(line, 0) for line, n in more.items()):
        run.growth = "unclear"
    elif longer[1].partly() > max(2, tape.partly()):
        run.growth = "unclear"  # two sums over the same losses, of which one is walked


def observe(source: str) -> list[Run]:
    """Run a program under every assignment of its unknown conditions, up to one that makes it no program."""
    longer_source = with_steps(source, 12)
    longer: Instrumented | None = None
    try:
        program = instrument(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        return [Run((), "error", error=f"does not compile: {error}")]
    runs = []
    for argv in assignments(source):
        run, tape = run_once(program, argv)
        if run.outcome == "clean":
            if longer is None and longer_source:
                longer = instrument(longer_source)
            _growth(run, tape, run_once(longer, argv) if longer else None)
            if run.growth == "yes":
                run.outcome = "grows"
        runs.append(run)
        if run.outcome == "error":
            break
    return runs
