"""The warm server: one import of torch for many runs, and never for another interpreter than the first.

That no process, socket or folder is left is checked by the fixture ``confirm`` after each test, so each test
ends its server: by the end of the process that it was started for, or by its idle time.
"""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from loopgrad.confirm import warm
from loopgrad.confirm.probe.sockets import short

from .conftest import Confirm
from .test_confirm_awkward import BUG, RIGHT, confirmed

pytestmark = pytest.mark.skipif(not warm.AVAILABLE, reason="a warm server needs Linux")

Write = Callable[..., Path]


class Editor:
    """A process that stands for the editor."""

    def __init__(self) -> None:
        self.process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)

    @property
    def options(self) -> tuple[str, str]:
        return ("--parent-pid", str(self.process.pid))

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def editor(confirm: Confirm) -> Iterator[Editor]:
    editor = Editor()
    yield editor
    editor.close()
    gone(confirm)


def gone(confirm: Confirm) -> None:
    """Waits until the server has ended: within its next look at the editor."""
    deadline = time.monotonic() + 30
    while (confirm.left() or folders(confirm)) and time.monotonic() < deadline:
        time.sleep(0.05)


def folders(confirm: Confirm) -> list[Path]:
    return list(confirm.temporary.glob("loopgrad-*"))


def servers(confirm: Confirm) -> list[int]:
    return [pid for pid, command in confirm.processes() if " serve " in command]


def test_second_run_is_forked_by_the_server_of_the_first(
    confirm: Confirm, write: Write, editor: Editor
) -> None:
    script = write("import os\nprint('parent', os.getppid())\n" + BUG)
    for _ in range(2):
        document = confirm(script, *editor.options)
        assert confirmed(document) and document["warm"]
    assert len(servers(confirm)) == 1
    [folder] = folders(confirm)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.lstat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_run_is_as_in_a_fresh_interpreter(confirm: Confirm, write: Write, editor: Editor) -> None:
    """Arguments, folder, environment, streams, modules and random numbers."""
    script = write("""
        import multiprocessing.process, os, random, sys, threading, torch
        names = sorted(name for name in sys.modules if not name.startswith(("torch", "sympy", "mpmath", "numpy")))
        print("argv", sys.argv, os.getcwd(), sys.path[0], __name__, __file__)
        print("env", sorted(os.environ.items()) == sorted(os.environ.copy().items()), os.environ["MINE"])
        print("streams", sys.stdin.read() == "", sys.stdout.isatty(), sys.stdout.encoding, sys.stdout.seekable())
        print("threads", threading.active_count(), os.getpid() == os.getpgrp() == os.getsid(0))
        print("numbers", random.random(), torch.rand(1).item(), hash("x"))
        print("here", multiprocessing.process.ORIGINAL_DIR in (None, os.getcwd()), oct(os.umask(0)))
        print("own", "loopgrad" in sys.modules, "train" in sys.modules)
        """)
    seen = []
    for options in ((), editor.options, editor.options):
        confirm(script, *options, "--", "--lr", "1", MINE="yes")
        seen.append([line for line in confirm.stderr.splitlines() if line.strip()])
    assert len(seen[0]) == 7
    assert seen[0] == seen[1] == seen[2]


def test_changed_environment_gets_another_server(confirm: Confirm, write: Write, editor: Editor) -> None:
    script = write("import os\nprint('is', os.environ.get('MINE'))\n" + BUG)
    first = confirm(script, *editor.options, MINE="1")
    [before] = servers(confirm)
    second = confirm(script, *editor.options, MINE="2")
    assert first["warm"] and second["warm"] and "is 2" in confirm.stderr
    [after] = servers(confirm)
    assert after != before


def test_another_interpreter_gets_another_server(
    confirm: Confirm, write: Write, editor: Editor, tmp_path: Path
) -> None:
    other = tmp_path / "python"
    other.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    other.chmod(0o755)
    script = write(BUG)
    assert confirm(script, *editor.options)["warm"]
    assert confirm(script, *editor.options, "--python", str(other))["warm"]
    assert len(servers(confirm)) == 2


