"""What Helix sends and takes, on the wire: its capabilities, its configuration, its way with actions and commands.

There is no Helix here to drive; what is checked is what its client does, as its source has it
(``helix-lsp/src/client.rs``, ``helix-term/src/application.rs``), for a release that is pushed diagnostics and for
one that pulls them.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

pytestmark = pytest.mark.asyncio

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "editors" / "helix.md").read_text(encoding="utf-8")

#: Helix counts in UTF-8, announces no related information, and takes edits with versions.
ABLE: dict[str, Any] = {
    "workspace": {
        "configuration": True,
        "didChangeConfiguration": {"dynamicRegistration": False},
        "workspaceFolders": True,
        "applyEdit": True,
        "executeCommand": {"dynamicRegistration": False},
        "workspaceEdit": {"documentChanges": True, "failureHandling": "abort"},
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": False},
        "fileOperations": {"willRename": True, "didRename": True},
    },
    "textDocument": {
        "hover": {"contentFormat": ["markdown"]},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "quickfix", "source"]}},
            "isPreferredSupport": True,
            "disabledSupport": True,
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit", "command"]},
        },
        "publishDiagnostics": {"versionSupport": True, "tagSupport": {"valueSet": [1, 2]}},
    },
    "window": {"workDoneProgress": True},
    "general": {"positionEncodings": ["utf-8", "utf-32", "utf-16"]},
}


class Helix:
    """Helix' client as far as it concerns this server."""

    def __init__(self, process: asyncio.subprocess.Process, config: dict[str, Any]) -> None:
        self.process = process
        self.config = config
        self.number = 0
        self.registered: list[str] = []
        self.diagnostics: dict[str, Any] = {}
        self.refreshes = 0

    def send(self, **message: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method: str, params: Any) -> None:
        self.send(method=method, params=params)

    async def request(self, method: str, params: Any) -> Any:
        self.number += 1
        self.send(id=self.number, method=method, params=params)
        while True:
            message = await self.next()
            if message.get("id") == self.number and "method" not in message:
                assert "error" not in message, message
                return message["result"]

    async def next(self) -> dict[str, Any]:
        """One message of the server; its requests are answered as Helix does."""
        header = await asyncio.wait_for(self.process.stdout.readuntil(b"\r\n\r\n"), 20)
        length = int(re.search(rb"Content-Length: (\d+)", header)[1])
        message = json.loads(await self.process.stdout.readexactly(length))
        method, params = message.get("method"), message.get("params")
        if method == "textDocument/publishDiagnostics":
            self.diagnostics[params["uri"]] = params
        elif method is not None and "id" in message:
            answer: Any = None
            if method == "workspace/configuration":
                answer = [self.section(item.get("section")) for item in params["items"]]
            elif method == "client/registerCapability":
                self.registered += [each["method"] for each in params["registrations"]]
            elif method == "workspace/applyEdit":
                answer = {"applied": True}
            elif method == "workspace/diagnostic/refresh":
                self.refreshes += 1
            self.send(id=message["id"], result=answer)
        return message

    def section(self, name: str | None) -> Any:
        found: Any = self.config
        for part in (name or "").split("."):
            found = found.get(part) if isinstance(found, dict) else None
        return found

    async def until(self, true: Any) -> None:
        while not true():
            await self.next()


@pytest_asyncio.fixture
async def helix(tmp_path):
    processes = []

    async def begin(pulls: bool, config: dict[str, Any]) -> Helix:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "loopgrad", "server"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=dict(os.environ, PYTHONPATH=str(ROOT / "server")),
            cwd=tmp_path,
        )
        processes.append(process)
        client = Helix(process, config)
        able = json.loads(json.dumps(ABLE))
        if pulls:
            able["textDocument"]["diagnostic"] = {
                "dynamicRegistration": False,
                "relatedDocumentSupport": True,
            }
            able["workspace"]["diagnostics"] = {"refreshSupport": True}
        root = tmp_path.as_uri()
        answer = await client.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootPath": str(tmp_path),
                "rootUri": root,
                "workspaceFolders": [{"uri": root, "name": tmp_path.name}],
                "initializationOptions": config,
                "capabilities": able,
                "clientInfo": {"name": "helix", "version": "25.07.1"},
            },
        )
        client.able = answer["capabilities"]
        client.notify("initialized", {})
        client.notify("workspace/didChangeConfiguration", {"settings": config})
        return client

    yield begin
    for process in processes:
        process.kill()
        await process.wait()


