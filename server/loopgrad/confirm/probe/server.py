"""A warm server: torch is imported once, and each run is forked from it.

The host starts it with ``start.py serve SETTINGS READY`` (two inherited descriptors): settings as JSON, and
a pipe that gets one line when it listens. It listens on a socket in the host's private folder; a request is a
line of JSON with four descriptors (job, channel, standard output and error), and must carry the token, which
only who may read that folder knows, and the *key*, the host's digest of the interpreter and its environment.

What it never does is go on where a fresh interpreter would be another one: a request with another key, a
module on disk that has changed since it was imported, or a package installed meanwhile ends it, and the host
starts the next. It ends too with the process that it was started for, after some idle minutes, and when its
socket is gone. It runs no thread, imports nothing of the user's and never touches an accelerator, since
either would make a fork unsafe.

A forked request becomes a *supervisor* (``supervisor.py``), and that forks the run.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import hmac
import importlib
import json
import os
import select
import signal
import socket
import sys
import sysconfig
import threading
import time
from typing import Any

from . import supervisor
from .sockets import short

#: The longest line that a request may be: an environment can be large.
_LONGEST = 8 << 20
_DESCRIPTORS = 4
_TICK = 2.0


def serve(settings: int, ready: int) -> tuple[dict[str, Any], int] | None:
    """Serves until it ends (None), or returns in a forked run, with its job and channel."""
    with os.fdopen(settings, "rb") as file:
        given = json.loads(file.read())
    os.set_inheritable(ready, False)
    if not _preload():
        return None
    server = Server(given)
    os.chdir("/")
    gc.collect()
    gc.freeze()
    os.write(ready, b"\nready\n")
    nothing = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):  # they were the pipe as well, so that the streams are made for one
        os.dup2(nothing, descriptor, inheritable=True)
    os.close(ready)
    os.close(nothing)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # and so through what follows
    try:
        return server.run()
    finally:
        if not server.forked:
            server.close()


def _preload() -> bool:
    """What nearly every run needs, and nothing that a plain run would not import by itself."""
    try:
        importlib.import_module("torch")
    except Exception:
        return False
    for name in ("torch._dynamo", "numpy"):
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    for name in ("runner", "watch", "devices", "writes"):
        importlib.import_module(f"{__package__}.{name}")
    return True


class Server:
    def __init__(self, given: dict[str, Any]) -> None:
        self._path, self._token_path = given["socket"], given["token"]
        self._key = given["key"]
        self._idle = float(given["idle"])
        self._parent = _Other(int(given["parent"])) if given.get("parent") else None
        self._token = os.urandom(24).hex()
        self._running: set[int] = set()
        self.forked = False
        for path in (self._path, self._token_path):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        descriptor = os.open(self._token_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(self._token)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        old = os.umask(0o177)
        try:
            with short(self._path) as path:
                self._listener.bind(path)
        finally:
            os.umask(old)
        self._listener.listen(16)
        self._inode = os.stat(self._path).st_ino
        self._loaded = _snapshot()

    def run(self) -> tuple[dict[str, Any], int] | None:
        latest = time.monotonic()
        while True:
            wakers: list[Any] = [self._listener]
            if self._parent is not None and self._parent.descriptor is not None:
                wakers.append(self._parent.descriptor)
            ready, _, _ = select.select(wakers, [], [], min(_TICK, self._idle))
            self._reap()
            if self._running:
                latest = time.monotonic()
            if self._parent is not None and self._parent.has_gone():
                return None
            if self._listener in ready:
                connection, _ = self._listener.accept()
                answer = self._answer(connection)
                if answer != "served":
                    if isinstance(answer, tuple):
                        return answer
                    if answer == "stale":
                        return None
                latest = time.monotonic()
            elif time.monotonic() - latest > self._idle or not self._is_mine():
                return None

    def close(self) -> None:
        """Leaves nothing; but the folder stays if a host holds it, to start the next."""
        self._listener.close()
        if not self._is_mine():
            return
        for path in (self._path, self._token_path):
            with contextlib.suppress(OSError):
                os.unlink(path)
        folder = os.path.dirname(self._path)
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.rmdir(folder)
            finally:
                os.close(descriptor)

    def _answer(self, connection: socket.socket) -> str | tuple[dict[str, Any], int]:
        """Looks at one request: ``served``, ``refused`` or ``stale``; in the forked run, its job."""
        descriptors: list[int] = []
        try:
            connection.settimeout(5.0)
            request = _receive(connection, descriptors)
            refusal = self._refusal(request, connection, descriptors)
            if refusal is not None:
                is_over = refusal in ("stale", "unsafe")
                if is_over:
                    self.close()  # before it is said: the host starts the next at once
                _send(connection, refused=refusal)
                return "stale" if is_over else "refused"
            pid = os.fork()
            if pid:
                self._running.add(pid)
                return "served"
            self.forked = True
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self._listener.close()
        except (OSError, ValueError, KeyError, TypeError):
            return "refused"
        finally:
            if not self.forked:
                connection.close()
                for descriptor in descriptors:
                    os.close(descriptor)
        return supervisor.supervise(connection, request, descriptors)

    def _refusal(
        self, request: dict[str, Any], connection: socket.socket, descriptors: list[int]
    ) -> str | None:
        if not hmac.compare_digest(str(request["token"]), self._token) or not _is_own(connection):
            return "token"
        if len(descriptors) != _DESCRIPTORS:
            return "descriptors"
        if request["key"] != self._key or _snapshot(self._loaded) != self._loaded:
            return "stale"
        import torch

        if threading.active_count() > 1 or torch.cuda.is_initialized():
            return "unsafe"
        return None

    def _reap(self) -> None:
        for pid in list(self._running):
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(pid, os.WNOHANG)[0] == 0:
                    continue
            self._running.discard(pid)

    def _is_mine(self) -> bool:
        try:
            return os.stat(self._path).st_ino == self._inode
        except OSError:
            return False


class _Other:
    """Another process, whose end is awaited. A descriptor of it cannot come to mean a later one."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.descriptor: int | None = None
        opener: Any = getattr(os, "pidfd_open", None)
        self._gone = False
        if opener is not None:
            try:
                self.descriptor = opener(pid, 0)
            except ProcessLookupError:
                self._gone = True
            except OSError:
                self.descriptor = None

    def has_gone(self) -> bool:
        if self._gone:
            return True
        if self.descriptor is not None:
            return bool(select.select([self.descriptor], [], [], 0)[0])
        try:
            os.kill(self._pid, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return False


def _snapshot(known: dict[str, tuple[int, int]] | None = None) -> dict[str, tuple[int, int]]:
    """Times and sizes of the modules' files and of the folders that packages are installed to."""
    paths = set(known) if known is not None else set()
    if known is None:
        for module in list(sys.modules.values()):
            path = getattr(module, "__file__", None)
            if isinstance(path, str):
                paths.add(path)
        paths.update(entry for entry in sys.path if entry.endswith(("site-packages", "dist-packages")))
        paths.update(sysconfig.get_paths()[key] for key in ("purelib", "platlib"))
    found = {}
    for path in paths:
        try:
            seen = os.stat(path)
        except OSError:
            continue
        found[path] = (seen.st_mtime_ns, seen.st_size)
    return found


def _receive(connection: socket.socket, descriptors: list[int]) -> dict[str, Any]:
    """One line of JSON; the descriptors come with its first byte."""
    data = b""
    while not data.endswith(b"\n"):
        chunk, received, _, _ = socket.recv_fds(connection, 65536, _DESCRIPTORS)
        descriptors.extend(received)
        data += chunk
        if not chunk or len(data) > _LONGEST:
            raise ValueError("no request")
    request: dict[str, Any] = json.loads(data)
    return request


def _send(connection: socket.socket, **answer: Any) -> None:
    connection.sendall(json.dumps(answer).encode() + b"\n")


def _is_own(connection: socket.socket) -> bool:
    """Whether the other end runs as the same user, where the system tells (Linux)."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    credentials = connection.getsockopt(socket.SOL_SOCKET, option, 12)
    return int.from_bytes(credentials[4:8], sys.byteorder) == os.getuid()
