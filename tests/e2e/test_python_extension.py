"""The interpreter that is chosen in the Python extension, here one with the same interface and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.e2e.tools import ROOT

NAME = "admm_denoiser.py"
SERVER = "launcher.py server"

MANIFEST = {
    "name": "python",
    "publisher": "ms-python",
    "version": "1.0.0",
    "engines": {"vscode": "^1.91.0"},
    "main": "./main.js",
    "activationEvents": [],
    "contributes": {
        "commands": [{"command": "python.setInterpreter", "title": "Python: Select Interpreter"}]
    },
}

#: ``chosen`` in the workspace holds the path of the interpreter; the command reads it anew.
MAIN = """
const { readFileSync } = require('node:fs');
const vscode = require('vscode');
exports.activate = (context) => {
  const changed = new vscode.EventEmitter();
  const file = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, 'chosen').fsPath;
  const chosen = () => readFileSync(file, 'utf8').trim();
  context.subscriptions.push(vscode.commands.registerCommand('python.setInterpreter', () => {
    changed.fire({ id: chosen(), path: chosen() });
  }));
  return { environments: {
    getActiveEnvironmentPath: () => ({ id: chosen(), path: chosen() }),
    resolveEnvironment: async ({ path }) => ({ executable: { uri: vscode.Uri.file(path) } }),
    onDidChangeActiveEnvironmentPath: changed.event,
  } };
};
"""

VSIX = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata><Identity Language="en-US" Id="python" Version="1.0.0" Publisher="ms-python"/>
<DisplayName>Python</DisplayName><Description xml:space="preserve"></Description></Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation><Dependencies/>
<Assets><Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/></Assets>
</PackageManifest>"""

TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension=".json" ContentType="application/json"/><Default Extension=".js" ContentType="application/javascript"/>
<Default Extension=".vsixmanifest" ContentType="text/xml"/></Types>"""


def python_extension(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("extension.vsixmanifest", VSIX)
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("extension/package.json", json.dumps(MANIFEST))
        archive.writestr("extension/main.js", MAIN)
    return path


@pytest.fixture(scope="module")
def interpreters(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two environments of one Python."""
    folder = tmp_path_factory.mktemp("environments")
    for name in ("one", "two"):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / name)], check=True)
    return [str(folder / name / "bin" / "python") for name in ("one", "two")]


@pytest.fixture(scope="module")
def window(tools, vsix, base, browser, interpreters, tmp_path_factory: pytest.TempPathFactory):
    from tests.e2e.code_server import CodeServer
    from tests.e2e.workbench import Workbench

    server = CodeServer(tools, base / "python", base / "python" / "extensions")
    folder = base / "python" / "project"
    folder.mkdir(parents=True)
    (folder / NAME).write_text((ROOT / "examples" / NAME).read_text())
    (folder / "chosen").write_text(interpreters[0])
    server.install(python_extension(tmp_path_factory.mktemp("vsix") / "python.vsix"))
    server.install(vsix)
    server.start()
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    window = Workbench(page, server, folder)
    window.load(NAME)
    yield window
    page.context.close()
    assert server.stop() == []


def running(window) -> list[str]:
    """The interpreters of the servers that run."""
    return [command.split()[0] for command in window.server.processes(SERVER).values()]


def test_its_choice_runs_the_server(window, interpreters):
    window.wait_for_problem("LG101")
    assert running(window) == [interpreters[0]]


def test_another_choice_restarts_it(window, interpreters):
    (window.folder / "chosen").write_text(interpreters[1])
    window.command("Python: Select Interpreter")
    window.until("the other one runs it", lambda: running(window) == [interpreters[1]])
    window.wait_for_problem("LG101")


def test_the_same_choice_does_not(window, interpreters):
    before = set(window.server.processes(SERVER))
    window.command("Python: Select Interpreter")
    window.page.wait_for_timeout(3000)
    assert set(window.server.processes(SERVER)) == before


def test_it_is_offered_where_torch_is_missing(window, interpreters):
    window.command("Loopgrad: Confirm on Device")
    told = window.notification(f"There is no PyTorch in {interpreters[1]}")
    told.wait_for(timeout=60_000)
    (window.folder / "chosen").write_text(interpreters[0])
    window.press_button(told, "Choose Interpreter")
    window.until("the first one runs the server", lambda: running(window) == [interpreters[0]])
    window.wait_for_problem("LG101")
