"""What an editor feels: start, save to diagnostics, answers while an analysis runs, memory.

    python benchmarks/editor.py [FILE ...]      default: an example, and cases joined to one file of real size

Every figure is a ratio to something measured in the same run, beside what is aimed at; nothing passes or fails.
The client here is as thin as can be, so that what is measured is the server.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SERVER = [sys.executable, "-P", "-m", "loopgrad", "server"]

#: A server that can do one thing and loads what pygls loads.
BARE = """
from lsprotocol import types
from pygls.lsp.server import LanguageServer
server = LanguageServer("bare", "1")
@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(params): return None
server.start_io()
"""

ABLE = {
    "textDocument": {"publishDiagnostics": {"versionSupport": True, "relatedInformation": True}},
    "window": {"workDoneProgress": False},
}


class Client:
    """Just enough of the protocol: requests by number, and the last diagnostics of each document."""

    def __init__(self) -> None:
        self.process: asyncio.subprocess.Process
        self._number = 0
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self.shown: dict[str, int] = {}
        self._news = asyncio.Event()
        self._versions: dict[str, int] = {}

    async def start(self, command: list[str]) -> float:
        """Starts a server; gives the seconds until it has answered ``initialize``."""
        env = dict(os.environ, PYTHONPATH=str(ROOT / "server"))
        began = time.perf_counter()
        self.process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env=env
        )
        reading = asyncio.ensure_future(self._read())
        self._reading = reading
        await self.request("initialize", {"processId": None, "rootUri": None, "capabilities": ABLE})
        took = time.perf_counter() - began
        self.notify("initialized", {})
        return took

    async def stop(self) -> None:
        await self.request("shutdown", None)
        self.notify("exit", None)
        await self.process.wait()
        self._reading.cancel()

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    async def request(self, method: str, params: Any) -> Any:
        self._number += 1
        future = self._answers[self._number] = asyncio.get_running_loop().create_future()
        self._send({"id": self._number, "method": method, "params": params})
        return await asyncio.wait_for(future, 120)

    async def _read(self) -> None:
        stdout = self.process.stdout
        assert stdout is not None
        while True:
            try:
                header = await stdout.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                return
            length = next(line for line in header.split(b"\r\n") if line.startswith(b"Content-Length"))
            message = json.loads(await stdout.readexactly(int(length.split(b":")[1])))
            if message.get("method") == "textDocument/publishDiagnostics":
                params = message["params"]
                self.shown[params["uri"]] = params.get("version") or 0
                self._news.set()
            elif "method" in message and "id" in message:
                self._send({"id": message["id"], "result": None})
            elif message.get("id") in self._answers:
                self._answers.pop(message["id"]).set_result(message.get("result"))

    # Documents ---------------------------------------------------------------------------------------

    def open(self, uri: str, text: str) -> None:
        self._versions[uri] = 1
        item = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def save(self, uri: str, line: str) -> int:
        """Puts a comment at the head of a document and saves it; gives the version to wait for."""
        self._versions[uri] += 1
        where = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
        change = {"range": where, "text": f"# {line}\n"}
        version = {"uri": uri, "version": self._versions[uri]}
        self.notify("textDocument/didChange", {"textDocument": version, "contentChanges": [change]})
        self.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        return self._versions[uri]

    async def until_shown(self, uri: str, version: int) -> None:
        while self.shown.get(uri, -1) < version:
            self._news.clear()
            await self._news.wait()

    async def hover(self, uri: str) -> float:
        """Seconds that an answer takes."""
        asked = time.perf_counter()
        position = {"line": 0, "character": 1}
        await self.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": position})
        return time.perf_counter() - asked


async def with_server(work: Callable[[Client], Awaitable[None]]) -> None:
    client = Client()
    await client.start(SERVER)
    try:
        await work(client)
    finally:
        await client.stop()


# What is measured ------------------------------------------------------------------------------------


async def start(runs: int) -> None:
    """The two servers in turns, so that what else the machine does falls on both."""
    bare, ours = [], []
    for _ in range(runs):
        for command, times in (([sys.executable, "-c", BARE], bare), (SERVER, ours)):
            client = Client()
            times.append(await client.start(command))
            await client.stop()
    ratio = statistics.median(ours) / statistics.median(bare)
    print(f"start to initialize     {ratio:5.2f} of a bare pygls server      (at most 1.15)")


async def save(name: str, text: str, runs: int) -> None:
    """From the save to the diagnostics, in units of the file's ``ast.parse`` plus 10 ms."""
    text = "# head\n" + text

    async def work(client: Client) -> None:
        uri = (Path(tempfile.gettempdir()) / f"{Path(name).stem}.py").as_uri()
        client.open(uri, text)
        await client.until_shown(uri, 1)
        parses, saves = [], []
        for number in range(runs):
            began = time.perf_counter()
            ast.parse(text)
            parses.append(time.perf_counter() - began)
            await asyncio.sleep(0.05)
            began = time.perf_counter()
            version = client.save(uri, f"head {number}")
            await client.until_shown(uri, version)
            saves.append(time.perf_counter() - began)
        unit = statistics.median(parses) + 0.010
        ratio = statistics.median(saves) / unit
        lines = text.count("\n")
        print(
            f"save to diagnostics     {ratio:5.1f} of parse + 10 ms: {name}, {lines} lines  (at most 22, aim 12)"
        )

    await with_server(work)