def test_a_module_that_changes_ends_the_server(
    confirm: Confirm, write: Write, editor: Editor, tmp_path: Path
) -> None:
    """As when a package is upgraded: what the server has imported is no longer what is installed."""
    module = tmp_path / "site" / "sitecustomize.py"
    module.parent.mkdir()
    module.write_text("import builtins\nbuiltins.installed = 1\n")
    script = write("print('installed', installed)\n" + BUG)
    confirm(script, *editor.options, PYTHONPATH=_with(module.parent))
    assert "installed 1" in confirm.stderr
    module.write_text("import builtins\nbuiltins.installed = 22\n")
    assert confirm(script, *editor.options, PYTHONPATH=_with(module.parent))["warm"]
    assert "installed 22" in confirm.stderr


def _with(folder: Path) -> str:
    from .conftest import ROOT

    return os.pathsep.join([str(folder), str(ROOT / "server")])


def test_it_ends_when_it_is_idle(confirm: Confirm, write: Write) -> None:
    assert confirm(write(BUG), "--warm", "--idle", "1")["warm"]
    gone(confirm)
    assert servers(confirm) == [] and folders(confirm) == []


def test_without_the_option_nothing_stays(confirm: Confirm, write: Write) -> None:
    assert not confirm(write(BUG))["warm"]
    assert confirm.left() == []


def test_two_at_once(confirm: Confirm, write: Write, editor: Editor) -> None:
    """Both first: one starts the server, the other waits for it; then both run."""
    scripts = [write(BUG, "one.py"), write(RIGHT, "two.py")]
    started = [confirm.start(script, *editor.options) for script in scripts]
    outputs = [process.communicate(timeout=150)[0] for process in started]
    assert [process.returncode for process in started] == [1, 0], outputs
    assert len(servers(confirm)) == 1


def test_cancel_ends_workers_and_not_the_server(confirm: Confirm, write: Write, editor: Editor) -> None:
    script = write("""
        import subprocess, sys, time
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"], start_new_session=True)
        print("here", flush=True)
        time.sleep(100)
        """)
    process = confirm.start(script, *editor.options)
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert [pid for pid, _ in confirm.processes()] == servers(confirm)


def test_host_killed(confirm: Confirm, write: Write, editor: Editor) -> None:
    """Its runs end, with processes that have left their session."""
    script = write("""
        import subprocess, sys, time
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"], start_new_session=True)
        print("here", flush=True)
        time.sleep(100)
        """)
    process = confirm.start(script, *editor.options)
    assert process.stderr is not None
    process.stderr.readline()
    process.kill()
    process.communicate(timeout=30)
    deadline = time.monotonic() + 10
    while len(confirm.processes()) > 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [pid for pid, _ in confirm.processes()] == servers(confirm)


def test_a_crash_of_the_run_or_of_the_server(confirm: Confirm, write: Write, editor: Editor) -> None:
    crash = write("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", "crash.py")
    document = confirm(crash, *editor.options)
    assert document["verdict"] == "inconclusive" and "SIGSEGV" in document["reason"] and document["warm"]
    [server] = servers(confirm)
    os.kill(server, signal.SIGKILL)
    document = confirm(write(BUG), *editor.options)
    assert confirmed(document) and document["warm"]
    assert len(servers(confirm)) == 1


def test_what_a_killed_server_left_is_taken_away_by_the_next(confirm: Confirm, write: Write) -> None:
    """Of another parent too: nobody would come back to its folder."""
    one, other = Editor(), Editor()
    try:
        assert confirm(write(BUG), *one.options)["warm"]
        [server], [left] = servers(confirm), folders(confirm)
        os.kill(server, signal.SIGKILL)
        assert confirm(write(BUG), *other.options)["warm"]
        assert not left.exists() and len(folders(confirm)) == 1
    finally:
        one.close()
        other.close()
    gone(confirm)


