"""The worker: a process that analyses one file at a time, and that the server can interrupt or kill.

Two threads: this module's reader takes messages off the pipe, so that a ``Cancel`` is seen while a job runs; the
main thread runs the jobs. Cancelling raises ``Superseded`` in the main thread by the one means Python has for
that, its interrupt signal. The standard output is the pipe to the server: whatever prints goes to standard
error. When the server's end closes, the worker ends.
"""

from __future__ import annotations

import _thread
import gc
import os
import queue
import signal
import sys
import threading
from typing import Any, BinaryIO

from loopgrad.lsp import wire


class Superseded(BaseException):
    """Raised inside of a job that is no longer wanted. No ``except Exception`` stops it."""


class Worker:
    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader = reader
        self._writer = writer
        self._messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._current: int | None = None
        self._cancelled: int | None = None

    def serve(self) -> None:
        from loopgrad.lsp.worker_jobs import Jobs

        signal.signal(signal.SIGINT, self._interrupt)
        threading.Thread(target=self._read, daemon=True, name="messages").start()
        jobs = Jobs()
        jobs.warm_up()
        gc.freeze()  # what is loaded by now stays
        while True:
            try:
                message = self._messages.get()
                if isinstance(message, wire.Setup):
                    jobs.set_up(message)
                elif isinstance(message, wire.Texts):
                    jobs.take(message)
                elif isinstance(message, wire.Run):
                    self._run(jobs, message)
            except Superseded:
                continue  # it came too late to stop anything

    def _run(self, jobs: Any, run: wire.Run) -> None:
        done = wire.Done(run.number, cancelled=True)
        try:
            self._current = run.number
            if self._cancelled != run.number:
                done = wire.Done(run.number, jobs.run(run.job))
        except Superseded:
            pass
        except Exception as error:
            if os.environ.get("LOOPGRAD_DEBUG"):
                sys.excepthook(type(error), error, error.__traceback__)
            done = wire.Done(run.number, error=f"{type(error).__name__}: {error}")
        self._current = None
        self._write(done)

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
                    self._cancelled = message.number
                    if self._current == message.number:
                        _thread.interrupt_main()
                else:
                    self._messages.put(message)
        except (EOFError, OSError):
            os._exit(0)

    def _interrupt(self, number: int, frame: object) -> None:
        if self._current is not None and self._current == self._cancelled:
            raise Superseded


def main() -> None:
    writer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    os.chdir(os.path.abspath(os.sep))  # no folder of the user's is the working folder, or on the path
    Worker(sys.stdin.buffer, writer).serve()
