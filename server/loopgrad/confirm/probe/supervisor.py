"""One run of a warm server: a process between the server and the script.

It leads a session of its own and takes in the orphans of the run (see ``tree.py``), which is why each run has
one. It tells the host when the script has ended and with which status, and ends the run, with all that came
of it, when the host says so or has gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
from typing import Any

from .tree import Tree, adopting, die_with


def supervise(
    connection: socket.socket, request: dict[str, Any], descriptors: list[int]
) -> tuple[dict[str, Any], int]:
    """Forks the run, and returns in it alone, with its job and the channel to the host."""
    os.setsid()
    with adopting(True) as adopted:
        own = os.getpid()
        pid = os.fork()
        if pid:
            for descriptor in descriptors:
                os.close(descriptor)
            try:
                _watch(connection, pid, adopted)
            finally:
                os._exit(0)
    connection.close()
    os.setsid()
    die_with(own)
    return _become(request, descriptors)


def _watch(connection: socket.socket, pid: int, adopted: Any) -> None:
    status: list[int] = []

    def poll() -> int | None:
        if not status:
            done, raw = os.waitpid(pid, os.WNOHANG)
            if done:
                status.append(os.waitstatus_to_exitcode(raw))
        return status[0] if status else None

    tree = Tree(pid, poll)
    connection.settimeout(5.0)
    wakers: list[Any] = [connection, *_descriptor_of(pid)]
    with contextlib.suppress(OSError):  # the host has gone
        _tell(connection, pid=pid)
        while True:
            ready, _, _ = select.select(wakers, [], [], 0.2 if len(wakers) != 1 or status else 0.02)
            if connection in ready:
                connection.recv(64)
                break  # "end", or nothing: the host has gone
            if not status:
                tree.look()
                if poll() is not None:
                    wakers = [connection]
                    _tell(connection, exited=status[0])
    tree.end(adopted)
    with contextlib.suppress(OSError):
        _tell(connection, ended=poll())


def _descriptor_of(pid: int) -> list[int]:
    """A descriptor that becomes readable when a process ends, where there are such."""
    opener: Any = getattr(os, "pidfd_open", None)
    try:
        return [opener(pid, 0)] if opener is not None else []
    except OSError:
        return []


def _tell(connection: socket.socket, **message: Any) -> None:
    connection.sendall(json.dumps(message).encode() + b"\n")


def _become(request: dict[str, Any], descriptors: list[int]) -> tuple[dict[str, Any], int]:
    """Makes of a fork what a fresh interpreter in the request's place would be."""
    job, channel, out, err = descriptors
    nothing = os.open(os.devnull, os.O_RDONLY)
    # The streams of a fresh interpreter, which stand on pipes as these do.
    for source, target in ((nothing, 0), (out, 1), (err, 2)):
        os.dup2(source, target, inheritable=True)
    for descriptor in (nothing, out, err):
        if descriptor > 2:
            os.close(descriptor)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request["env"])
    os.umask(int(request["umask"]))
    try:
        os.chdir(request["cwd"])
    except OSError:
        os._exit(1)
    process: Any = sys.modules.get("multiprocessing.process")
    if process is not None:  # it notes both when it is imported
        process.ORIGINAL_DIR = request["cwd"]
        process.current_process().authkey = os.urandom(32)
    with os.fdopen(job, "rb") as file:
        data: dict[str, Any] = json.loads(file.read())
    return data, channel
