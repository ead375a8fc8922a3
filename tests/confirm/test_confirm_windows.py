"""What Windows is asked for, checked against a kernel that only notes it: no machine runs this for real."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import types
from typing import Any

import pytest

from loopgrad.confirm import process, windows
from loopgrad.confirm.observe import Observation, Request
from loopgrad.confirm.verdict import judge


class Kernel:
    """Notes its calls; each answers what ``answers`` says, or 1."""

    def __init__(self, **answers: int) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.limits: windows.Limits | None = None
        for name in (
            "AssignProcessToJobObject CloseHandle CreateJobObjectW SetInformationJobObject TerminateJobObject"
        ).split():
            setattr(self, name, self._function(name, answers.get(name, 1)))

    def _function(self, name: str, answer: int) -> Any:
        def function(*arguments: Any) -> int:
            self.calls.append((name, *(getattr(value, "value", value) for value in arguments)))
            if name == "SetInformationJobObject":
                copy = bytes(arguments[2]._obj)
                self.limits = windows.Limits.from_buffer_copy(copy)
            return answer

        return function

    def names(self) -> list[str]:
        return [call[0] for call in self.calls]


class Started:
    pid, _handle = 77, 700

    def __init__(self) -> None:
        self.killed = False

    def poll(self) -> None:
        return None

    def kill(self) -> None:
        self.killed = True


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    kernel = Kernel(CreateJobObjectW=42)
    monkeypatch.setattr(ctypes, "windll", types.SimpleNamespace(kernel32=kernel), raising=False)
    return kernel


def test_structures_have_the_sizes_of_the_manual() -> None:
    """144 bytes on 64 bits, of which the basic limits are 64; the flags are behind two times."""
    assert ctypes.sizeof(windows._BasicLimits) == 64
    assert ctypes.sizeof(windows.Limits) == 144
    assert windows._BasicLimits.flags.offset == 16


def test_a_child_is_held_by_a_job_that_ends_it(kernel: Kernel) -> None:
    started: Any = Started()
    job = windows.Job()
    job.take(started)
    assert kernel.limits is not None and kernel.limits.basic.flags == 0x2000
    assert ("AssignProcessToJobObject", 42, 700) in kernel.calls
    job.end(started)
    assert kernel.calls[-2:] == [("TerminateJobObject", 42, 1), ("CloseHandle", 42)]
    assert started.killed


def test_without_a_job_the_tree_is_ended_by_taskkill(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel.AssignProcessToJobObject = lambda *arguments: 0  # type: ignore[attr-defined]
    commands: list[list[str]] = []
    monkeypatch.setattr(subprocess, "run", lambda command, **options: commands.append(command))
    started: Any = Started()
    job = windows.Job()
    job.take(started)
    job.end(started)
    assert commands == [["taskkill", "/T", "/F", "/PID", "77"]]
    assert "TerminateJobObject" not in kernel.names() and kernel.names()[-1] == "CloseHandle"


def test_descriptors_go_as_handles(monkeypatch: pytest.MonkeyPatch) -> None:
    inheritable: list[tuple[int, bool]] = []
    console = types.SimpleNamespace(get_osfhandle=lambda descriptor: descriptor + 1000)
    monkeypatch.setitem(sys.modules, "msvcrt", console)
    monkeypatch.setattr(
        windows.os, "set_handle_inheritable", lambda *pair: inheritable.append(pair), raising=False
    )
    monkeypatch.setattr(subprocess, "STARTUPINFO", lambda **options: options, raising=False)
    monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0x200, raising=False)
    monkeypatch.setattr(subprocess, "CREATE_NO_WINDOW", 0x8000000, raising=False)
    monkeypatch.setattr(process.os, "name", "nt")
    words, options, ending = process._handed(3, 4)
    monkeypatch.undo()
    assert words == ["1003", "1004"] and inheritable == [(1003, True), (1004, True)]
    assert options["startupinfo"] == {"lpAttributeList": {"handle_list": [1003, 1004]}}
    assert options["creationflags"] == 0x8000200 and options["close_fds"]
    assert "pass_fds" not in options and isinstance(ending, windows.Job)


def test_a_crash_is_named_by_its_code() -> None:
    seen = Observation(events=[{"event": "start"}], status=0xC0000005)
    reason = judge([seen], Request("x.py")).reason
    assert dict(reason.args)["status"] == "0xC0000005"
