"""Running one program in PyTorch and saying what happened: the ground truth of every comparison.

A program is run with every combination of its unknown conditions, once with the steps it names (`N = 6`)
and, if that is clean, once with twice as many, which tells growth from a bounded keep. One that draws by chance
is run with several seeds of Python's `random`: what is possible shows with some of them, what is certain with all.
"""

from __future__ import annotations

import gc
import random
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any

import torch
from torch.autograd.variable import Variable
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.overrides import TorchFunctionMode

from .instrument import FILE, Instrumented, assignments, instrument, more_steps, with_epochs, with_steps
from .limits import TooLong, time_limit
from .tape import Tape

_ON_LEAF = "leaf Variable that requires grad"
MESSAGES = {
    "backward through the graph a second time": "second-backward",
    "modified by an inplace operation": "inplace-version",
    _ON_LEAF: "leaf-inplace",
    "does not require grad and does not have a grad_fn": "no-grad-fn",
}
RAISING = tuple(MESSAGES.values())
#: Processor time of one run; they take some hundredths of a second.
LIMIT = 4.0
Change = Callable[[str, int], "str | None"]
#: How many seeds a program is run with that draws by chance (torch's own seed is the program's).
SEEDS = 8
_DRAWS = re.compile(r"(?<![\w.])random\.(?!seed\b)\w+\(")


@dataclass
class Run:
    """What one run of a program showed.

    `outcome` is one of the four exceptions, `grows`, `clean` or `error`; `counters` holds the iteration of
    each loop around the raising line, by the loop's line; `trips` says how often each loop ran; `growth` is
    `yes`, `no` or `unclear`; `seed` is that of Python's `random`.
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
    seed: int = 0

    @property
    def given(self) -> str:
        """What the run was given, in words: its flags, and the seed if it is not the first."""
        flags = " ".join(self.argv) or "no flags"
        return f"{flags}, seed {self.seed}" if self.seed else flags

    def data(self) -> dict[str, Any]:
        """The run as plain data."""
        return asdict(self)


class _Engine:
    """A proxy of the autograd engine that lets a tape see every pass."""

    def __init__(self, real: Any, retain: bool = False) -> None:
        self._real = real
        self._retain = retain
        self.tape: Tape | None = None

    def run_backward(self, *args: Any, **options: Any) -> Any:
        if self._retain:
            return self._run_on(args, options)
        if self.tape is None:
            return self._real.run_backward(*args, **options)
        return self.tape.run_backward(self._real.run_backward, args, options)

    def _run_on(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        try:
            return self._real.run_backward(*args[:2], True, *args[3:], **options)
        except RuntimeError:
            if options.get("accumulate_grad"):
                return ()
            # Of `autograd.grad`, whose results are wanted.
            return tuple(torch.zeros_like(t) if isinstance(t, torch.Tensor) else None for t in args[4])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


@contextmanager
def _watched(tape: Tape, argv: tuple[str, ...], seed: int, retain: bool) -> Iterator[None]:
    real = Variable._execution_engine
    engine = _Engine(real, retain)
    engine.tape = tape
    Variable._execution_engine = engine
    hook = register_optimizer_step_pre_hook(tape.stepping)
    saved = sys.argv, sys.stdout, sys.getrecursionlimit()
    sys.argv = ["program", *argv]
    sys.stdout = _Sink()
    torch.manual_seed(0)
    random.seed(seed)
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
    program: Instrumented,
    argv: tuple[str, ...],
    names: dict[str, Any] | None = None,
    seed: int = 0,
    retain: bool = False,
) -> tuple[Run, Tape]:
    """Run a program once; `names` are further names that its instrumentation calls; `retain` frees no graph, and
    goes on where a backward or a change of a leaf raises."""
    gc.collect()
    gc.freeze()
    tape = Tape()
    scope: dict[str, Any] = {"__name__": "__main__", "__file__": FILE}
    hooks = {"__enter__": tape.enter, "__tick__": tape.tick, "__leave__": tape.leave, "__done__": tape.done}
    scope.update(hooks, __over__=tape.over)
    scope.update(names or {})
    run = Run(argv, "clean", seed=seed)
    try:
        forgiven = _OnLeaves() if retain else nullcontext()
        with _watched(tape, argv, seed, retain), time_limit(LIMIT, work=True), forgiven:
            exec(program.code, scope)
    except TooLong:
        run.outcome, run.error = "error", "took too long"
    except (Exception, SystemExit) as error:
        _failed(run, error, program, tape)
    # A generator that is given up now leaves its loops after the program has ended.
    scope.update(dict.fromkeys(hooks, lambda _: None), __over__=lambda _, value: value)
    for name in [name for name in scope if name not in (*hooks, "__over__")]:
        del scope[name]
    run.trips = tape.longest()
    run.reached, run.held, run.trained = sorted(tape.reached), sorted(tape.held), sorted(tape.trained)
    if tape.silent and run.outcome == "clean":
        run.silent = next(kind for kind in ("carried", "shared", "views") if kind in tape.silent)
        run.silent_line = tape.silent[run.silent][0]
    return run, tape


class _OnLeaves(TorchFunctionMode):
    """Changes a leaf in place where torch would raise for that."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        try:
            return func(*args, **(kwargs or {}))
        except RuntimeError as error:
            if _ON_LEAF not in str(error):
                raise
            with torch.no_grad():
                return func(*args, **(kwargs or {}))


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


