"""How a script is confirmed: as launch.json runs it, without PyTorch, and where the run does not bear a finding out."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.e2e.tools import ROOT

NAME = "train.py"
SCRIPT = """\
import json
import os
import sys

import torch

with open(os.environ["RAN"], "w") as file:
    json.dump([sys.argv[1:], os.getcwd(), sys.prefix], file)
weight = torch.ones(3, requires_grad=True)
hidden = torch.zeros(3)
for _ in range(5):
    hidden = (hidden + weight).tanh()
    loss = hidden.sum()
    loss.backward()
"""

#: A Loopgrad that confirms nothing: its server is the real one.
OWN = """\
#!/bin/sh
if [ "$1" = confirm ]; then
  cat "$(dirname "$0")/refuted.jsonl"
else
  exec {python} -I {launcher} "$@"
fi
"""


FIRST = {
    "args": ["--epochs", "4"],
    "cwd": "${workspaceFolder}/data",
    "env": {"RAN": "${workspaceFolder}/ran.json"},
    "python": sys.executable,
}


@pytest.fixture(scope="module")
def window(open_window: Callable):
    own = OWN.format(python=sys.executable, launcher=ROOT / "bundled" / "launcher.py")
    # A launch.json is there from the start: VS Code may miss that a folder .vscode comes while it is loading.
    files = {
        NAME: SCRIPT,
        "own/loopgrad": own,
        "data/numbers.csv": "1\n",
        ".vscode/launch.json": launch_json(**FIRST),
    }
    return open_window("ways", files, NAME)


def launch_json(**configuration) -> str:
    """A launch.json with one configuration for the script, and one for whichever file is open."""
    own = {"name": "Train", "type": "debugpy", "request": "launch", "program": f"${{workspaceFolder}}/{NAME}"}
    other = {
        "name": "File",
        "type": "debugpy",
        "request": "launch",
        "program": "${file}",
        "args": ["--other"],
    }
    return json.dumps({"version": "0.2.0", "configurations": [other, {**own, **configuration}]})


def launch(window, **configuration) -> None:
    (window.folder / ".vscode" / "launch.json").write_text(launch_json(**configuration))
    window.page.wait_for_timeout(2000)  # VS Code watches the file; it shows nothing of it


def test_as_launch_json_runs_it(window):
    ran = window.folder / "ran.json"
    window.wait_for_problem("LG101")
    window.command("Loopgrad: Confirm on Device")
    window.notification("Confirmed on cpu in iteration 2").wait_for(timeout=180_000)
    assert json.loads(ran.read_text()) == [["--epochs", "4"], str(window.folder / "data"), sys.prefix]
    window.wait_for_problem("LG101", "(confirmed on cpu in iteration 2)")


def test_without_torch(window, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    python = tmp_path / "bare" / "bin" / "python"
    launch(window, python=str(python))
    window.command("Loopgrad: Confirm on Device")
    told = window.notification(f"There is no PyTorch in {python}")
    told.wait_for(timeout=60_000)
    told.hover()
    assert told.locator("a.monaco-button", has_text="Choose Interpreter").count() == 1


def test_a_refuted_finding_comes_with_a_report(window):
    line = SCRIPT[: SCRIPT.index("    hidden = (")].count("\n") + 1
    finding = {
        "code": "LG101",
        "message": "",
        "path": str(window.folder / NAME),
        "certainty": "certain",
        "outcome": "second-backward",
        "range": {"start": {"line": line, "column": 5}, "end": {"line": line, "column": 12}},
        "status": "refuted",
        "report": "# what to report\n",
    }
    result = {
        "event": "result",
        "verdict": "clean",
        "outcome": None,
        "iteration": None,
        "device": "cpu",
        "steps": 8,
        "graph_nodes": [4, 4, 4],
        "carriers": [],
        "reason": "nothing went wrong",
        "redirected": False,
        "shape_only": False,
        "findings": [finding],
    }
    (window.folder / "own" / "refuted.jsonl").write_text(json.dumps(result) + "\n")
    settings = {"loopgrad.path": ["${workspaceFolder}/own/loopgrad"]}
    (window.folder / ".vscode" / "settings.json").write_text(json.dumps(settings))
    launch(window, python=sys.executable)
    window.until(
        "its own Loopgrad runs", lambda: window.server.processes(str(ROOT / "bundled" / "launcher.py"))
    )
    window.wait_for_problem("LG101")
    window.command("Loopgrad: Confirm on Device")
    told = window.notification(f"A complete run on cpu does not bear out LG101 (line {line})")
    told.wait_for(timeout=60_000)
    window.wait_for_problem("LG101", "on cpu")
    window.press_button(told, "Open a Report")
    window.page.locator(".view-line", has_text="# what to report").first.wait_for()
