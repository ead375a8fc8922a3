"""The command line: usage, formats, interpreters, and the check's fixes proven by a second run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from loopgrad import cli
from loopgrad.confirm import command, static
from loopgrad.confirm.static import Checked
from loopgrad.model import Finding, Message, Range

from .conftest import ROOT, Confirm
from .test_confirm_awkward import BUG, RIGHT

Write = Callable[..., Path]


@pytest.mark.parametrize(
    "options",
    [["missing.py"], ["x.py", "--device", "tpu"], ["x.py", "--steps", "0"], ["x.py", "--timeout", "-1"], []],
)
def test_usage(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = cli.main(["confirm", *options])
    except SystemExit as error:
        status = error.code  # type: ignore[assignment]
    assert status == 2
    assert capsys.readouterr().err


def test_interpreter_without_torch(confirm: Confirm, write: Write, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys._base_executable} -S -I "$@"\n')  # type: ignore[attr-defined]
    bare.chmod(0o755)
    document = confirm(write(BUG), "--python", str(bare))
    assert document["verdict"] == "inconclusive" and "torch" in document["reason"]
    document = confirm(write(BUG), "--python", "/no/such/python")
    assert document["verdict"] == "inconclusive" and "/no/such/python" in document["reason"]


def test_output_of_the_script_is_untouched(write: Write, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    script = write("import sys\nprint('out')\nprint('err', file=sys.stderr)\n" + RIGHT)
    assert cli.main(["confirm", str(script), "--python", sys.executable]) == 0
    out, err = capfdbinary.readouterr()
    assert out.startswith(b"out\n") and b"Clean on cpu" in out
    assert err == b"err\n"


def test_traceback_is_the_scripts_own(confirm: Confirm, write: Write) -> None:
    confirm(write(BUG))
    assert "Traceback (most recent call last)" in confirm.stderr
    assert "probe" not in confirm.stderr


def test_with_fix(write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The fixed text of the check runs in memory; the file stays."""
    script = write(BUG)
    where = Range(7, 1, 7, 9)
    found = Finding("LG101", "x", "error", "certain", "second-backward", Message.of("x"), str(script), where)
    data = {"code": "LG101", "path": str(script)}

    def check(files: list[str], *, with_fix: bool, language: str, cancel: object) -> Checked:
        assert files == [str(script)] and with_fix
        return Checked([found], [data], {str(script): fixed}, {"detach"})

    monkeypatch.setattr(command, "check", check)
    fixed = RIGHT
    arguments = ["confirm", str(script), "--with-fix", "--python", sys.executable, "--no-color"]
    assert cli.main(arguments) == 0
    said = capsys.readouterr().out
    assert "LG101" in said and "The fix is proven" in said and "still is (2 parameters)" in said
    fixed = RIGHT.replace("h.sum().backward()", "h.detach().requires_grad_().sum().backward()")
    assert cli.main(arguments) == 1
    assert "no longer trained: net.weight, net.bias" in capsys.readouterr().out
    assert script.read_text() == BUG


def test_a_check_that_does_not_end(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(static, "LONGEST", 0.01)
    assert cli.main(["confirm", str(write(BUG)), "--python", sys.executable]) == 1
    assert "could not be checked" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["admm_denoiser", "encoded_features"])
def test_examples_with_fix(confirm: Confirm, name: str) -> None:
    """From the run to the check's fix to the proof, with nothing put in between."""
    script = ROOT / "examples" / f"{name}.py"
    before = script.read_bytes()
    document = confirm(script, "--with-fix")
    assert (document["outcome"], document["iteration"], confirm.status) == ("second-backward", 2, 0)
    assert "confirmed" in [finding["status"] for finding in document["findings"]]
    fixed = document["fixed"]
    assert fixed["verdict"] == "clean" and fixed["proven"] and fixed["first_loss_equal"]
    assert fixed["still_trained"] and fixed["no_longer_trained"] == []
    assert script.read_bytes() == before