class _Longer:
    """The same program with other numbers of steps or epochs."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.programs: dict[tuple[Change, int], Instrumented | None] = {}

    def run(self, like: Run, change: Change, to: int) -> tuple[Run, Tape] | None:
        """Run it as `like` was run; None where the program does not have that number."""
        if (change, to) not in self.programs:
            text = change(self.source, to)
            self.programs[change, to] = instrument(text) if text else None
        program = self.programs[change, to]
        return run_once(program, like.argv, seed=like.seed) if program else None


def _growth(run: Run, tape: Tape, programs: _Longer) -> None:
    short = tape.generations()
    longer = programs.run(run, with_steps, more_steps(programs.source)[0])
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
        apart = longer[1].generations(sequences=False), tape.generations(sequences=False)
        if not any(apart[0][line] >= apart[1].get(line, 0) + 2 for line in run.grow_loops):
            run.growth = "unclear"  # a sequence, walked once, in its last step
        else:
            run.growth = "yes" if _goes_on(run, programs, short, more) else "unclear"
    elif any(
        n >= 3 and longer[1].longest()[line] <= tape.longest().get(line, 0) for line, n in more.items()
    ) or any(n > short.get(line, 0) for line, n in more.items()):
        run.growth = "unclear"
    elif longer[1].partly() > max(2, tape.partly()):
        run.growth = "unclear"  # two sums over the same losses, of which one is walked
    else:
        # Over two or three epochs nothing can be told; a number of steps that each keeps is growth over more.
        epochs = programs.run(run, with_epochs, 6)
        if epochs is not None:
            turns, before = epochs[1].longest(), tape.longest()
            over = [n for line, n in epochs[1].generations().items() if turns[line] > before.get(line, 0)]
            run.growth = "unclear" if max(over, default=0) >= 5 else "no"


def _goes_on(run: Run, programs: _Longer, short: dict[int, int], more: dict[int, int]) -> bool:
    """Whether what keeps little more in 12 steps keeps more again in 24: two values that each hold their last
    iterations may be the same ones after 6 (the best loss so far and the newest)."""
    further = more_steps(programs.source)[1:]
    if not further or any(more[line] - short.get(line, 0) > 3 for line in run.grow_loops):
        return True
    longest = programs.run(run, with_steps, further[0])
    if longest is None or longest[0].outcome != "clean":
        return True
    most = longest[1].generations()
    return any(most.get(line, 0) > more[line] for line in run.grow_loops)


def observe(source: str) -> list[Run]:
    """Run a program under every assignment of its unknown conditions, up to one that makes it no program."""
    try:
        program = instrument(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        return [Run((), "error", error=f"does not compile: {error}")]
    longer = _Longer(source)
    seeds = range(SEEDS if _DRAWS.search(source) else 1)
    runs = []
    for argv, seed in product(assignments(source), seeds):
        run, tape = run_once(program, argv, seed=seed)
        if run.outcome == "clean":
            _growth(run, tape, longer)
            if run.growth == "yes":
                run.outcome = "grows"
        runs.append(run)
        if run.outcome == "error":
            break
    return runs


def behind(source: str, like: Run) -> str:
    """The error of another kind that a run comes to behind the exception that ended it, were that not raised."""
    run, _ = run_once(instrument(source), like.argv, seed=like.seed, retain=True)
    return run.error if run.outcome == "error" else ""
