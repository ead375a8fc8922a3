"""Ways in from outside of a Python file: a rule's link in the Problems panel, a traceback in the terminal."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.e2e.tools import ROOT

NAME = "admm_denoiser.py"


@pytest.fixture(scope="module")
def window(open_window: Callable):
    traceback = (
        f'  File "{NAME}", line 70, in main\n    loss.backward()\n'
        "RuntimeError: Trying to backward through the graph a second time\n"
    )
    files = {NAME: (ROOT / "examples" / NAME).read_text(), "traceback": traceback}
    return open_window("entries", files, NAME)


def test_the_code_is_a_link_to_its_page(window):
    window.wait_for_problem("LG101")
    window.page.locator(".markers-panel a", has_text="LG101").first.click(modifiers=["ControlOrMeta"])
    allowed = window.page.locator(".monaco-dialog-box .monaco-button", has_text="Open").first

    def shown() -> bool:
        if allowed.is_visible():
            allowed.click()
        return window.page.locator(".tab.active", has_text="LG101").count() > 0

    window.until("the rule's page is open", shown)


def test_a_traceback_in_the_terminal(window):
    window.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    window.command("Terminal: Create New Terminal")
    screen = window.page.locator(".terminal-wrapper.active .xterm")
    screen.wait_for()
    screen.click()
    window.page.keyboard.type("clear; cat traceback\n")
    window.page.wait_for_timeout(3000)  # the terminal is a canvas: nothing says when it has printed
    window.command("Terminal: Select All")
    screen.click(button="right", position={"x": 120, "y": 40})
    entry = window.page.locator(".monaco-menu .action-item", has_text="Explain Selected Traceback")
    entry.hover()
    window.page.keyboard.press("Enter")
    entry.wait_for(state="hidden")
    window.notification("LG101").wait_for()
    window.until_cursor(76)
