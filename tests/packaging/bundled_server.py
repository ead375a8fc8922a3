"""The bundled server under a test: Pythons to run it with, and as much of a client as asks for findings."""

from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from typing import Any

#: Seconds that an answer may take on a slow machine.
PATIENCE = 120.0


@dataclass(frozen=True)
class Python:
    version: str
    path: str


def pythons() -> list[Python]:
    """One of each CPython 3.10 to 3.14 that is installed: on the path, by pyenv or by uv; at least this one."""
    homes = (os.environ.get("PYENV_ROOT", "~/.pyenv") + "/versions", "~/.local/share/uv/python")
    places = [shutil.which(f"python3.{minor}") for minor in range(10, 15)]
    for home in homes:
        places += sorted(glob.glob(os.path.expanduser(f"{home}/*/bin/python3")))
    question = "import sys; print(sys.implementation.name, *sys.version_info[:2], sys.executable)"
    found = {f"{sys.version_info[0]}.{sys.version_info[1]}": sys.executable}
    for place in filter(None, places):
        run = subprocess.run([place, "-I", "-S", "-c", question], capture_output=True, text=True, check=False)
        name, major, minor, path = (run.stdout.split(maxsplit=3) + [""] * 4)[:4]
        if run.returncode == 0 and name == "cpython" and major == "3" and 10 <= int(minor) <= 14:
            found.setdefault(f"{major}.{minor}", path.strip())
    return [
        Python(version, found[version]) for version in sorted(found, key=lambda version: int(version[2:]))
    ]


class BundledServer:
    """A server process; ``status`` is its exit status after the block."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONSTARTUP": str(folder / "queue.py")}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=pipe, stdout=pipe, stderr=pipe
        )
        self._folder = folder
        self._messages: Queue[dict[str, Any]] = Queue()
        self._errors: list[bytes] = []
        self._count = 0
        self.status: int | None = None
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=lambda: self._errors.extend(self._process.stderr or ()), daemon=True).start()

    def initialize(self) -> dict[str, Any]:
        capabilities = {
            "textDocument": {"codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}}}
        }
        parameters = {
            "processId": os.getpid(),
            "rootUri": self._folder.as_uri(),
            "capabilities": capabilities,
        }
        result = self.ask("initialize", parameters)
        self._send({"method": "initialized", "params": {}})
        return result

    def open(self, uri: str, text: str) -> None:
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def diagnostics(self, uri: str) -> list[dict[str, Any]]:
        while True:
            message = self._next()
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                if message["params"]["diagnostics"]:
                    return message["params"]["diagnostics"]

    def actions(self, uri: str, diagnostic: dict[str, Any]) -> list[dict[str, Any]]:
        place = {"textDocument": {"uri": uri}, "range": diagnostic["range"]}
        return self.ask("textDocument/codeAction", {**place, "context": {"diagnostics": [diagnostic]}})

    def ask(self, method: str, parameters: Any = None) -> Any:
        self._count += 1
        self._send({"id": self._count, "method": method, "params": parameters})
        while True:
            message = self._next()
            if message.get("id") == self._count and "method" not in message:
                assert "result" in message, message
                return message["result"]

    def __enter__(self) -> BundledServer:
        return self

    def __exit__(self, *failed: object) -> None:
        try:
            if not any(failed):
                self.ask("shutdown")
                self._send({"method": "exit"})
            else:
                self._process.kill()
            self.status = self._process.wait(PATIENCE)
        finally:
            self._process.kill()
            self._process.wait()

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _next(self) -> dict[str, Any]:
        try:
            message = self._messages.get(timeout=PATIENCE)
        except Empty:
            raise AssertionError("the server does not answer") from None
        if "ended" in message:
            errors = b"".join(self._errors).decode(errors="replace")
            raise AssertionError(f"the server has ended:\n{errors}")
        if "id" in message and "method" in message:  # it asks for settings and the like: there are none
            asked = message.get("params") or {}
            result = (
                [None for _ in asked.get("items", ())]
                if isinstance(asked, dict) and "items" in asked
                else None
            )
            self._send({"id": message["id"], "result": result})
        return message

    def _read(self) -> None:
        output = self._process.stdout
        assert output is not None
        while True:
            length = 0
            while (line := output.readline().strip()) != b"":
                name, _, text = line.partition(b":")
                length = int(text) if name.lower() == b"content-length" else length
            if not length:
                self._messages.put({"ended": True})
                return
            self._messages.put(json.loads(output.read(length)))