async def answers(lines: int) -> None:
    """How long an answer takes while a file of so many lines is analysed, again and again."""
    text = "# head\n" + joined(lines)

    async def work(client: Client) -> None:
        uri = (Path(tempfile.gettempdir()) / "busy.py").as_uri()
        other = (Path(tempfile.gettempdir()) / "idle.py").as_uri()
        client.open(other, "# nothing\nx = 1\n")
        await client.until_shown(other, 1)
        idle = sorted([await client.hover(other) for _ in range(200)])
        client.open(uri, text)
        busy: list[float] = []
        version, number = 1, 0
        while len(busy) < 400 and number < 20:
            done = asyncio.ensure_future(client.until_shown(uri, version))
            while not done.done():
                busy.append(await client.hover(other))
                await asyncio.sleep(0.005)
            number += 1
            version = client.save(uri, f"head {number}")
        busy.sort()
        worst, usual = busy[-1] * 1000, busy[len(busy) * 99 // 100] * 1000
        factor = statistics.median(busy) / statistics.median(idle)
        print(
            f"an answer meanwhile     {usual:5.1f} ms for 99 in 100, {worst:.1f} ms at worst, {factor:.1f} of one at rest:"
            f" {text.count(chr(10))} lines, {len(busy)} answers  (under 50 ms)"
        )

    await with_server(work)


async def memory(documents: int) -> None:
    """Resident memory of the server and of its worker with so many documents open and checked."""
    cases = [path.read_text(encoding="utf-8") for path in case_files()]

    async def work(client: Client) -> None:
        folder = Path(tempfile.gettempdir())
        uris = [(folder / f"document_{number}.py").as_uri() for number in range(documents)]
        before = residents(client.process.pid)
        for number, uri in enumerate(uris):
            client.open(uri, cases[number % len(cases)])
        for uri in uris:
            await client.until_shown(uri, 1)
        server, worker = residents(client.process.pid)
        note = f"server {server:.0f} MB, worker {worker:.0f} MB; {sum(before):.0f} MB before the first"
        print(
            f"memory                  {server + worker:5.0f} MB after {documents} documents: {note}  (under 120)"
        )

    await with_server(work)


def residents(server: int) -> tuple[float, float]:
    """Megabytes of a process, and of its children together."""

    def own(pid: int) -> float:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        return 0.0

    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    return own(server), sum(own(int(child)) for child in children)


def case_files() -> list[Path]:
    return sorted((ROOT / "tests" / "cases").glob("*/bug.py"))


def joined(lines: int) -> str:
    """Right programs as functions of one file, each called, until there are so many lines: none ends the rest."""
    parts: list[str] = []
    total = number = 0
    files = [path for path in case_files() if path.parent.name.startswith("negative")]
    while total < lines:
        source = files[number % len(files)].read_text(encoding="utf-8").splitlines()
        body = "\n".join("    " + line if line.strip() else "" for line in source)
        part = f"def case_{number}():\n    __name__ = '__main__'\n{body}\n\n\ncase_{number}()\n"
        parts.append(part)
        total += part.count("\n")
        number += 1
    return "".join(parts)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    await start(options.runs)
    if options.files:
        for path in options.files:
            await save(path.name, path.read_text(encoding="utf-8"), options.runs)
    else:
        example = ROOT / "examples" / "encoded_features.py"
        await save(example.name, example.read_text(encoding="utf-8"), options.runs)
        await save("cases joined", joined(600), options.runs)
    await answers(5000)
    if sys.platform == "linux":
        await memory(200)


if __name__ == "__main__":
    asyncio.run(main())