def test_a_server_that_is_told_to_end_leaves_nothing(confirm: Confirm, write: Write, editor: Editor) -> None:
    assert confirm(write(BUG), *editor.options)["warm"]
    [server] = servers(confirm)
    os.kill(server, signal.SIGTERM)
    gone(confirm)
    assert servers(confirm) == [] and folders(confirm) == []


def test_strangers_are_turned_away(confirm: Confirm, write: Write, editor: Editor) -> None:
    """Without the token nothing runs, and the server goes on."""
    confirm(write(BUG), *editor.options)
    [folder] = folders(confirm)
    path = folder / "socket"
    for said in (b'{"token": "x", "key": "y"}\n', b"[]\n", b"nonsense", b""):
        with socket.socket(socket.AF_UNIX) as stranger:
            with short(str(path)) as name:
                stranger.connect(name)
            stranger.sendall(said)
            stranger.shutdown(socket.SHUT_WR)
            stranger.settimeout(10)
            assert b'"pid"' not in stranger.recv(4096)
    assert confirm(write(BUG), *editor.options)["warm"]
    assert len(servers(confirm)) == 1


def test_a_folder_of_somebody_elses_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", None)
    places = warm._Places.of(sys.executable, warm.Warm())
    never = time.monotonic() + 60
    Path(places.folder).mkdir(mode=0o755)
    Path(places.folder).chmod(0o755)
    with pytest.raises(warm.WarmError), places.locked(threading.Event(), never):
        pass
    Path(places.folder).chmod(0o700)
    with places.locked(threading.Event(), never):
        pass
    os.rmdir(places.folder)
    os.symlink(tmp_path, places.folder)
    with pytest.raises(warm.WarmError), places.locked(threading.Event(), never):
        pass


def test_an_interpreter_without_torch_is_still_told_of(
    confirm: Confirm, write: Write, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys._base_executable} -S -I "$@"\n')  # type: ignore[attr-defined]
    bare.chmod(0o755)
    document = confirm(write(BUG), "--warm", "--python", str(bare))
    assert document["torch_missing"] and document["interpreter"] and not document["warm"]
    gone(confirm)


@pytest.mark.parametrize("kind", ["fork", "spawn"])
def test_workers(confirm: Confirm, write: Write, editor: Editor, kind: str) -> None:
    script = write(f"""
        import torch
        from torch.utils.data import DataLoader

        def main():
            net = torch.nn.Linear(3, 3)
            h = torch.zeros(2, 3)
            for x in DataLoader(torch.randn(60, 3), 2, num_workers=2, multiprocessing_context="{kind}"):
                h = net(x + h).tanh()
                h.sum().backward()

        if __name__ == "__main__":
            main()
        """)
    assert confirmed(confirm(script, *editor.options))


def test_threads_of_torch_come_back_in_a_fork(confirm: Confirm, write: Write, editor: Editor) -> None:
    script = write("""
        import numpy, torch
        torch.set_num_threads(4)
        assert torch.allclose(torch.ones(600, 600) @ torch.ones(600, 600), torch.tensor(600.0))
        assert (numpy.ones((600, 600)) @ numpy.ones((600, 600)) == 600).all()
        net = torch.nn.Conv2d(3, 8, 3)
        for i in range(3):
            net(torch.randn(8, 3, 64, 64)).sum().backward()
        """)
    for _ in range(2):
        document = confirm(script, *editor.options, OMP_NUM_THREADS="4")
        assert (document["verdict"], document["warm"]) == ("clean", True), document["reason"]


def test_ranks(confirm: Confirm, write: Write, editor: Editor) -> None:
    script = write("""
        import torch, torch.distributed as dist
        dist.init_process_group("gloo")
        net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 3))
        h = torch.zeros(2, 3)
        for i in range(20):
            h = net(torch.randn(2, 3) + h).tanh()
            h.sum().backward()
        """)
    document = confirm(script, *editor.options, "--nproc", "2")
    assert confirmed(document) and document["warm"]
