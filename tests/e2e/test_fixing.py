"""From a squiggle to none, as a person does it: both examples, and a notebook."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.e2e.tools import ROOT

EXAMPLES = {
    "admm_denoiser.py": (
        "LG101",
        "'benchmark' and 'multiplier' carry the graph of iteration 1",
        (
            "built in iteration 1",
            "freed in iteration 1",
            "carried in iteration 1",
            "reached again in iteration 2",
        ),
        "benchmark = (",
    ),
    "encoded_features.py": (
        "LG102",
        "'train_codes' is computed once, outside the loop",
        ("built", "stored", "freed in iteration 1", "reached again in iteration 2"),
        "train_codes = ",
    ),
}


def errors(path) -> list[str]:
    """The errors and warnings that the command line finds in a file on the disk."""
    command = [sys.executable, "-m", "loopgrad", "check", str(path), "--output-format", "json"]
    run = subprocess.run(command, cwd=ROOT / "server", capture_output=True, text=True, check=False)
    return [
        found["code"] for found in json.loads(run.stdout)["findings"] if found["severity"] != "information"
    ]


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(english, name, picture):
    code, message, roles, part = EXAMPLES[name]
    broken = english.text(name)

    english.open(name)
    english.save()
    rows = english.wait_for_problem(code, message)
    for role in roles:
        assert any(role in row for row in rows), f"no related line says {role!r}: {rows}"
    english.go_to_text(part)
    english.squiggles("error").first.wait_for()

    titles = english.code_actions()
    assert len(titles) >= 3
    if name == "encoded_features.py":
        picture(english, "encoded-features-fixes")
    english.take_first_action()
    english.save()
    english.wait_for_no_problem(code)
    english.until("no error is underlined", lambda: english.squiggles("error").count() == 0)
    fixed = english.wait_for_text(name, lambda text: text not in ("", broken))
    assert len(fixed.splitlines()) >= len(broken.splitlines())
    assert errors(english.folder / name) == []

    english.undo()
    english.wait_for_problem(code, message)
    english.wait_for_text(name, lambda text: text == broken)


def test_notebook(english):
    name = "recurrent.ipynb"
    english.open(name)
    rows = english.wait_for_problem("LG101", "'hidden'")
    assert any("reached again in iteration 2" in row for row in rows)
    english.go_to_problem("LG101")
    cell = english.page.locator(".notebook-editor .code-cell-row", has_text="backward")
    english.until("the cell is underlined", lambda: cell.locator(".squiggly-error").count() > 0)

    english.code_actions()
    english.take_first_action()
    english.save()
    english.wait_for_no_problem("LG101")
    english.wait_for_text(name, lambda text: "detach()" in text)
    assert errors(english.folder / name) == []
