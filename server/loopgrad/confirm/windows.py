"""Child processes on Windows: handles for descriptors, and a job object that leaves nothing behind.

A job object with ``JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE`` holds a process and all that it starts; they end when
its last handle is closed, and so also when this process ends in whatever way ("Job Objects" in the manual of
the Windows API). Where a process cannot be put into one, ``taskkill /T /F`` ends its tree.

Nothing here is imported elsewhere than on Windows, but for the tests.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
from typing import Any

_KILL_ON_JOB_CLOSE = 0x2000
_EXTENDED_LIMIT_INFORMATION = 9


class _BasicLimits(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION."""

    _fields_ = [
        ("per_process_user_time", ctypes.c_int64),
        ("per_job_user_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("minimum_working_set", ctypes.c_size_t),
        ("maximum_working_set", ctypes.c_size_t),
        ("active_processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority_class", ctypes.c_uint32),
        ("scheduling_class", ctypes.c_uint32),
    ]


class Limits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION: the limits, IO_COUNTERS, and memory."""

    _fields_ = [
        ("basic", _BasicLimits),
        ("io", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    ]


class Job:
    """What holds one child and its descendants, and ends them."""

    def __init__(self) -> None:
        self._handle: int | None = None

    def take(self, process: subprocess.Popen[bytes]) -> None:
        handle = _create()
        process_handle: Any = process
        if handle and _kernel().AssignProcessToJobObject(
            ctypes.c_void_p(handle), ctypes.c_void_p(int(process_handle._handle))
        ):
            self._handle = handle
        elif handle:
            _kernel().CloseHandle(ctypes.c_void_p(handle))

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """There is no polite way that reaches a console process and its children."""
        if self._handle is not None:
            _kernel().TerminateJobObject(ctypes.c_void_p(self._handle), 1)
            _kernel().CloseHandle(ctypes.c_void_p(self._handle))
            self._handle = None
        elif process.poll() is None:
            with contextlib.suppress(OSError):
                subprocess.run(
                    ["taskkill", "/T", "/F", "/PID", str(process.pid)],
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    check=False,
                )  # fmt: skip
        with contextlib.suppress(OSError):
            process.kill()


def handed(job: int, channel: int) -> tuple[list[str], dict[str, Any], Job]:
    """Two descriptors as handles that a child inherits, they alone, and the options to start it with."""
    import msvcrt

    system: Any = msvcrt
    handles = [int(system.get_osfhandle(descriptor)) for descriptor in (job, channel)]
    for handle in handles:
        set_inheritable: Any = os.set_handle_inheritable  # type: ignore[attr-defined]
        set_inheritable(handle, True)
    startup: Any = subprocess.STARTUPINFO(lpAttributeList={"handle_list": handles})  # type: ignore[attr-defined]
    flags: int = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW  # type: ignore[attr-defined]
    options = {"startupinfo": startup, "creationflags": flags, "close_fds": True}
    return [str(handle) for handle in handles], options, Job()


def _create() -> int:
    kernel = _kernel()
    kernel.CreateJobObjectW.restype = ctypes.c_void_p
    handle = kernel.CreateJobObjectW(None, None)
    if not handle:
        return 0
    limits = Limits()
    limits.basic.flags = _KILL_ON_JOB_CLOSE
    if not kernel.SetInformationJobObject(
        ctypes.c_void_p(handle), _EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), ctypes.sizeof(limits)
    ):
        kernel.CloseHandle(ctypes.c_void_p(handle))
        return 0
    return int(handle)


def _kernel() -> Any:
    loader: Any = ctypes
    return loader.windll.kernel32
