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
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import IO, Any

from loopgrad.confirm.process import Child, adopting

START = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe", "start.py")

#: A scratch copy leaves these out, and is refused for a larger folder.
_NOT_COPIED = (".git", ".hg", ".svn", ".venv", "venv", "__pycache__", "node_modules", ".mypy_cache", ".tox")
_LARGEST_COPY = 2 << 30


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


@dataclass
class Observation:
    """What one process of a run said and how it ended. ``ended_by`` is why the host ended it, if it did."""

    events: list[dict[str, Any]] = field(default_factory=list)
    status: int | None = None
    ended_by: str | None = None  # timeout, cancelled, flood
    seconds: float = 0.0
    problem: str | None = None

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
            found = _run(replace(placed, redirect=redirect), sinks, cancel)
            if placed.device not in ("auto", "cpu") or not _wants_accelerator(found[0], placed):
                break
    if back is not None:
        for observation in found:
            observation.events = json.loads(json.dumps(observation.events).replace(*back))
    return found


def _run(request: Request, sinks: tuple[IO[bytes], IO[bytes]], cancel: threading.Event) -> list[Observation]:
    observations = [Observation() for _ in range(request.nproc)]
    children: list[Child] = []
    started = time.monotonic()
    port = _free_port() if request.nproc > 1 else 0
    with adopting(request.adopt) as adopted:
        try:
            for rank, observation in enumerate(observations):
                children.append(_start(request, rank, port, sinks, observation))
            _watch(request, children, observations, cancel, started)
        except OSError as error:
            observations[0].problem = str(error)
        finally:
            for child, observation in zip(children, observations):
                observation.status = child.end(adopted)
                observation.seconds = time.monotonic() - started
    return observations


def _start(
    request: Request, rank: int, port: int, sinks: tuple[IO[bytes], IO[bytes]], observation: Observation
) -> Child:
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
    }
    env = dict(os.environ)
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
            observation.events.append(json.loads(text))

    with tempfile.TemporaryFile() as file:
        file.write(json.dumps(job).encode())
        file.flush()
        file.seek(0)
        return Child(
            [request.python, START],
            job=file,
            cwd=request.cwd,
            env=env,
            out=sinks[0],
            err=sinks[1],
            line=line,
        )


def _watch(
    request: Request,
    children: list[Child],
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
