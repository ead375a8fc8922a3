"""Which files a command line stands for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from loopgrad.source import discover


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def found(*paths: str) -> list[str]:
    return [item.path for item in discover(paths)[0]]


def test_folders_are_searched_for_python_and_notebooks(here: Path) -> None:
    make(here, "b.py", "a.ipynb", "notes.txt", "pkg/c.py", "gui.pyw")
    assert found(".") == ["a.ipynb", "b.py", "gui.pyw", "pkg/c.py"]
    assert found("pkg", "./pkg") == ["pkg/c.py"]
    assert found("./pkg") == ["./pkg/c.py"]
    assert found(str(here / "pkg")) == [str(here / "pkg/c.py")]


def test_other_peoples_code_and_build_results_are_left_out(here: Path) -> None:
    folders = (".git", ".venv", "venv", "node_modules", "__pycache__", "build", "dist", ".ipynb_checkpoints")
    make(here, *(f"{folder}/x.py" for folder in folders), "lib/site-packages/y.py", "own.py")
    assert found(".") == ["own.py"]
    assert found("build") == [os.path.join("build", "x.py")]  # unless it is named


def test_a_named_file_is_taken_whatever_its_name_and_once(here: Path) -> None:
    make(here, "train", "a.py")
    assert found("train", "a.py", ".", "./a.py") == ["train", "a.py"]
    assert [item.named for item in discover(["train", "."])[0]] == [True, False]


def test_quoted_patterns_are_expanded(here: Path) -> None:
    make(here, "a1.py", "a2.py", "b.py", "[x].py")
    assert found("a*.py") == ["a1.py", "a2.py"]
    assert found("[x].py") == ["[x].py"]
    assert found("none*.py") == ["none*.py"]  # to be reported as missing


def test_loops_of_links_end_and_no_file_comes_twice(here: Path) -> None:
    make(here, "pkg/a.py")
    (here / "pkg/loop").symlink_to(here, target_is_directory=True)
    (here / "pkg/self").symlink_to("self")
    (here / "link.py").symlink_to("pkg/a.py")
    (here / "dangling.py").symlink_to("nowhere.py")
    assert found(".") == ["link.py"]
    assert found("pkg") == ["pkg/a.py"]


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root reads everything")
def test_an_unreadable_folder_is_a_problem(here: Path) -> None:
    make(here, "a.py", "closed/b.py")
    (here / "closed").chmod(0)
    inputs, problems = discover(["."])
    (here / "closed").chmod(0o700)
    assert [item.path for item in inputs] == ["a.py"]
    assert [problem.path for problem in problems] == ["closed"]


def test_standard_input_is_a_file_of_its_own(here: Path) -> None:
    assert found("-", "-") == ["-"]
