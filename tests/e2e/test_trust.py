"""A folder that nobody has trusted: it is analysed, and nothing of it is executed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.e2e.tools import ROOT

NAME = "admm_denoiser.py"
BROKEN = (ROOT / "examples" / NAME).read_text()
EXECUTED = "executed.txt"
PROGRAM = f"#!/bin/sh\necho $0 >> $(dirname $0)/{EXECUTED}\n"
MODULE = f"import os\nopen(os.path.join(os.path.dirname(os.path.abspath(__file__)), {EXECUTED!r}), 'a').write(__name__)\n"


@pytest.fixture(scope="module")
def untrusted(open_window: Callable):
    files = {
        NAME: BROKEN,
        # What would be executed by a careless extension: programs that settings name, modules of the folder.
        ".vscode/settings.json": '{"loopgrad.interpreter": ["${workspaceFolder}/python"], "loopgrad.path": ["${workspaceFolder}/python"]}',
        "python": PROGRAM,
        ".venv/bin/python": PROGRAM,
        "queue.py": MODULE,
        "sitecustomize.py": MODULE,
        "loopgrad/__init__.py": MODULE,
    }
    return open_window("untrusted", files, NAME, trusted=False)


def test_analysis_and_fixes_work(untrusted):
    untrusted.wait_for_problem("LG101", "'benchmark' and 'multiplier'")
    untrusted.status_bar("Restricted Mode").wait_for()
    untrusted.go_to_text("benchmark = (")
    untrusted.code_actions()
    untrusted.take_first_action()
    untrusted.save()
    untrusted.wait_for_no_problem("LG101")
    untrusted.wait_for_text(NAME, lambda text: text.count(".detach()") == 4)


def test_confirm_is_refused(untrusted):
    untrusted.reset({NAME: BROKEN})
    untrusted.open(NAME)
    untrusted.wait_for_problem("LG101")
    offered = untrusted.commands("Loopgrad")
    assert "Loopgrad: Restart Server" in offered
    assert "Loopgrad: Confirm on Device" not in offered
    assert untrusted.lenses("Confirm on device").count() == 0
    untrusted.go_to_text("benchmark = (")
    titles = untrusted.code_actions()
    assert titles and not any("Confirm" in title for title in titles)
    untrusted.page.keyboard.press("Escape")


def test_nothing_is_executed_until_it_is_trusted(untrusted):
    def executed():
        return list(untrusted.folder.rglob(EXECUTED))

    untrusted.reset({NAME: BROKEN})
    untrusted.open(NAME)
    untrusted.command("Loopgrad: Restart Server")
    untrusted.wait_for_problem("LG101")
    assert executed() == []
    assert not (untrusted.server.folder / "home" / EXECUTED).exists()

    # That the traps work: as soon as the folder is trusted, the program that its settings name is started.
    untrusted.command("Workspaces: Manage Workspace Trust")
    untrusted.page.locator(".workspace-trust-editor .monaco-button", has_text="Trust").first.click()
    untrusted.until("the program of the settings is started", executed)
