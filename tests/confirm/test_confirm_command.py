"""The command line: usage, formats, interpreters, and the check's fixes proven by a second run."""

from __future__ import annotations

import json
import os
import subprocess
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


def test_events_a_line(confirm: Confirm, write: Write) -> None:
    """Standard output is the client's, line by line; the script prints on standard error."""
    script = write("print('from the script')\n" + BUG)
    process = confirm.start(script, "--with-fix", "--output-format", "jsonl")
    out, err = process.communicate(timeout=150)
    events = [json.loads(line) for line in out.splitlines()]
    names = [event["event"] for event in events]
    assert process.returncode == 0, out
    assert "from the script" in err and "from the script" not in out
    second = names.index("start", 1)
    assert names[:4] == ["start", "loaded", "device", "step"]
    assert names.index("fault") < names.index("check") < second and names[-1] == "result"
    assert [event["phase"] for event in events if event["event"] == "start"] == ["run", "fixed-run"]
    assert events[names.index("fault")] == {
        "event": "fault", "outcome": "second-backward", "iteration": 2, "path": str(script), "line": 10,
    }  # fmt: skip
    result = events[-1]
    assert result["verdict"] == "confirmed" and result["fixed"]["proven"]
    assert result["fixed"]["graph_nodes"] and result["fixed"]["first_loss_tolerance"] == 0


def test_closed_input_cancels(confirm: Confirm, write: Write) -> None:
    script = write(
        "import multiprocessing, time\n"
        "multiprocessing.get_context('fork').Process(target=time.sleep, args=(100,)).start()\n"
        "print('here', flush=True)\ntime.sleep(100)\n"
    )
    options = ("--output-format", "jsonl", "--cancel-on-eof")
    process = confirm.start(script, *options, stdin=subprocess.PIPE)
    assert process.stderr is not None and process.stdin is not None
    process.stderr.readline()
    process.stdin.close()
    process.stdin = None
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    result = json.loads(out.splitlines()[-1])
    assert result["verdict"] == "inconclusive" and "cancelled" in result["reason"]


def test_refuted_finding_and_its_report(confirm: Confirm, write: Write, tmp_path: Path) -> None:
    """A certain finding that the run does not bear out: here torch itself is another one than the check knows."""
    patch = tmp_path / "site" / "sitecustomize.py"
    patch.parent.mkdir()
    patch.write_text(
        "import torch\ntanh = torch.Tensor.tanh\n"
        "torch.Tensor.tanh = lambda self: tanh(self).detach().requires_grad_()\n"
    )
    script = write("def unused():\n    pass\n" + BUG.replace("    opt.step()", ""))
    report = tmp_path / "report.py"
    paths = os.pathsep.join([str(patch.parent), str(ROOT / "server")])
    document = confirm(script, "--report", str(report), PYTHONPATH=paths)
    assert document["verdict"] == "clean", document["reason"]
    [found] = [item for item in document["findings"] if item["code"] == "LG101"]
    assert (found["certainty"], found["status"]) == ("certain", "refuted")
    assert found["report"] == report.read_text()
    assert "torch " + document["torch"] in found["report"] and "unused" not in found["report"]
    report.unlink()
    document = confirm(script, "--report", str(report))
    assert document["verdict"] == "confirmed" and not report.exists()
    assert "nothing to report" in confirm.stderr
