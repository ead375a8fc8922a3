"""What a server must stand: many changes, many documents, busy analyses, deaths, and messages that are none."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import time

import pytest
from lsprotocol import types

pytestmark = pytest.mark.asyncio


async def test_a_thousand_changes_leave_the_last_state(start, tmp_path):
    editor = await start(settings={"lint": {"run": "onType", "debounce": 20}})
    lines = "".join(f"a{number} = {number}\n" for number in range(300))
    document = editor.open(tmp_path / "a.py", lines)
    for number in range(1000):
        text = "x = y  # finds LG101\n" if number % 2 == 0 else ""
        end = (number % 2, 0)
        version = editor.edit(document, (0, 0), end, text)
        if number % 50 == 49:
            await editor.idle()
    version = editor.edit(document, (200, 0), (200, 0), "z = w  # finds LG201\n")
    await editor.until_codes(document, "LG201", version=version)
    assert editor.lines(document) == [201]


async def test_two_hundred_documents(start, tmp_path):
    editor = await start()
    documents = [editor.open(tmp_path / f"a{number}.py", "x = y  # finds LG101\n") for number in range(200)]
    await editor.until(lambda: all(editor.codes(document) == ["LG101"] for document in documents))
    for document in documents[::2]:
        editor.close(document)
    await editor.until(lambda: not any(editor.codes(document) for document in documents[::2]))
    assert all(editor.codes(document) == ["LG101"] for document in documents[1::2])


async def test_requests_are_answered_while_a_file_is_analysed(start, tmp_path):
    editor = await start(options={"status": True})
    document = editor.open(tmp_path / "busy.py", "# sleep 300\n")
    await editor.until(lambda: "busy" in editor.statuses)
    for _ in range(20):
        await editor.idle()
    assert editor.statuses[-1] == "busy" and document not in editor.shown


async def test_a_superseded_analysis_is_interrupted(start, tmp_path):
    editor = await start(settings={"lint": {"run": "onType", "debounce": 0}}, options={"status": True})
    document = editor.open(tmp_path / "a.py", "x = y  # finds LG101 # sleep 300\n")
    await editor.until(lambda: "busy" in editor.statuses)
    version = editor.change(document, "x = y  # finds LG201\n")
    await editor.until_codes(document, "LG201", version=version)
    assert [each.version for each in editor.published if each.uri == document] == [version]


async def test_cancelled_requests(start, tmp_path):
    editor = await start(pull=True)
    document = editor.open(tmp_path / "a.py", "# sleep 2\n")
    params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(document))
    editor.client.protocol.send_request("textDocument/diagnostic", params, msg_id="to-cancel")
    await editor.idle()
    editor.client.cancel_request(types.CancelParams("to-cancel"))
    await editor.idle()
    assert (await editor.pull(document)).kind == "full"


async def test_an_analysis_that_ends_its_process_or_fails(start, tmp_path):
    editor = await start()
    fatal = editor.open(tmp_path / "fatal.py", "# crash\n")
    failing = editor.open(tmp_path / "failing.py", "# fails\n")
    document = editor.open(tmp_path / "a.py", "x = y  # finds LG101\n")
    await editor.until_codes(document, "LG101")
    assert editor.codes(fatal) == editor.codes(failing) == []
    messages = "\n".join(each.message for each in editor.client.log_messages)
    assert "fatal.py could not be analysed" in messages and "as told" in messages
    editor.save(fatal, "z = w  # finds LG201\n")
    await editor.until_codes(fatal, "LG201")


async def test_a_killed_worker_is_replaced(start, story):
    editor = await start()
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    server = editor.client._server.pid
    with open(f"/proc/{server}/task/{server}/children") as file:
        children = [int(number) for number in file.read().split()]
    for child in children:
        os.kill(child, signal.SIGKILL)
    editor.save(document, "x = y  # finds LG201\n")
    await editor.until_codes(document, "LG201")


async def test_a_killed_server_starts_again_and_leaves_no_worker(start, story):
    first = await start()
    document = first.open(story)
    await first.until_codes(document, "LG101")
    server = first.client._server.pid
    with open(f"/proc/{server}/task/{server}/children") as file:
        (worker,) = [int(number) for number in file.read().split()]
    os.kill(server, signal.SIGKILL)
    await first.client._server.wait()
    second = await start()
    document = second.open(story)
    await second.until_codes(document, "LG101")
    deadline = time.monotonic() + 5
    while _runs(worker) and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
    assert not _runs(worker)


def _runs(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


# The bare protocol -----------------------------------------------------------------------------------


class Pipe:
    """The server's pipes, for messages that no client would send."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    def send(self, body: str | dict) -> None:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)

    def request(self, number: int, method: str, params: object = None) -> None:
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    async def answer(self, number: int | None) -> dict:
        while True:
            header = await asyncio.wait_for(self.process.stdout.readuntil(b"\r\n\r\n"), 20)
            length = int(header.partition(b"Content-Length: ")[2].split(b"\r\n")[0])
            message = json.loads(await self.process.stdout.readexactly(length))
            if "method" not in message and message.get("id") == number:
                return message


