"""Runs a request and gathers what the probe said: one ``Observation``."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import IO, Any

from loopgrad.confirm import warm
from loopgrad.confirm.probe.tree import adopting
from loopgrad.confirm.process import Child, Running
from loopgrad.confirm.warm import Warm, WarmError

START = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe", "start.py")

#: A scratch copy leaves these out, and is refused for a larger folder.
_NOT_COPIED = (".git", ".hg", ".svn", ".venv", "venv", "__pycache__", "node_modules", ".mypy_cache", ".tox")
_LARGEST_COPY = 2 << 30

#: Variables of a run where the user's environment has none. One order of sets in all runs, since what is
#: compared bit for bit must not hang on it; no window that waits to be closed; no account of a try sent anywhere.
_DEFAULTS = {"PYTHONHASHSEED": "0", "MPLBACKEND": "Agg", "WANDB_MODE": "disabled"}


class ScratchError(Exception):
    """The folder cannot be copied."""


@dataclass(frozen=True)
class Request:
    """What to run, and how."""

    script: str
    module: bool = False
    args: tuple[str, ...] = ()
    device: str = "auto"
    steps: int = 8
    timeout: float = 120.0
    nproc: int = 1
    shape_only: bool = False
    scratch_copy: bool = False
    python: str = sys.executable
    cwd: str = field(default_factory=os.getcwd)
    #: Texts that stand in for files, as (absolute path, text).
    replaced: tuple[tuple[str, str], ...] = ()
    #: The CPU stands in for an accelerator: 0 no, 1 yes, 2 and says that there is one.
    redirect: int = 0
    #: Take in orphans while it runs. Only for a process that starts no other children meanwhile.
    adopt: bool = False
    #: Have a process that holds torch fork the run, and keep it for the next.
    warm: Warm | None = None
    #: Note the calls that led to each statement.
    details: bool = False
    #: Parts of the probe to leave out, to measure what they cost; see ``probe/job.py``.
    without: tuple[str, ...] = ()


@dataclass
class Observation:
    """What one process of a run said and how it ended. ``ended_by`` is why the host ended it, if it did."""

    events: list[dict[str, Any]] = field(default_factory=list)
    status: int | None = None
    ended_by: str | None = None  # timeout, cancelled, flood
    seconds: float = 0.0
    problem: str | None = None
    #: A warm server forked it.
    warm: bool = False
    #: Told of each event as it comes, in the thread that reads the channel.
    on_event: Callable[[dict[str, Any]], None] = lambda event: None

    def all(self, name: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["event"] == name]

    def last(self, name: str) -> dict[str, Any] | None:
        found = self.all(name)
        return found[-1] if found else None


def observe(
    request: Request,
    *,
    out: IO[bytes] | None = None,
    err: IO[bytes] | None = None,
    cancel: threading.Event | None = None,
    on_event: Callable[[dict[str, Any]], None] = lambda event: None,
) -> list[Observation]:
    """Runs a request: one observation for each rank, most often one.

    A script that turns out to need an accelerator is run again with the CPU standing in for it, and one that
    then still refuses is told that there is one.
    """
    with open(os.devnull, "wb") as nowhere, _scratch(request) as (placed, back):
        sinks = (out or nowhere, err or nowhere)
        cancel = cancel or threading.Event()
        found: list[Observation] = []
        for redirect in range(_asks_for_accelerator(placed), 3):
            found = _run(replace(placed, redirect=redirect), sinks, cancel, on_event)
            if placed.device not in ("auto", "cpu") or not _wants_accelerator(found[0], placed):
                break
    if back is not None:
        for observation in found:
            observation.events = json.loads(json.dumps(observation.events).replace(*back))
    return found


def _run(
    request: Request,
    sinks: tuple[IO[bytes], IO[bytes]],
    cancel: threading.Event,
    on_event: Callable[[dict[str, Any]], None],
) -> list[Observation]:
    found = _run_once(request, sinks, cancel, on_event)
    lost = any(each.warm and each.ended_by is None and each.last("start") is None for each in found)
    if lost and not cancel.is_set():  # a fork that did not come to life
        return _run_once(replace(request, warm=None), sinks, cancel, on_event)
    return found


def _run_once(
    request: Request,
    sinks: tuple[IO[bytes], IO[bytes]],
    cancel: threading.Event,
    on_event: Callable[[dict[str, Any]], None],
) -> list[Observation]:
    observations = [Observation() for _ in range(request.nproc)]
    observations[0].on_event = on_event
    children: list[Running] = []
    started = time.monotonic()
    port = _free_port() if request.nproc > 1 else 0
    with adopting(request.adopt, warm.LAUNCHED) as adopted:
        try:
            for rank, observation in enumerate(observations):
                children.append(_start(request, rank, port, sinks, observation, cancel))
            _watch(request, children, observations, cancel, started)
        except OSError as error:
            observations[0].problem = str(error)
        finally:
            for child, observation in zip(children, observations):
                observation.status = child.end(adopted)
                observation.seconds = time.monotonic() - started
    return observations


def _start(
    request: Request,
    rank: int,
    port: int,
    sinks: tuple[IO[bytes], IO[bytes]],
    observation: Observation,
    cancel: threading.Event,
) -> Running:
    script = request.script if request.module else os.path.join(request.cwd, request.script)
    folder = request.cwd if request.module else os.path.dirname(os.path.realpath(script))
    job = {
        "script": script,
        "shown": request.script,
        "module": request.module,
        "args": list(request.args),
        "steps": request.steps,
        "device": request.device,
        "shape_only": request.shape_only,
        "redirect": request.redirect,
        "replaced": dict(request.replaced),
        "workspace": [folder, request.cwd],
        "parent": os.getpid(),
        "seconds": max(1.0, request.timeout * 0.95 - 1.0),
        "details": request.details,
        "without": list(request.without),
    }
    base = {**_DEFAULTS, **os.environ}
    env = dict(base)
    if request.device == "cpu":
        env["CUDA_VISIBLE_DEVICES"] = ""
    if request.nproc > 1:  # what torchrun sets, see "Environment Variables" in its manual
        env.update(
            RANK=str(rank),
            LOCAL_RANK=str(rank),
            WORLD_SIZE=str(request.nproc),
            LOCAL_WORLD_SIZE=str(request.nproc),
            GROUP_RANK="0",
            MASTER_ADDR="127.0.0.1",
            MASTER_PORT=str(port),
            TORCHELASTIC_RESTART_COUNT="0",
            TORCHELASTIC_MAX_RESTARTS="0",
            TORCHELASTIC_RUN_ID="loopgrad",
        )

    def line(text: bytes) -> None:
        with contextlib.suppress(ValueError):
            event = json.loads(text)
            observation.events.append(event)
            observation.on_event(event)

    with tempfile.TemporaryFile() as file:
        options: dict[str, Any] = {"cwd": request.cwd, "env": env, "line": line}
        options.update(job=file, out=sinks[0], err=sinks[1])
        if request.warm is not None and warm.AVAILABLE:
            deadline = time.monotonic() + request.timeout
            _write(file, {**job, "parent": 0})  # its supervisor sees to it
            with contextlib.suppress(WarmError, OSError):
                command = (request.python, START)
                child = warm.start(
                    request.warm, command, base=base, cancel=cancel, deadline=deadline, **options
                )
                observation.warm = True
                return child
        _write(file, job)
        return Child([request.python, START], **options)


def _write(file: IO[bytes], job: dict[str, Any]) -> None:
    file.seek(0)
    file.truncate()
    file.write(json.dumps(job).encode())
    file.flush()
    file.seek(0)


def _watch(
    request: Request,
    children: list[Running],
    observations: list[Observation],
    cancel: threading.Event,
    started: float,
) -> None:
    """Waits until all have ended, or one of the limits has come."""
    deadline = started + request.timeout
    while True:
        statuses = [child.wait(0.1 / len(children)) for child in children]
        if all(status is not None for status in statuses):
            return
        if any(status is not None for status in statuses):
            deadline = min(deadline, time.monotonic() + 10.0)  # the others wait for it
            if any(observation.last("fault") for observation in observations):
                return
        reason = None
        if cancel.is_set():
            reason = "cancelled"
        elif time.monotonic() > deadline:
            reason = "timeout"
        elif any(child.flooded for child in children):
            reason = "flood"
        if reason is not None:
            for status, observation in zip(statuses, observations):
                if status is None:
                    observation.ended_by = reason
            return


def _asks_for_accelerator(request: Request) -> int:
    """Whether a script names an accelerator and never asks whether there is one."""
    text = _text(request)
    names = re.search(r"\.cuda\(|[\"']cuda(:\d+)?[\"']", text)
    return int(bool(names) and "is_available" not in text and request.device in ("auto", "cpu"))


def _text(request: Request) -> str:
    try:
        with open(os.path.join(request.cwd, request.script), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _wants_accelerator(observation: Observation, request: Request) -> bool:
    """Ended before any backward, saying that it wants a GPU where there is none."""
    end = observation.last("end")
    if end is None or end.get("passes") or not end.get("status"):
        return False
    if end["how"] == "exit" and "is_available" in _text(request):
        return True
    words = str(end.get("message", "")).lower()
    return any(word in words for word in ("cuda", "gpu", "nvidia", "nccl"))


@contextlib.contextmanager
def _scratch(request: Request) -> Iterator[tuple[Request, tuple[str, str] | None]]:
    """The request placed in a copy of the script's folder, and how to say the paths as they are."""
    if not request.scratch_copy:
        yield request, None
        return
    script = os.path.realpath(os.path.join(request.cwd, request.script))
    folder = request.cwd if request.module else os.path.dirname(script)
    folder = os.path.realpath(folder)
    _check_size(folder)
    parent = os.path.realpath(tempfile.mkdtemp(prefix="loopgrad-scratch-"))
    try:
        copy = os.path.join(parent, os.path.basename(folder) or "root")
        shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(*_NOT_COPIED))
        replaced = tuple((path.replace(folder, copy, 1), text) for path, text in request.replaced)
        moved = request.script if request.module else os.path.join(copy, os.path.basename(script))
        real_cwd = os.path.realpath(request.cwd)
        inside = real_cwd == folder or real_cwd.startswith(folder + os.sep)
        cwd = real_cwd.replace(folder, copy, 1) if inside else copy
        yield replace(request, script=moved, cwd=cwd, replaced=replaced), (copy, folder)
    finally:
        shutil.rmtree(parent, ignore_errors=True)


def _check_size(folder: str) -> None:
    total = 0
    for where, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NOT_COPIED]
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(where, name)).st_size
        if total > _LARGEST_COPY:
            raise ScratchError(folder)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
