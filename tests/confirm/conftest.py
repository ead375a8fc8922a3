"""Scripts to run, and a look at what they leave behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a script into a folder of its own."""

    def write(text: str, name: str = "train.py") -> Path:
        path = tmp_path / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write


class Confirm:
    """Runs the command in a process, with a mark in the environment that all its descendants inherit."""

    def __init__(self, temporary: Path) -> None:
        self.temporary = temporary
        self.mark = f"LOOPGRAD_TEST_{os.getpid()}_{id(self)}"
        self.status = 0
        self.stdout = self.stderr = ""

    def start(
        self,
        script: Path | str,
        *options: str,
        cwd: Path | None = None,
        stdin: int | None = None,
        **variables: str,
    ) -> subprocess.Popen[str]:
        paths = os.pathsep.join([str(ROOT / "server"), os.environ.get("PYTHONPATH", "")])
        env = {
            **os.environ,
            "PYTHONPATH": paths,
            self.mark: "1",
            "TMPDIR": str(self.temporary),
            "OMP_NUM_THREADS": "1",
            "VIRTUAL_ENV": sys.prefix,
            **variables,
        }
        env.pop("XDG_RUNTIME_DIR", None)
        return subprocess.Popen(
            [sys.executable, "-m", "loopgrad", "confirm", str(script), "--output-format", "json", *options],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd or (script.parent if isinstance(script, Path) else None),
            env=env,
        )

    def __call__(
        self, script: Path | str, *options: str, cwd: Path | None = None, **variables: str
    ) -> dict[str, Any]:
        process = self.start(script, *options, cwd=cwd, **variables)
        self.stdout, self.stderr = process.communicate(timeout=150)
        self.status = process.returncode
        document: dict[str, Any] = json.loads(self.stdout) if self.stdout.strip() else {}
        return document

    def processes(self) -> list[tuple[int, str]]:
        """Processes with the mark that have not ended, with their command lines."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (entry / "environ").read_bytes():
                    command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found.append((int(entry.name), command))
            except OSError:
                continue
        return found

    def left(self) -> list[str]:
        return [command for _, command in self.processes()]


@pytest.fixture
def confirm(tmp_path: Path) -> Iterator[Confirm]:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    runner = Confirm(temporary)
    yield runner
    assert runner.left() == []
    kept = [path.name for path in temporary.iterdir() if not path.name.startswith("torchinductor")]
    assert kept == []