@pytest.fixture
def pipe(tmp_path):
    async def begin(*command: str, engine: bool = True) -> Pipe:
        from loopgrad_tests_lsp_editor import HERE, SERVER

        env = dict(os.environ, PYTHONPATH=str(SERVER))
        if engine:
            env |= {"LOOPGRAD_ENGINE": "fake_engine:check", "LOOPGRAD_ENGINE_PATH": str(HERE / "engine")}
        process = await asyncio.create_subprocess_exec(
            *(command or (sys.executable, "-m", "loopgrad")),
            "server",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=env,
            cwd=tmp_path,
        )
        return Pipe(process)

    return begin


async def test_malformed_messages(pipe):
    server = await pipe()
    server.request(1, "textDocument/hover", {})
    assert (await server.answer(1))["error"]["code"] == -32602
    server.request(2, "workspace/symbol", {"query": ""})
    assert (await server.answer(2))["error"]["code"] == -32002
    server.request(3, "initialize", {"capabilities": {}, "processId": None, "rootUri": None})
    assert "capabilities" in (await server.answer(3))["result"]
    server.request(4, "initialize", {"capabilities": {}, "processId": None, "rootUri": None})
    assert (await server.answer(4))["error"]["code"] == -32600
    server.send({"jsonrpc": "2.0", "method": "initialized", "params": {}})
    server.send("{ this is no JSON")
    assert (await server.answer(None))["error"]["code"] == -32700
    server.send("[]")
    server.send({"no": "rpc"})
    server.send({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": 3}})
    server.request(5, "textDocument/codeAction", {"textDocument": {"uri": "file:///x"}})
    assert (await server.answer(5))["error"]["code"] == -32602
    server.request(6, "no/such")
    assert (await server.answer(6))["error"]["code"] == -32601
    server.request(7, "workspace/executeCommand", {"command": "loopgrad.nothing"})
    assert (await server.answer(7))["error"]["code"] == -32602
    change = {
        "textDocument": {"uri": "file:///never/opened.py", "version": 2},
        "contentChanges": [{"text": "x"}],
    }
    server.send({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": change})
    server.request(8, "codeAction/resolve", {"title": "x", "data": [1]})
    assert (await server.answer(8))["result"]["title"] == "x"
    server.request(9, "codeAction/resolve", {"title": "x", "data": {"kind": "fix", "number": 99}})
    assert (await server.answer(9))["error"]["code"] == -32801
    server.request(10, "shutdown")
    assert (await server.answer(10))["result"] is None
    server.request(
        11, "textDocument/hover", {"textDocument": {"uri": "x"}, "position": {"line": 0, "character": 0}}
    )
    assert (await server.answer(11))["error"]["code"] == -32600
    server.send({"jsonrpc": "2.0", "method": "exit"})
    assert await asyncio.wait_for(server.process.wait(), 10) == 0


async def test_a_cancelled_request_is_answered_as_such(pipe, tmp_path):
    server = await pipe()
    server.request(1, "initialize", {"capabilities": {}, "processId": None, "rootUri": None})
    await server.answer(1)
    server.send({"jsonrpc": "2.0", "method": "initialized", "params": {}})
    uri = (tmp_path / "a.py").as_uri()
    item = {"uri": uri, "languageId": "python", "version": 1, "text": "# sleep 60\n"}
    server.send({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}})
    spot = {"line": 0, "character": 3}
    where = {"textDocument": {"uri": uri}, "range": {"start": spot, "end": spot}}
    waiting = {
        2: ("textDocument/codeAction", {**where, "context": {"diagnostics": []}}),
        3: ("textDocument/hover", {"textDocument": {"uri": uri}, "position": spot}),
        4: ("workspace/executeCommand", {"command": "loopgrad.fixAll", "arguments": [uri]}),
    }
    for number, request in waiting.items():
        server.request(number, *request)
    for number in waiting:
        server.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}})
    for number in waiting:
        assert (await server.answer(number))["error"]["code"] == types.LSPErrorCodes.RequestCancelled
    # One that is unknown, or answered, is no fault.
    server.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 99}})
    server.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 1}})
    version = {"uri": uri, "version": 2}
    change = {"textDocument": version, "contentChanges": [{"text": "x = 1\n"}]}
    server.send({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": change})
    server.send(
        {"jsonrpc": "2.0", "method": "textDocument/didSave", "params": {"textDocument": {"uri": uri}}}
    )
    server.request(5, "textDocument/codeAction", {**where, "context": {"diagnostics": []}})
    assert (await server.answer(5))["result"] == []
    server.process.kill()
    await server.process.wait()


async def test_exit_without_shutdown_and_an_end_of_the_pipe(pipe):
    server = await pipe()
    server.send({"jsonrpc": "2.0", "method": "exit"})
    assert await asyncio.wait_for(server.process.wait(), 10) == 1
    server = await pipe()
    server.request(1, "initialize", {"capabilities": {}, "processId": None, "rootUri": None})
    await server.answer(1)
    server.process.stdin.close()
    await asyncio.wait_for(server.process.wait(), 10)


async def test_a_projects_own_modules_are_never_imported(pipe, tmp_path):
    for name in ("queue", "struct", "libcst", "torch", "loopgrad", "tokenize", "difflib", "cattrs"):
        (tmp_path / f"{name}.py").write_text("open('executed', 'w').close()\nraise SystemExit('executed')\n")
    # ``python -m`` would take ``loopgrad.py`` itself from the project, before anything of ours runs.
    script = shutil.which("loopgrad", path=os.path.dirname(sys.executable))
    if script is None:
        pytest.skip("loopgrad is not installed here")
    server = await pipe(script, engine=False)
    root = tmp_path.as_uri()
    server.request(1, "initialize", {"capabilities": {}, "processId": None, "rootUri": root})
    await server.answer(1)
    server.send({"jsonrpc": "2.0", "method": "initialized", "params": {}})
    text = "import torch, queue\nx = torch.zeros(2)\nx.detach()\n"
    item = {"uri": f"{root}/a.py", "languageId": "python", "version": 1, "text": text}
    server.send({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}})
    params = {
        "textDocument": {"uri": f"{root}/a.py"},
        "range": {"start": {"line": 2, "character": 0}, "end": {"line": 2, "character": 0}},
        "context": {"diagnostics": [], "triggerKind": 1},
    }
    server.request(2, "textDocument/codeAction", params)
    assert "result" in await server.answer(2)
    assert not (tmp_path / "executed").exists()
    server.process.kill()
    await server.process.wait()


async def test_tcp(tmp_path):
    from loopgrad_tests_lsp_editor import SERVER

    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "loopgrad", "server", "--tcp", "0"),
        stderr=asyncio.subprocess.PIPE,
        env=dict(os.environ, PYTHONPATH=str(SERVER)),
    )
    told = await asyncio.wait_for(process.stderr.readline(), 20)
    reader, writer = await asyncio.open_connection("127.0.0.1", int(told.rpartition(b":")[2]))
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "shutdown"}).encode()
    writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    assert b"Content-Length" in await asyncio.wait_for(reader.readline(), 20)
    writer.close()
    await asyncio.wait_for(process.wait(), 10)
