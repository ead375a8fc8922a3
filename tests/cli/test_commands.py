"""``explain``, commands of other parts, and how the program ends."""

from __future__ import annotations

import functools
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import loopgrad as package
from loopgrad import cli
from loopgrad.report import pages
from loopgrad.report.progress import Progress

SERVER = str(Path(package.__file__).parent.parent)

PAGE = """\
---
code: LG101
---
# LG101: loop-carried-graph

See [the manual](http://x) on **graphs** and `backward`.

<!-- outcome: clean -->
```py
x = 1
```
"""


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pages/en").mkdir(parents=True)
    (tmp_path / "pages/zh-cn").mkdir()
    (tmp_path / "pages/en/LG101.md").write_text(PAGE)
    (tmp_path / "pages/en/LG102.md").write_text("# Two\n")
    (tmp_path / "pages/zh-cn/LG101.md").write_text("# 循环\n", encoding="utf-8")
    monkeypatch.setattr(pages.resources, "files", lambda name: tmp_path)


def test_explain_prints_the_page(loopgrad: Any, page: None) -> None:
    result = loopgrad("explain", "LG101")
    assert result.out == PAGE.partition("---\n# ")[1][4:] + PAGE.partition("---\n# ")[2]
    assert result.status == 0
    assert loopgrad("explain", "loop-carried-graph").out == result.out
    assert loopgrad("explain", "lg101", "--language", "zh-cn").out == "# 循环\n"
    assert loopgrad("explain", "LG102", "--language", "zh-cn").out == "# Two\n"


def test_explain_sets_the_page_for_a_terminal(loopgrad: Any, page: None) -> None:
    assert loopgrad("explain", "LG101", "--color", "always").out == (
        "\x1b[1;4mLG101: loop-carried-graph\x1b[0m\n\n"
        "See the manual (http://x) on \x1b[1mgraphs\x1b[0m and \x1b[36mbackward\x1b[0m.\n\n"
        "    \x1b[36mx = 1\x1b[0m\n"
    )


def test_explain_of_an_unknown_code_lists_the_rules(loopgrad: Any) -> None:
    result = loopgrad("explain", "LG111")
    assert result.status == 2
    assert result.out == ""
    assert "did you mean LG101?" in result.err
    assert "  LG402  discarded-detach\n" in result.err


def test_version(loopgrad: Any) -> None:
    assert loopgrad("--version").out == f"loopgrad {package.__version__}\n"


def test_a_part_brings_its_command(loopgrad: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    part = ModuleType("fake_part")

    def register(commands: Any) -> None:
        parser = commands.add_parser("confirm", help="run a script")
        parser.add_argument("script")
        cli.add_common(parser)
        parser.set_defaults(run=lambda args: 3 if args.script == "x.py" else 0)

    part.register = register  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fake_part", part)
    monkeypatch.setattr(cli, "_exists", lambda name: name == "fake_part")
    monkeypatch.setattr(cli, "_PARTS", {"confirm": "fake_part", "server": "not_there"})
    assert loopgrad("confirm", "x.py").status == 3
    assert "run a script" in loopgrad("--help").out
    assert loopgrad("server").status == 2  # that part is not installed


# The program itself ---------------------------------------------------------------------------------


def start(folder: Path, *argv: str, **options: Any) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": SERVER, "PYTHONUNBUFFERED": ""}
    return subprocess.Popen(
        [sys.executable, "-m", "loopgrad", *argv],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    for number in range(2000):
        (tmp_path / f"broken_{number:04}.py").write_text("import torch\ndef f(:\n")
    process = start(tmp_path, "check", ".", "-j", "1")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(1)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.wait(timeout=60)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_ends_quietly(tmp_path: Path, jobs: str) -> None:
    # A pipe that nobody writes to keeps the check waiting.
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "a.py").write_text("x = 1\n")
    # Started by a shell in the background, the tests ignore the signal, and what they start inherits that.
    heed = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = start(tmp_path, "check", "pipe.py", "a.py", "-j", jobs, start_new_session=True, preexec_fn=heed)
    time.sleep(2)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (out, err.strip()) == (b"", b"loopgrad: interrupted")
    assert process.returncode == 130


def test_output_in_a_locale_that_is_not_unicode(tmp_path: Path) -> None:
    (tmp_path / "状态.py").write_text("import torch\ndef f(:\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": SERVER, "PYTHONIOENCODING": "ascii"}
    for form in ("text", "json", "sarif", "github"):
        done = subprocess.run(
            [sys.executable, "-m", "loopgrad", "check", ".", "--output-format", form, "--language", "zh-cn"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 2
        assert done.stderr == b""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_progress_bar_on_a_terminal_once_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.5, 2.0, 2.01, 3.0])
    monkeypatch.setattr("loopgrad.report.progress.time.monotonic", lambda: next(clock))
    terminal = Terminal()
    progress = Progress(40, terminal, "en")
    for done in (1, 10, 11, 20):
        progress(done)
    progress.clear()
    assert terminal.getvalue() == (
        "\r[######------------------] checking 10 of 40 files\x1b[K"
        "\r[############------------] checking 20 of 40 files\x1b[K"
        "\r\x1b[K"
    )


def test_no_progress_bar_elsewhere() -> None:
    stream = io.StringIO()
    progress = Progress(40, stream, "en")
    progress._next = 0.0
    progress(10)
    progress.clear()
    assert stream.getvalue() == ""
