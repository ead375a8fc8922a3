"""The extension's client: its types and style, its own tests, and a lock file that names no registry."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def npm(script: str) -> subprocess.CompletedProcess[str]:
    """Runs a script of package.json with this Python for the server."""
    reason = None
    if shutil.which("npm") is None:
        reason = "no npm"
    elif not (ROOT / "node_modules").is_dir():
        reason = "the client's tools are not installed: run npm ci"
    if reason is not None:
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    environment = {**os.environ, "LOOPGRAD_PYTHON": sys.executable}
    return subprocess.run(
        ["npm", "run", "--silent", script],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("script", ["check", "test"])
def test_script(script):
    run = npm(script)
    assert run.returncode == 0, run.stdout + run.stderr


def test_lock_file_names_no_registry():
    packages = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    assert len(packages) > 100
    assert [name for name, package in packages.items() if "resolved" in package] == []


def test_versions_agree():
    from loopgrad import __version__

    manifest = json.loads((ROOT / "package.json").read_text())
    lock = json.loads((ROOT / "package-lock.json").read_text())
    assert manifest["version"] == lock["version"] == __version__
    wanted = {**manifest.get("dependencies", {}), **manifest["devDependencies"]}
    assert [name for name, version in wanted.items() if not version[0].isdigit()] == []
