"""The host's side of a warm server (``probe/server.py``): finds it, starts it, and has it fork a run.

One server stands for one interpreter and one parent (an editor), in a folder of its own that is this user's. What
a request carries beside its token is a *key*: a digest of all that shapes an interpreter before its script
begins. A server with another key ends, and the next is started. Whatever goes wrong here, the run is started
as a plain child: a warm server is only ever faster.

Linux alone. On Windows there is no fork, and on macOS a fork after the system's frameworks are loaded is not
safe.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import select
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any

from loopgrad.confirm.pipes import Pipes
from loopgrad.confirm.probe.sockets import short
from loopgrad.confirm.probe.tree import PATIENCE

AVAILABLE = sys.platform.startswith("linux") and hasattr(socket, "send_fds")

#: Variables that differ from shell to shell and shape nothing.
_FREE = frozenset({"_", "SHLVL", "PWD", "OLDPWD", "COLUMNS", "LINES", "WINDOWID", "PYTEST_CURRENT_TEST"})
#: Servers that this process has started: children, but no part of any run.
LAUNCHED: set[int] = set()

_PROBE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe")


@dataclass(frozen=True)
class Warm:
    """That a warm server is wanted: until ``idle`` seconds without a run, or the end of a process."""

    idle: float = 600.0
    parent: int = 0


class WarmError(Exception):
    """No server can be had, or it would not fork."""


class WarmChild:
    """A run that a warm server has forked, seen as a ``Child`` is."""

    def __init__(
        self,
        connection: socket.socket,
        ends: tuple[int, int, int],
        *,
        out: IO[bytes],
        err: IO[bytes],
        line: Callable[[bytes], None],
    ) -> None:
        self._connection = connection
        self._heard = b""
        self._status: int | None = None
        self._pipes = Pipes(*ends, out=out, err=err, line=line)

    @property
    def flooded(self) -> bool:
        return self._pipes.flooded

    def wait(self, seconds: float) -> int | None:
        self._listen(time.monotonic() + seconds, "exited")
        return self._status

    def end(self, adopted: Callable[[], set[int]] = set) -> int:
        with contextlib.suppress(OSError):
            self._connection.sendall(b"end\n")
        self._listen(time.monotonic() + 3 * PATIENCE, "ended")
        self._connection.close()  # a supervisor that has not heard ends the run for this as well
        self._pipes.join(PATIENCE)
        return self._status if self._status is not None else -9

    def _listen(self, deadline: float, wanted: str) -> None:
        """Reads what the supervisor says until it says ``wanted``, or has gone."""
        while wanted == "ended" or self._status is None:
            ready, _, _ = select.select([self._connection], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return
            try:
                chunk = self._connection.recv(4096)
            except OSError:
                chunk = b""
            if not chunk:
                self._status = -9 if self._status is None else self._status
                return
            self._heard += chunk
            *lines, self._heard = self._heard.split(b"\n")
            for text in lines:
                message = json.loads(text)
                for name in ("exited", "ended"):
                    if message.get(name) is not None:
                        self._status = int(message[name])
                if wanted in message:
                    return


def start(
    warm: Warm,
    command: tuple[str, str],
    *,
    job: IO[bytes],
    cwd: str,
    env: dict[str, str],
    base: dict[str, str],
    out: IO[bytes],
    err: IO[bytes],
    line: Callable[[bytes], None],
    cancel: threading.Event,
    deadline: float,
) -> WarmChild:
    """Has a run forked by a server, which is started if there is none. Raises WarmError.

    ``base`` is the environment that the interpreter is started in, ``env`` what this run sees.
    """
    python, program = command
    places = _Places.of(python, warm)
    key = _key(python, base, cwd)
    pairs = [os.pipe() for _ in range(3)]
    readers, writers = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    request = {"key": key, "cwd": cwd, "env": env, "umask": _umask()}
    try:
        with places.locked(cancel, deadline):
            for _ in range(2):
                connection = _reach(places, warm, python, program, key, base, cwd, cancel, deadline)
                with contextlib.suppress(OSError, ValueError):
                    connection.settimeout(10.0)
                    line_sent = json.dumps({**request, "token": places.read_token()}).encode() + b"\n"
                    descriptors = [job.fileno(), writers[2], writers[0], writers[1]]
                    sent = socket.send_fds(connection, [line_sent], descriptors)
                    connection.sendall(line_sent[sent:])
                    if b'"pid"' in _first_line(connection):
                        child = WarmChild(
                            connection, (readers[0], readers[1], readers[2]), out=out, err=err, line=line
                        )
                        readers = []
                        return child
                connection.close()
        raise WarmError("the server would not run it")
    finally:
        for descriptor in (*readers, *writers):
            os.close(descriptor)


@dataclass(frozen=True)
class _Places:
    """Where one server is found."""

    folder: str
    socket: str
    token: str

    @classmethod
    def of(cls, python: str, warm: Warm) -> _Places:
        base = os.environ.get("XDG_RUNTIME_DIR") or ""
        if not base or not _is_private(base):
            base = tempfile.gettempdir()
        what = json.dumps([os.getuid(), os.path.abspath(python), warm.parent])
        folder = os.path.join(base, f"loopgrad-{hashlib.sha256(what.encode()).hexdigest()[:16]}")
        return cls(folder, os.path.join(folder, "socket"), os.path.join(folder, "token"))

    @contextlib.contextmanager
    def locked(self, cancel: threading.Event, deadline: float) -> Iterator[None]:
        """The folder, made if it is not there, and held: one server is started at a time."""
        import fcntl

        while True:
            with contextlib.suppress(FileExistsError):
                os.mkdir(self.folder, 0o700)
            if not _is_private(self.folder):
                raise WarmError(f"{self.folder} is not this user's alone")
            try:
                descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            except OSError:
                continue  # a server that ended has taken it away
            try:
                while True:
                    try:
                        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        break
                    except BlockingIOError:
                        if cancel.is_set() or time.monotonic() > deadline:
                            raise WarmError("another confirmation is starting it") from None
                        time.sleep(0.02)
                if _same(descriptor, self.folder):
                    try:
                        yield
                    except WarmError:
                        with contextlib.suppress(OSError):  # nothing came to be in it
                            os.rmdir(self.folder)
                        raise
                    return
            finally:
                os.close(descriptor)

    def read_token(self) -> str:
        with open(self.token, encoding="ascii") as file:
            return file.read()


def _clear_crashed(places: _Places) -> None:
    """Takes away what servers have left that were killed: folders in which nobody listens or is about to."""
    import fcntl

    base, own = os.path.split(places.folder)
    for name in os.listdir(base):
        folder = os.path.join(base, name)
        if name == own or not re.fullmatch(r"loopgrad-[0-9a-f]{16}", name) or not _is_private(folder):
            continue
        left = _Places(folder, os.path.join(folder, "socket"), os.path.join(folder, "token"))
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                connection = _connect(left)
                if connection is not None:
                    connection.close()
                    continue
                for path in (left.socket, left.token):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(path)
                os.rmdir(folder)
            finally:
                os.close(descriptor)


def _reach(
    places: _Places,
    warm: Warm,
    python: str,
    program: str,
    key: str,
    base: dict[str, str],
    cwd: str,
    cancel: threading.Event,
    deadline: float,
) -> socket.socket:
    connection = _connect(places)
    if connection is None:
        _launch(places, warm, python, program, key, base, cwd, cancel, deadline)
        connection = _connect(places)
    if connection is None:
        raise WarmError("it does not answer")
    return connection


def _connect(places: _Places) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with short(places.socket) as path:
            connection.connect(path)
    except OSError:
        connection.close()
        return None
    return connection


def _launch(
    places: _Places,
    warm: Warm,
    python: str,
    program: str,
    key: str,
    base: dict[str, str],
    cwd: str,
    cancel: threading.Event,
    deadline: float,
) -> None:
    """Starts a server and waits until it listens. One that does not come to that is ended."""
    _clear_crashed(places)
    settings = {
        "socket": places.socket,
        "token": places.token,
        "key": key,
        "idle": warm.idle,
        "parent": warm.parent,
    }
    ready, writer = os.pipe()
    try:
        with tempfile.TemporaryFile() as file:
            file.write(json.dumps(settings).encode())
            file.flush()
            file.seek(0)
            process = subprocess.Popen(
                [python, program, "serve", str(file.fileno()), str(writer)],
                stdin=subprocess.DEVNULL,
                stdout=writer,
                stderr=writer,
                pass_fds=(file.fileno(), writer),
                start_new_session=True,
                cwd=cwd,
                env=base,
            )
        os.close(writer)
        writer = -1
        heard = b""
        while b"\nready\n" not in heard:
            if cancel.is_set() or time.monotonic() > deadline:
                process.kill()
                process.wait()
                raise WarmError("it was not awaited")
            if select.select([ready], [], [], 0.05)[0]:
                chunk = os.read(ready, 65536)
                if not chunk:
                    process.wait()
                    raise WarmError("it has ended")
                heard = (heard + chunk)[-65536:]
        LAUNCHED.add(process.pid)
        process.returncode = 0  # it goes on by itself: nothing is to be said of it at the end
    except OSError as error:
        raise WarmError(str(error)) from None
    finally:
        os.close(ready)
        if writer >= 0:
            os.close(writer)


def _first_line(connection: socket.socket) -> bytes:
    heard = b""
    while not heard.endswith(b"\n"):
        byte = connection.recv(1)  # what follows is for the child's own reading
        if not byte:
            return b""
        heard += byte
    return heard


def _key(python: str, base: dict[str, str], cwd: str) -> str:
    """A digest of what an interpreter is, before its script begins."""
    import resource

    seen = os.stat(os.path.realpath(python))
    limits = [
        resource.getrlimit(getattr(resource, name)) for name in sorted(dir(resource)) if name[:7] == "RLIMIT_"
    ]
    relative = any(not os.path.isabs(part) for part in base.get("PYTHONPATH", "/").split(os.pathsep))
    parts: list[Any] = [
        os.path.abspath(python),
        os.path.realpath(python),
        [seen.st_mtime_ns, seen.st_size, seen.st_ino],
        _times(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(python))), "pyvenv.cfg")),
        sorted((name, value) for name, value in base.items() if name not in _FREE),
        limits,
        sorted(os.sched_getaffinity(0)),
        os.getpriority(os.PRIO_PROCESS, 0),
        cwd if relative else None,
        [
            [name, _times(os.path.join(_PROBE, name))]
            for name in sorted(os.listdir(_PROBE))
            if name[-3:] == ".py"
        ],
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _times(path: str) -> list[int]:
    try:
        seen = os.stat(path)
    except OSError:
        return []
    return [seen.st_mtime_ns, seen.st_size]


def _umask() -> int:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        for text in file:
            if text.startswith("Umask:"):
                return int(text.split()[1], 8)
    return 0o022


def _is_private(folder: str) -> bool:
    try:
        seen = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.getuid() and not seen.st_mode & 0o077


def _same(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False