def page_config() -> dict[str, Any]:
    """The configuration that the page gives."""
    tomllib = pytest.importorskip("tomllib")
    table = tomllib.loads(re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)[1])
    server = table["language-server"]["loopgrad"]
    assert (server["command"], server["args"]) == ("loopgrad", ["server"])
    assert "loopgrad" in table["language"][0]["language-servers"]
    return server["config"]


@pytest.mark.parametrize("pulls", [False, True])
async def test_from_open_to_mended(helix, tmp_path, pulls):
    client = await helix(pulls, page_config())
    assert client.able["positionEncoding"] == "utf-8"
    assert ("diagnosticProvider" in client.able) == pulls
    text = "# 名𝛼\n" + (ROOT / "examples" / "encoded_features.py").read_text(encoding="utf-8")
    file = tmp_path / "train.py"
    file.write_text(text, encoding="utf-8")
    uri = file.as_uri()
    item = {"uri": uri, "languageId": "python", "version": 0, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": item})

    async def shown() -> list[Any]:
        if pulls:
            params = {
                "textDocument": {"uri": uri},
                "identifier": client.able["diagnosticProvider"]["identifier"],
            }
            return (await client.request("textDocument/diagnostic", params))["items"]
        return client.diagnostics[uri]["diagnostics"]

    if not pulls:
        await client.until(lambda: client.diagnostics.get(uri, {}).get("diagnostics"))
    found = [each for each in await shown() if each["severity"] == 1]
    assert found
    # Helix shows no related information, so the story is in the message.
    assert "\n- built" in found[0]["message"] and "relatedInformation" not in found[0]
    assert "workspace/didChangeWatchedFiles" in client.registered

    line = found[0]["range"]["start"]["line"]
    where = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 1}}
    context = {"diagnostics": found, "triggerKind": 1}
    params = {"textDocument": {"uri": uri}, "range": where, "context": context}
    fix = (await client.request("textDocument/codeAction", params))[0]
    assert fix["isPreferred"] and "edit" not in fix
    fix = await client.request("codeAction/resolve", fix)
    (change,) = fix["edit"]["documentChanges"]
    assert change["textDocument"] == {"uri": uri, "version": 0}
    lines = text.split("\n")
    for edit in sorted(
        change["edits"], key=lambda each: tuple(each["range"]["start"].values()), reverse=True
    ):
        start, end = edit["range"]["start"], edit["range"]["end"]
        head = lines[start["line"]].encode()[: start["character"]].decode()
        tail = lines[end["line"]].encode()[end["character"] :].decode()
        lines[start["line"] : end["line"] + 1] = (head + edit["newText"] + tail).split("\n")
    new = "\n".join(lines)
    file.write_text(new, encoding="utf-8")
    version = {"uri": uri, "version": 1}
    client.notify("textDocument/didChange", {"textDocument": version, "contentChanges": [{"text": new}]})
    client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    if pulls:
        before = client.refreshes
        await client.until(lambda: client.refreshes > before)
    else:
        await client.until(lambda: client.diagnostics[uri].get("version") == 1)
    assert not [each for each in await shown() if each["severity"] == 1]

    line = next(number for number, each in enumerate(new.split("\n")) if "train_codes =" in each)
    position = {"line": line, "character": new.split("\n")[line].index("train_codes")}
    hover = await client.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": position})
    cut = "`train_codes` carries no graph: it was cut off in line 68."  # by ``with torch.no_grad()``
    assert hover["contents"] == {"kind": "markdown", "value": cut}


async def test_the_commands_of_the_page(helix, tmp_path):
    """``:lsp-workspace-command`` offers what the server names and passes what is typed after it."""
    client = await helix(False, {})
    named = re.findall(r":lsp-workspace-command ([\w.]+)", PAGE)
    assert named and set(named) <= set(client.able["executeCommandProvider"]["commands"])
    (tmp_path / "a.py").write_text("import torch\nx = torch.zeros(2)\nx.detach()\n")
    params = {"command": "loopgrad.checkWorkspace", "arguments": []}
    answer = await client.request("workspace/executeCommand", params)
    assert (answer["total"], answer["warnings"]) == (1, 1)


async def test_settings_by_the_configuration(helix, tmp_path):
    client = await helix(False, {"loopgrad": {"ignore": ["LG402"], "severity": {"LG4": "error"}}})
    text = "import torch\nx = torch.zeros(2)\nx.detach()\nz = x.requires_grad_()\n"
    uri = (tmp_path / "a.py").as_uri()
    client.notify(
        "textDocument/didOpen",
        {"textDocument": {"uri": uri, "languageId": "python", "version": 0, "text": text}},
    )
    await client.until(lambda: uri in client.diagnostics)
    assert "LG402" not in [each["code"] for each in client.diagnostics[uri]["diagnostics"]]
