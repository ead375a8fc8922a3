"""The fixes of the cases under torch: ``check --fix``, then the script runs clean.

A quarter of them by default, all with LOOPGRAD_NIGHTLY=1. A case whose fix is rewriting (``none``, ``recompute``)
is left out, and so are those named here, each with its reason.
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

#: Cases without a fix that is applied unasked, and why.
WITHOUT = {
    "no-grad-fn-01": "an argmax has to become soft",
    "no-grad-fn-r02": "an argmax has to become soft",
    "no-grad-fn-x02": "what is computed with numpy has to be written with torch",
    "outside-graph-x08": "a context that caches parametrizations is opened outside of the loop",
    "retain-graph-x03": "gradients with a graph of their own are cleared through .data",
    "rl-r03": "a cut stops the training of the head of the step before; one backward over the sum keeps it",
    "several-losses-r02": "a step stands between the two backward calls: whose gradients it takes is to be decided",
    "retain-graph-x04": "a cut stops the training of what chose the place; one backward over the sum keeps it",
}


def cases() -> list[Path]:
    found = []
    for path in sorted(CASES.glob("*/case.json")):
        case = json.loads(path.read_text())
        if case["outcome"] != "clean" and case["fix"] not in ("none", "recompute"):
            found.append(path.parent)
    return found


ALL = [folder for folder in cases() if folder.name not in WITHOUT]
CHOSEN = ALL if os.environ.get("LOOPGRAD_NIGHTLY") else ALL[::4]


def test_nine_in_ten_are_fixed() -> None:
    assert len(ALL) >= 0.9 * len(cases())


@pytest.mark.parametrize("folder", CHOSEN, ids=lambda folder: folder.name)
def test_the_fixed_script_runs_clean(folder: Path, tmp_path: Path) -> None:
    case = json.loads((folder / "case.json").read_text())
    script = tmp_path / "script.py"
    script.write_bytes((folder / "bug.py").read_bytes())
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        main(["check", str(script), "--fix"])
    assert script.read_bytes() != (folder / "bug.py").read_bytes(), said.getvalue()
    assert verify.observe(script, case.get("steps"))["outcome"] == "clean", script.read_text()
