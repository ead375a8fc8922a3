"""The server's life: it comes back after a crash, gives up where that is no use, and says what it lacks."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable

import pytest

from tests.e2e.tools import ROOT

NAME = "admm_denoiser.py"
LOG = "traceback.log"
SERVER = "launcher.py server"


@pytest.fixture(scope="module")
def window(open_window: Callable):
    script = (ROOT / "examples" / NAME).read_text()
    traceback = (
        "Traceback (most recent call last):\n"
        f'  File "{NAME}", line 70, in main\n'
        "    loss.backward()\n"
        "RuntimeError: Trying to backward through the graph a second time\n"
    )
    return open_window("life", {NAME: script, LOG: traceback}, NAME)


def servers(window) -> list[int]:
    """The processes of the language server itself, without its workers."""
    return list(window.server.processes(SERVER))


def kill(window) -> None:
    before = servers(window)
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    window.until("it has gone", lambda: not set(servers(window)) & set(before))


def set_interpreter(window, command: list[str] | None) -> None:
    path = window.folder / ".vscode" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({} if command is None else {"loopgrad.interpreter": command}))


def test_a_traceback_leads_to_its_finding(window):
    window.wait_for_problem("LG101")
    window.open(LOG)
    window.command("Loopgrad: Explain Traceback")
    told = window.notification("LG101")
    told.wait_for()
    window.until_cursor(76)
    window.press_button(told, "Explain")
    window.panel().locator("h1", has_text="LG101").wait_for()


def test_debug_information(window):
    window.command("Loopgrad: Print Debug Information")
    window.page.locator(".view-line", has_text='"kind": "bundled"').first.wait_for()


def test_a_missing_interpreter_is_told(window):
    set_interpreter(window, ["/nowhere/python"])
    told = window.notification("Loopgrad cannot run /nowhere/python: there is no such program.")
    told.wait_for()
    window.until("no server runs", lambda: not servers(window))
    window.press_button(told, "Show Logs")
    window.page.locator(".part.panel .pane-header, .part.panel .title", has_text="Output").first.wait_for()
    set_interpreter(window, None)
    window.until("a server runs", lambda: len(servers(window)) == 1)
    window.open(NAME)
    window.wait_for_problem("LG101")


def test_the_same_server_stays(window):
    before = servers(window)
    assert len(before) == 1
    (command,) = window.server.processes(SERVER).values()
    set_interpreter(window, [command.split()[0]])
    window.page.wait_for_timeout(3000)
    assert servers(window) == before


def test_it_comes_back_and_then_gives_up(window):
    kill(window)
    window.until("another one runs", lambda: len(servers(window)) == 1)
    window.open(NAME)
    window.wait_for_problem("LG101")
    for _ in range(3):
        window.until("it runs", lambda: len(servers(window)) == 1)
        window.page.wait_for_timeout(2000)  # a crash before it answers is a failed start, and told as such
        kill(window)
    window.until("it runs", lambda: len(servers(window)) == 1)
    window.page.wait_for_timeout(2000)
    kill(window)
    told = window.notification("The Loopgrad server has crashed several times")
    told.wait_for()
    assert servers(window) == []
    window.press_button(told, "Restart")
    window.until("it runs again", lambda: len(servers(window)) == 1)
    window.open(NAME)
    window.wait_for_problem("LG101")
