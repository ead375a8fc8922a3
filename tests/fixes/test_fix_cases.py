"""The fixes of the cases under torch: ``check --fix``, then the script runs clean.

A quarter of them by default, all with LOOPGRAD_NIGHTLY=1. A case whose fix is rewriting (``none``, ``recompute``)
is left out, and so is one whose case.json says why no fix is applied unasked (``no_fix``).
"""

from __future__ import annotations

import contextlib
import io
import json
import os
from pathlib import Path

import pytest

pytest.importorskip("torch")

from loopgrad.cli import main
from tests.cases import verify

CASES = Path(__file__).parents[1] / "cases"


def cases() -> list[Path]:
    found = []
    for path in sorted(CASES.glob("*/case.json")):
        case = json.loads(path.read_text())
        if case["outcome"] != "clean" and case["fix"] not in ("none", "recompute"):
            found.append(path.parent)
    return found


ALL = cases()
WITHOUT = [folder for folder in ALL if "no_fix" in json.loads((folder / "case.json").read_text())]
FIXED = [folder for folder in ALL if folder not in WITHOUT]
CHOSEN = FIXED if os.environ.get("LOOPGRAD_NIGHTLY") else FIXED[::4]


def fixed(folder: Path, script: Path) -> str:
    """Applies the fixes to a copy of the bug; what was said on the way."""
    script.write_bytes((folder / "bug.py").read_bytes())
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        main(["check", str(script), "--fix"])
    return said.getvalue()


def test_nine_in_ten_are_fixed() -> None:
    assert len(FIXED) >= 0.9 * len(ALL)


@pytest.mark.parametrize("folder", CHOSEN, ids=lambda folder: folder.name)
def test_the_fixed_script_runs_clean(folder: Path, tmp_path: Path) -> None:
    case = json.loads((folder / "case.json").read_text())
    script = tmp_path / "script.py"
    said = fixed(folder, script)
    assert script.read_bytes() != (folder / "bug.py").read_bytes(), said
    assert verify.observe(script, case.get("steps"))["outcome"] == "clean", script.read_text()


@pytest.mark.parametrize("folder", WITHOUT, ids=lambda folder: folder.name)
def test_a_case_said_to_have_no_fix_has_none(folder: Path, tmp_path: Path) -> None:
    case = json.loads((folder / "case.json").read_text())
    script = tmp_path / "script.py"
    fixed(folder, script)
    assert verify.observe(script, case.get("steps"))["outcome"] != "clean", script.read_text()
