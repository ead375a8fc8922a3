"""A code base as it is: ``--add-ignore`` silences what is there and nothing else, ``--statistics`` counts it."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loopgrad.cli import main

CASES = Path(__file__).parents[1] / "cases"
FAULTY = [
    path.parent
    for path in sorted(CASES.glob("*/case.json"))
    if json.loads(path.read_text())["outcome"] != "clean"
][::8]
NEW = "import torch\nnet = torch.nn.Linear(3, 3)\nh = net(torch.ones(2, 3)).tanh()\nh.sum().backward()\nh.sum().backward()\n"

Check = Callable[..., tuple[int, str]]


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str]) -> Check:
    def run(*arguments: str) -> tuple[int, str]:
        status = main(["check", *arguments, "-j", "1"])
        return status, capsys.readouterr().out

    return run


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every eighth faulty case, as a script, and the first of them as a notebook with magics."""
    for folder in FAULTY:
        (tmp_path / f"{folder.name}.py").write_bytes((folder / "bug.py").read_bytes())
    source = "%matplotlib inline\n" + (FAULTY[0] / "bug.py").read_text()
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": "# Text"},
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": source.splitlines(keepends=True)},
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "notes.ipynb").write_text(json.dumps(notebook, indent=1))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_baseline(workspace: Path, check: Check) -> None:
    before = {path.name: path.read_text() for path in workspace.iterdir()}
    status, text = check(".", "--output-format", "json", "--statistics")
    document: dict[str, Any] = json.loads(text)
    assert status == 1
    found = Counter(finding["code"] for finding in document["findings"])
    assert {each["code"]: each["count"] for each in document["statistics"]} == found
    assert {finding["path"].removeprefix("./") for finding in document["findings"]} == set(before)

    status, text = check(".", "--add-ignore")
    assert status == 0, text
    assert check(".") == (0, f"No findings in {len(before)} files.\n")
    assert check(".", "--show-unused-ignores")[1] == f"No findings in {len(before)} files.\n"
    for name, old in before.items():
        new = (workspace / name).read_text()
        assert new != old
        assert re.sub(r"  # loopgrad: ignore\[[\w,]+\]", "", new) == old, (
            "comments were added, and that is all"
        )
        if name.endswith(".py"):
            assert ast.dump(ast.parse(new)) == ast.dump(ast.parse(old))


def test_what_is_new_is_reported_over_a_baseline(workspace: Path, check: Check) -> None:
    check(".", "--add-ignore")
    (workspace / "new.py").write_text(NEW)
    status, text = check(".", "--output-format", "concise")
    assert status == 1
    assert re.fullmatch(r"new\.py:5:\d+: LG103 .*\nFound 1 error in \d+ files\.\n", text)
