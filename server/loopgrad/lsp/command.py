"""``loopgrad server``: the language server on standard input and output, or on a local port."""

from __future__ import annotations

import argparse
import gc
import io
import logging
import os
import sys
import threading
from typing import Any, BinaryIO, cast


def register(commands: Any) -> None:
    parser = commands.add_parser(
        "server",
        help="run the language server",
        description="Runs the language server for an editor. An editor starts this; it is not for typing.",
    )
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--stdio", action="store_true", help="talk on standard input and output (the default)")
    way.add_argument(
        "--tcp",
        type=_port,
        metavar="PORT",
        help="wait for one client on this port of localhost (0: any free one)",
    )
    parser.add_argument("--verbose", action="store_true", help="log the protocol's work on standard error")
    # ``vscode-languageclient`` adds this to what it starts; the server learns it from ``initialize``.
    parser.add_argument("--clientProcessId", type=int, help=argparse.SUPPRESS)
    parser.set_defaults(run=run, language="en")


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number < 65536:
        raise ValueError
    return number


_port.__name__ = "port"


def run(args: argparse.Namespace) -> int:
    leave_working_folder()
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO if args.verbose else logging.CRITICAL,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    gc.disable()  # what is loaded stays: collecting while it loads finds nothing and takes a tenth of the time
    try:
        from loopgrad.lsp.server import LoopgradServer
    except ModuleNotFoundError as error:
        if error.name not in ("pygls", "lsprotocol"):
            raise
        print(f"loopgrad server needs {error.name}: pip install 'loopgrad[server]'", file=sys.stderr)
        return 2
    server = LoopgradServer()
    gc.freeze()
    gc.enable()
    if args.tcp is not None:
        server.start_tcp("127.0.0.1", args.tcp)
    else:
        # What prints by mistake must not come between the messages.
        output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        server.start_io(cast(BinaryIO, _Ending(sys.stdin.buffer)), output)
    return 0


#: Seconds that the server has to end by itself once its client has gone.
GRACE = 3.0


class _Ending(io.RawIOBase):
    """Standard input that ends the process a little after its own end, whatever the server still waits for.

    A worker that is just being started cannot be cancelled by the event loop in every state, and a server that
    nobody talks to any more must not stay.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self, size: int | None = -1, /) -> bytes:
        return self._told(self._stream.readline(-1 if size is None else size))

    def read(self, size: int | None = -1, /) -> bytes:
        return self._told(self._stream.read(-1 if size is None else size)) if size != 0 else b""

    def _told(self, data: bytes) -> bytes:
        if not data:
            timer = threading.Timer(GRACE, os._exit, (0,))
            timer.daemon = True
            timer.start()
        return data


def leave_working_folder() -> None:
    """Takes the working folder off the import path: it is the user's project, which is never executed.

    ``python -m loopgrad`` puts it there; a ``queue.py`` in a project would be imported for the real one.
    """
    here = os.getcwd()
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path[:] = [part for part in sys.path if part and (os.path.abspath(part) != here or here == package)]
