"""The hooks for pre-commit: valid, and run by pre-commit itself over a clean git repository."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pre_commit")

import yaml
from pre_commit.clientlib import load_manifest

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = ROOT / ".pre-commit-hooks.yaml"

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def hooks() -> dict[str, dict[str, Any]]:
    return {hook["id"]: hook for hook in load_manifest(str(MANIFEST))}


def test_the_manifest_is_valid() -> None:
    assert set(hooks()) == {"loopgrad", "loopgrad-fix"}


@pytest.fixture
def repository(project: Any, sources: Sequence[str]) -> Any:
    """A git repository with a source that is right, one that is not, and one in a folder that is excluded."""
    carried, right = sources
    project.write("right.py", right)
    project.write("legacy/old.py", carried)
    project.write("notes.txt", "hidden = hidden\n")
    project.write("pyproject.toml", '[tool.loopgrad]\nexclude = ["legacy"]\n')
    project.git("init", "--quiet")
    project.git("config", "user.email", "someone@example.com")
    project.git("config", "user.name", "Someone")
    return project


def configure(project: Any, hook: str, **more: Any) -> None:
    """The hook as pre-commit would run it after its installation: its entry, from the path."""
    own = {key: hooks()[hook][key] for key in ("id", "name", "entry", "types_or", "require_serial")}
    local = {"repo": "local", "hooks": [{**own, "language": "system", **more}]}
    project.write(".pre-commit-config.yaml", yaml.safe_dump({"repos": [local]}))
    project.git("add", "--all")


def run(project: Any, *arguments: str) -> Any:
    return project.run(sys.executable, "-m", "pre_commit", "run", "--all-files", *arguments)


def test_a_right_repository_passes(repository: Any) -> None:
    configure(repository, "loopgrad")
    done = run(repository)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout


def test_a_finding_fails_with_its_line(repository: Any, sources: Sequence[str]) -> None:
    repository.write("train.py", sources[0])
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": sources[0]}]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    repository.write("train.ipynb", json.dumps(notebook))
    configure(repository, "loopgrad")
    done = run(repository)
    assert done.returncode == 1
    assert "train.py:5:5: LG101 " in done.stdout
    assert "train.ipynb:cell 1:5:5: LG101 " in done.stdout
    assert "old.py" not in done.stdout, "what the settings exclude is passed over, though it is named"
    assert "right.py" not in done.stdout


def test_arguments_are_handed_on(repository: Any, sources: Sequence[str]) -> None:
    repository.write("train.py", sources[0])
    configure(repository, "loopgrad", args=["--ignore", "LG1"])
    assert run(repository).returncode == 0


def test_the_fixing_hook_fixes_once(repository: Any, sources: Sequence[str]) -> None:
    repository.write("train.py", sources[0])
    configure(repository, "loopgrad-fix")
    done = run(repository)
    assert done.returncode == 1
    assert "files were modified by this hook" in done.stdout
    assert ".detach()" in (repository.folder / "train.py").read_text()
    repository.git("add", "--all")
    assert run(repository).returncode == 0


def test_a_commit_is_stopped(repository: Any, sources: Sequence[str]) -> None:
    configure(repository, "loopgrad")
    assert repository.run(sys.executable, "-m", "pre_commit", "install").returncode == 0
    repository.git("commit", "--quiet", "-m", "Right")
    repository.write("train.py", sources[0])
    repository.git("add", "train.py")
    done = repository.run("git", "commit", "-m", "Not right")
    assert done.returncode == 1
    assert "train.py:5:5: LG101 " in done.stdout + done.stderr


@pytest.mark.skipif(
    not os.environ.get("LOOPGRAD_NIGHTLY") or not (ROOT / ".git").exists(),
    reason="pre-commit installs the project anew: nightly, from a git checkout",
)
@pytest.mark.parametrize("hook", ["loopgrad", "loopgrad-fix"])
def test_pre_commit_installs_the_hook_from_the_repository(
    repository: Any, sources: Sequence[str], hook: str
) -> None:
    repository.write("train.py", sources[0])
    repository.git("add", "--all")
    # The program and the source of this run are not to stand in for the installed ones.
    path = os.pathsep.join(repository.environment["PATH"].split(os.pathsep)[1:])
    done = repository.run(
        sys.executable,
        "-m",
        "pre_commit",
        "try-repo",
        str(ROOT),
        hook,
        "--all-files",
        PATH=path,
        PYTHONPATH="",
    )
    assert done.returncode == 1, done.stderr
    assert ("LG101 " if hook == "loopgrad" else "files were modified") in done.stdout
