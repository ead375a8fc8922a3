"""Runs the script as Python itself would, with the watch over it, and says how it ended."""

from __future__ import annotations

import atexit
import builtins
import contextlib
import gc
import importlib.util
import os
import runpy
import sys
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any, NoReturn

from .channel import Channel
from .imports import Sources, install
from .job import Job

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep


def run(data: dict[str, Any], channel_fd: int) -> NoReturn:
    job = Job(**data)
    channel = Channel(channel_fd)
    try:
        import torch
    except ImportError as error:
        channel.send("no-torch", python=sys.executable, error=str(error))
        sys.exit(0)
    version = sys.version.partition(" ")[0]
    channel.send(
        "start", python=sys.executable, version=version, torch=str(torch.__version__), pid=os.getpid()
    )
    Runner(job, channel).run()


class Runner:
    def __init__(self, job: Job, channel: Channel) -> None:
        from .watch import Watch

        self._job = job
        self._channel = channel
        self._sources = Sources(job.replaced, marks="marks" not in job.without)
        self._watch = Watch(job, channel, self._stop)
        self._watch.places.files = self._sources.files
        self._sources.on_compiler = self._watch.drop_hook
        self._over = False
        self._exit: Callable[[int], NoReturn] = os._exit
        self._context: Any = None
        self._guesses: set[tuple[str, int]] = set()

    def run(self) -> NoReturn:
        self._prepare()
        how, status = "return", 0
        shown: BaseException | None = None
        try:
            self._execute()
        except SystemExit as error:
            how, status, shown = "exit", _status(error), error
        except BaseException as error:
            how, status, shown = "exception", 1, error
        for thread in threading.enumerate():  # as Python does at its end; training may go on in one
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
        self._end(how, shown, status)
        if how == "exception" and shown is not None:
            sys.excepthook(type(shown), shown, shown.__traceback__)
            status = 130 if isinstance(shown, KeyboardInterrupt) else status
        self._leave(status)

    # Before ----------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        from . import devices
        from .writes import Writes

        job = self._job
        _seed(job.seed)
        self._watch.install()
        for name, call in self._watch.places.calls().items():
            setattr(builtins, name, call)
        install(self._sources, lambda path: self._channel.send("file", path=path))
        problem, on = devices.prepare(job, lambda: self._channel.send("redirected"))
        if problem:
            self._channel.send("end", how="no-device", message=problem)
            sys.exit(0)
        self._channel.send("device", device=on)
        if job.shape_only:
            from . import shapes

            self._context = shapes.prepare(self._guessed, lambda path: path in self._sources.files)
        Writes(job.workspace, self._wrote).install()
        original_exit = self._exit
        owner = os.getpid()

        def leave(status: int) -> NoReturn:
            if os.getpid() == owner:
                self._end("os._exit", None, status=status)
            original_exit(status)

        os._exit = leave
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(line_buffering=True)  # nothing is lost if the run is ended
        self._import_ahead()
        gc.collect()
        gc.freeze()

    def _import_ahead(self) -> None:
        """The first optimizer imports torch._dynamo, 100,000 objects: now, they are frozen out of each look."""
        try:
            if self._job.module or b"optim" in open(self._job.script, "rb").read():  # noqa: SIM115
                importlib.import_module("torch._dynamo")
        except Exception:
            return

    def _guessed(self, frame: Any) -> None:
        place = (frame.f_code.co_filename, frame.f_lineno)
        if place not in self._guesses:
            self._guesses.add(place)
            self._channel.send("guessed", at=place)

    def _wrote(self, path: str) -> None:
        frames = self._watch.places.frames(sys._getframe(1))
        line = next(((frame.f_code.co_filename, frame.f_lineno) for frame in frames), None)
        self._channel.send("write", path=path, at=line)

    def _execute(self) -> None:
        job = self._job
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        if job.module:
            path = self._find_module(module)
        else:
            path = job.script
            sys.argv = [job.shown, *job.args]
            if not getattr(sys.flags, "safe_path", False):
                sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
            module.__file__ = path
            module.__spec__ = None
        module.__builtins__ = builtins  # type: ignore[attr-defined]
        self._channel.send("file", path=path)
        code = self._sources.compile(self._sources.text(path), path)
        self._channel.send("running")
        if self._context is None:
            exec(code, vars(module))
        else:
            with self._context:
                exec(code, vars(module))

    def _find_module(self, module: types.ModuleType) -> str:
        """What ``python -m`` does, by the part of ``runpy`` that it uses itself."""
        job = self._job
        sys.argv = ["-m", *job.args]
        if not getattr(sys.flags, "safe_path", False):
            sys.path.insert(0, os.getcwd())
        get_details: Any = runpy._get_module_details  # type: ignore[attr-defined]
        try:
            _, spec, _ = get_details(job.script)
        except ImportError as error:
            print(f"{sys.executable}: {error}", file=sys.stderr)
            raise SystemExit(1) from None
        sys.argv[0] = spec.origin
        module.__spec__ = spec
        module.__file__ = spec.origin
        module.__package__ = spec.parent
        module.__loader__ = spec.loader
        return str(spec.origin)

    # After -----------------------------------------------------------------------------------------

    def _end(self, how: str, error: BaseException | None, status: int | None) -> None:
        if self._over:
            return
        self._over = True
        data: dict[str, Any] = {}
        if error is not None:
            if how == "exception":
                frames = self._clean(error)
                self._watch.raised(error, frames)
                data["at"] = (frames[0][0].f_code.co_filename, frames[0][1]) if frames else None
            from .faults import outcome_of

            data.update(type=type(error).__name__, message=str(error)[:1000], outcome=outcome_of(error))
        self._channel.send("end", how=how, status=status, **{**self._watch.report(), **data})

    def _leave(self, status: int) -> NoReturn:
        """Ends as Python does, with what was registered for the end, but takes no modules apart.

        That would only be seen by ``__del__`` methods, which Python does not promise to call then, and it
        takes longer than many a script.
        """
        shutdown: Any = getattr(threading, "_shutdown", None)
        run_all: Any = atexit._run_exitfuncs
        for ending in (shutdown, run_all):
            if ending is not None:
                ending()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        self._exit(status & 0xFF if os.name != "nt" else status)

    def _clean(self, error: BaseException) -> list[tuple[types.FrameType, int]]:
        """Takes the probe's frames out of a traceback, and gives the user's, innermost first."""
        kept: list[types.TracebackType] = []
        trace = error.__traceback__
        while trace is not None:
            if not trace.tb_frame.f_code.co_filename.startswith(_OWN):
                kept.append(trace)
            trace = trace.tb_next
        for this, following in zip(kept, [*kept[1:], None]):
            this.tb_next = following
        error.__traceback__ = kept[0] if kept else None
        files = self._sources.files
        return [
            (trace.tb_frame, trace.tb_lineno)
            for trace in reversed(kept)
            if trace.tb_frame.f_code.co_filename in files
        ]

    def _stop(self, how: str) -> NoReturn:
        """The loop has run often enough: says so and ends here, without the script's own clean-up code.

        Raising would run the user's ``finally`` and ``except`` blocks, which save checkpoints. Temporary
        folders are removed all the same (their finalizers), and worker processes are ended.
        """
        self._end(how, None, status=0)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                continue
        process = sys.modules.get("multiprocessing")
        if process is not None:
            for child in process.active_children():
                child.terminate()
        finalizers: Any = weakref.finalize
        try:
            finalizers._exitfunc()
        finally:
            os._exit(0)


def _status(error: SystemExit) -> int:
    if error.code is None or isinstance(error.code, int):
        return error.code or 0
    print(error.code, file=sys.stderr)
    return 1


def _seed(seed: int) -> None:
    """The same random numbers in every run, where the script does not choose its own."""
    import random

    import torch

    random.seed(seed)
    torch.manual_seed(seed)
    if importlib.util.find_spec("numpy") is not None:
        try:
            import numpy

            numpy.random.seed(seed)
        except Exception:
            return
