"""Checking sources in forked processes, each under a limit of memory, CPU time and waiting.

A process that dies or hangs is replaced, and costs the source that it held alone.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import resource
import signal
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from types import FrameType

from loopgrad.checker import Checker, FileOutcome
from loopgrad.config import Config
from loopgrad.source import FileProvider, SourceError, SourceFile

#: Seconds of CPU time for one source with the fixes of all its findings; the engine's own budget is far below.
CPU_SECONDS = 30
#: Seconds of CPU time after which the process is ended that no exception has stopped: it runs in another thread, or in C.
KILLED_AFTER = 10
#: Seconds to wait for a process that takes no CPU time.
DEADLINE = 600.0
#: Bytes that the process may take for one source beyond what it had before.
MEMORY = 1 << 30
#: What must fit in any case: the interpreter, the engine, what earlier sources left in caches.
ADDRESS_SPACE = MEMORY + (3 << 30)


class OutOfTime(BaseException):
    """The source took too much CPU time. No `except Exception` of the engine may swallow it."""


@dataclass(frozen=True)
class Result:
    """What checking one source showed.

    `failure` is empty or names what went wrong in a way that is equal for equal causes (`KeyError in f:12`);
    `parsed` says whether it was Python at all; `partial` holds the keys of the reasons for a partial analysis.
    """

    failure: str = ""
    detail: str = ""
    parsed: bool = False
    findings: int = 0
    partial: tuple[str, ...] = ()
    seconds: float = 0.0


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    inner = [frame for frame in frames if "loopgrad" in frame.filename] or frames
    return f"{os.path.basename(inner[-1].filename)}:{inner[-1].name}" if inner else "?"


def _outside(outcome: FileOutcome, source: SourceFile) -> str:
    """A finding, a step of its story or an edit that lies outside the text it is about."""
    for finding in outcome.findings:
        places = [finding.range, *(step.range for step in finding.trace if step.path == source.path)]
        places += [edit.range for fix in finding.fixes for edit in fix.edits if edit.path == source.path]
        for place in places:
            if not 1 <= place.line <= place.end_line <= len(source.lines) + 1 or place.column < 1:
                return f"{finding.code}: {place}"
            if (
                place.end_line <= len(source.lines)
                and place.end_column > len(source.line(place.end_line)) + 1
            ):
                return f"{finding.code}: {place}"
    return ""


def check(data: bytes) -> Result:
    """Check one source with its fixes, in this process; whatever is raised is part of the result."""
    began, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    failure = detail = ""
    parsed, outcome = False, FileOutcome("fuzzed.py")
    try:
        source = SourceFile.from_bytes("fuzzed.py", data)
        outcome = Checker(Config(None, None), FileProvider(), offer_fixes=True).check_source(source)
        internal = [problem for problem in outcome.problems if problem.message.key == "check.internal"]
        parsed = not outcome.problems
        if internal:
            failure, detail = "internal error", str(internal[0].message.args)
        detail = detail or _outside(outcome, source)
        failure = failure or ("position outside the text" if detail else "")
    except SourceError:
        pass
    except OutOfTime as error:
        failure, detail = "out of time", _place(error)
    except BaseException as error:
        failure = f"{type(error).__name__} in {_place(error)}"
        detail = "".join(traceback.format_exception(error)[-12:])
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) * 1024
    if grown > MEMORY and not failure:
        failure, detail = "out of memory", f"{grown >> 20} MiB more"
    partial = tuple(sorted({part.reason.key for part in outcome.partial}))
    return Result(failure, detail, parsed, len(outcome.findings), partial, time.process_time() - began)


def _ring(_signal: int, _frame: FrameType | None) -> None:
    raise OutOfTime


def _serve(connection: Connection) -> None:
    os.environ["LOOPGRAD_DEBUG"] = "1"  # so that an internal error comes with its traceback
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)  # the parser's warnings about odd literals
    signal.signal(signal.SIGPROF, _ring)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # nothing to import is in reach
        while True:
            try:
                data = connection.recv_bytes()
            except (EOFError, OSError):
                return
            used = int(time.process_time())
            resource.setrlimit(
                resource.RLIMIT_CPU, (used + CPU_SECONDS + KILLED_AFTER, resource.RLIM_INFINITY)
            )
            signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
            try:
                result = check(data)
            except OutOfTime:  # it rang between the end of the check and its being stopped
                result = Result("out of time", "at the end")
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            connection.send(result)


class _Process:
    def __init__(self) -> None:
        context = multiprocessing.get_context("fork")
        self.connection, other = context.Pipe()
        self.process: ForkProcess = context.Process(target=_serve, args=(other,), daemon=True)
        self.process.start()
        other.close()
        self.job: int | None = None
        self.since = 0.0
        self.served = 0

    def give(self, number: int, data: bytes) -> None:
        self.job, self.since = number, time.monotonic()
        self.connection.send_bytes(data)

    def end(self) -> int | None:
        self.connection.close()
        self.process.join(1.0)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        return self.process.exitcode


class Pool:
    """A few processes; `check` yields the results as they come."""

    def __init__(self, workers: int = 1) -> None:
        for part in ("loopgrad.rules", "loopgrad.fixes"):  # loaded once, before the forks
            importlib.import_module(part)
        self.processes = [_Process() for _ in range(workers)]

    def check(self, sources: Iterable[bytes]) -> Iterator[tuple[int, Result]]:
        """Check each source; yields its number and the result, not in order."""
        jobs = iter(enumerate(sources))
        while True:
            for at, process in enumerate(self.processes):
                if process.job is None:
                    job = next(jobs, None)
                    if job is None:
                        break
                    if process.served >= 500:  # the peak of memory is that of a process's whole life
                        process.end()
                        self.processes[at] = process = _Process()
                    process.give(*job)
            busy = {process.connection: process for process in self.processes if process.job is not None}
            if not busy:
                return
            for connection in wait(list(busy), timeout=1.0):
                yield self._answer(busy.pop(connection))  # type: ignore[index]
            for process in busy.values():
                if time.monotonic() - process.since > DEADLINE:
                    yield self._lost(process, "hang")

    def _answer(self, process: _Process) -> tuple[int, Result]:
        try:
            result: Result = process.connection.recv()
        except (EOFError, OSError):
            return self._lost(process, "crash")
        number, process.job = process.job, None
        process.served = process.served + 1 if result.failure != "out of memory" else 500
        assert number is not None
        return number, result

    def _lost(self, process: _Process, failure: str) -> tuple[int, Result]:
        number = process.job
        assert number is not None
        if failure == "hang":
            process.process.kill()
        code = process.end()
        if code == -signal.SIGXCPU:
            failure = "out of time"
        self.processes[self.processes.index(process)] = _Process()
        return number, Result(failure, f"exit status {code}")

    def close(self) -> None:
        for process in self.processes:
            process.end()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
