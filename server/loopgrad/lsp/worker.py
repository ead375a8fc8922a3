"""The worker: a process that analyses one file at a time, and that the server can interrupt or kill.

Two threads: the reader takes messages off the pipe, so that a ``Cancel`` is seen while a job runs; the other one
runs the jobs, with the large stack that the engine wants (``loopgrad.rules.deep``), so that the engine needs no
thread of its own, which would go on with what nobody waits for any more. Cancelling raises ``Superseded`` in the
thread of the jobs. The standard output is the pipe to the server: whatever prints goes to standard error. When
the server's end closes, the worker ends.
"""

from __future__ import annotations

import ctypes
import gc
import os
import queue
import sys
import threading
from contextlib import suppress
from typing import Any, BinaryIO

from loopgrad.collector import collect_seldom
from loopgrad.lsp import wire
from loopgrad.rules.deep import run_deep

#: Seconds without a message after which the worker tidies up.
PAUSE = 1.0


class Superseded(BaseException):
    """Raised inside of a job that is no longer wanted. No ``except Exception`` stops it."""


class Worker:
    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader = reader
        self._writer = writer
        self._messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
        #: The number of the job that runs and may be interrupted, and of the one that was told to stop last.
        self._current: int | None = None
        self._cancelled: int | None = None
        self._interrupted: int | None = None
        self._lock = threading.Lock()
        self._thread = 0

    def serve(self) -> None:
        from loopgrad.lsp.worker_jobs import Jobs

        self._thread = threading.get_ident()
        threading.Thread(target=self._read, daemon=True, name="messages").start()
        jobs = Jobs()
        jobs.warm_up()
        gc.freeze()  # what is loaded by now stays
        collect_seldom()
        while True:
            message = self._next(jobs)
            if isinstance(message, wire.Setup):
                jobs.set_up(message)
            elif isinstance(message, wire.Texts):
                jobs.take(message)
            elif isinstance(message, wire.Run):
                self._write(self._run(jobs, message))

    def _next(self, jobs: Any) -> Any:
        """The next message. A pause is used to write and to give back what the jobs before it have gathered."""
        try:
            return self._messages.get(timeout=PAUSE)
        except queue.Empty:
            jobs.rest()
            gc.collect()
            _trim()
            return self._messages.get()

    def _run(self, jobs: Any, run: wire.Run) -> wire.Done:
        done = wire.Done(run.number, cancelled=True)
        try:
            try:
                with self._lock:
                    wanted = self._cancelled != run.number
                    self._current = run.number if wanted else None
                if wanted:
                    done = wire.Done(run.number, jobs.run(run.job))
            finally:
                self._settle()
        except Superseded:
            self._settle()
        except Exception as error:
            if os.environ.get("LOOPGRAD_DEBUG"):
                sys.excepthook(type(error), error, error.__traceback__)
            done = wire.Done(run.number, error=f"{type(error).__name__}: {error}")
        return done

    def _settle(self) -> None:
        """From here on nothing is interrupted; an interruption that has not arrived yet is taken back."""
        with self._lock:
            self._current = None
        _raise_in(self._thread, None)

    def _write(self, done: wire.Done) -> None:
        try:
            data = wire.pack(done)
        except Exception as error:  # a result that cannot be pickled
            data = wire.pack(wire.Done(done.number, error=f"{type(error).__name__}: {error}"))
        self._writer.write(data)
        self._writer.flush()

    # Messages and interruptions --------------------------------------------------------------------

    def _read(self) -> None:
        try:
            while True:
                message = wire.read(self._reader)
                if isinstance(message, wire.Cancel):
                    self._cancel(message.number)
                else:
                    self._messages.put(message)
        except (EOFError, OSError):
            os._exit(0)

    def _cancel(self, number: int) -> None:
        with self._lock:
            self._cancelled = number
            if self._current == number and self._interrupted != number:
                self._interrupted = number
                _raise_in(self._thread, Superseded)


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Raises an exception in a thread at its next step of Python; None takes back one that has not come yet."""
    argument = ctypes.py_object() if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), argument)


def _trim() -> None:
    """Gives free memory back to the system, where the C library knows how (glibc does not by itself)."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def main() -> None:
    writer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    os.chdir(os.path.abspath(os.sep))  # no folder of the user's is the working folder, or on the path
    run_deep(Worker(sys.stdin.buffer, writer).serve)
