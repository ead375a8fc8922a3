"""A folder of the user's with training code, and a ``loopgrad`` on the path as an installation would put it there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

CARRIED = """\
import torch
net = torch.nn.Linear(3, 3)
hidden = torch.zeros(2, 3)
for step in range(5):
    hidden = torch.tanh(net(torch.randn(2, 3)) + hidden)
    hidden.square().mean().backward()
"""
RIGHT = CARRIED.replace("+ hidden", "+ hidden.detach()")


class Project:
    """Files in a folder, and commands that run in it."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run(self, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env={**self.environment, **more},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def git(self, *arguments: str) -> None:
        done = self.run("git", *arguments)
        assert done.returncode == 0, done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A folder with nothing in it. ``loopgrad`` runs this source."""
    programs = tmp_path / "bin"
    programs.mkdir()
    script = programs / "loopgrad"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m loopgrad "$@"\n')
    script.chmod(0o755)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PRE_COMMIT"))
    }
    environment |= {
        "PATH": os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT / "server"),
        "PRE_COMMIT_HOME": str(tmp_path / "pre-commit"),
        "HOME": str(tmp_path),
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    folder = tmp_path / "project"
    folder.mkdir()
    return Project(folder, environment)


@pytest.fixture
def sources() -> Sequence[str]:
    """A source with a carried value, and the same one right."""
    return CARRIED, RIGHT
