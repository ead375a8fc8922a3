"""The server ends when its input does, in whatever state that finds it."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest


def message(**body: object) -> bytes:
    data = json.dumps({"jsonrpc": "2.0", **body}).encode()
    return b"Content-Length: %d\r\n\r\n" % len(data) + data


INITIALIZE = message(
    id=1,
    method="initialize",
    params={
        "processId": None,
        "rootUri": None,
        "capabilities": {
            "workspace": {"configuration": True, "didChangeWatchedFiles": {"dynamicRegistration": True}}
        },
    },
)
INITIALIZED = message(method="initialized", params={})


@pytest.mark.parametrize("pause", [0.0, 0.3])
@pytest.mark.parametrize("said", [b"", INITIALIZE, INITIALIZE + INITIALIZED], ids=["nothing", "one", "both"])
def test_it_ends(said: bytes, pause: float) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "loopgrad", "server", "--stdio"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        assert server.stdin is not None
        server.stdin.write(said)
        server.stdin.flush()
        time.sleep(pause)
        server.stdin.close()
        try:
            server.wait(60)
        except subprocess.TimeoutExpired:
            server.kill()
            raise
