"""A person at a VS Code window: opens files, types, reads the Problems panel, picks fixes.

Every step waits for what it should bring, and is done again where the window swallowed it: keys that come while a
list is being filled or a view takes the focus are lost.
"""

from __future__ import annotations

import json
import re
import time
import urllib.parse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import FrameLocator, Locator, Page
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.e2e.code_server import CodeServer

T = TypeVar("T")

#: Seconds that a step may take on a slow machine. Nothing is measured by them.
PATIENCE = 60.0


def line_of(text: str, part: str) -> int:
    """The line (from 1) of a text that has a part in it."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


class Workbench:
    def __init__(self, page: Page, server: CodeServer, folder: Path) -> None:
        self.page = page
        self.server = server
        self.folder = folder

    # The window

    def load(self, name: str) -> None:
        """Loads the window with a folder and a file in it."""
        host = f"127.0.0.1:{self.server.port}"
        payload = json.dumps([["openFile", f"vscode-remote://{host}{self.folder}/{name}"]])
        query = urllib.parse.urlencode({"folder": self.folder, "payload": payload})
        self.page.goto(f"http://{host}/?{query}")
        self._tab(name).wait_for(timeout=120_000)

    def command(self, title: str) -> None:
        """Runs a command of the palette by its title (``Loopgrad: Restart Server``)."""
        self._pick("F1", title, f">{title}")

    def open(self, name: str) -> None:
        self._pick("Control+p", name, name)
        self._tab(name).wait_for(timeout=PATIENCE * 1000)

    def reset(self, files: Mapping[str, str]) -> None:
        """Closes all editors, drops what is not saved, clears the toasts, and puts the files back as they were."""
        dropped = self.page.locator(".monaco-dialog-box .monaco-button", has_text="Don't Save")

        def closed() -> bool:
            if dropped.count() > 0:
                dropped.first.click()
            elif self.page.locator(".tab").count() > 0:
                self.command("View: Close All Editors")
            return self.page.locator(".tab").count() == 0

        self.until("no editor is open", closed)
        self.command("Notifications: Clear All Notifications")
        for name, text in files.items():
            if self.text(name) != text:
                (self.folder / name).write_text(text)

    def notification(self, text: str) -> Locator:
        """The toast that says something."""
        return self.page.locator(".notifications-toasts .notification-list-item", has_text=text).first

    def press_button(self, notification: Locator, title: str) -> None:
        notification.hover()
        notification.locator("a.monaco-button, a.action-label", has_text=title).first.click()

    def status_bar(self, text: str) -> Locator:
        return self.page.locator(".statusbar-item", has_text=text)

    def commands(self, category: str) -> list[str]:
        """The titles of a category that the palette offers."""
        rows = self.page.locator(
            ".quick-input-widget .monaco-list-row .quick-input-list-label-meta, .quick-input-widget .label-name"
        )

        def found() -> list[str]:
            self.page.keyboard.press("F1")
            self.page.locator(".quick-input-widget input.input").fill(f">{category}: ")
            rows.first.wait_for(timeout=5000)
            self.page.wait_for_timeout(500)
            titles = [" ".join(title.split()) for title in rows.all_inner_texts()]
            self.page.keyboard.press("Escape")
            return [title for title in titles if title.startswith(f"{category}: ")]

        return self.until(f"there are commands of {category}", found)

    # The editor

    def go_to(self, line: int, column: int = 1) -> None:
        """Puts the cursor there (both from 1) and the focus into the editor."""
        self._pick("Control+g", f"{line}", f":{line}:{column}", choose=False)
        self.until_cursor(line)

    def until_cursor(self, line: int) -> None:
        """Waits until the cursor of the active editor is in a line."""
        self.until(
            f"the cursor is in line {line}",
            lambda: re.search(rf"\b{line}\b.*\d", self._status("status.editor.selection")) is not None,
        )

    def go_to_text(self, part: str) -> None:
        """Puts the cursor on the first occurrence, in the active file, of a text within a line."""
        name = self.page.locator(".tab.active").first.get_attribute("data-resource-name") or ""
        text = self.text(name)
        line = line_of(text, part)
        self.go_to(line, text.splitlines()[line - 1].index(part) + 1)

    def save(self) -> None:
        def saved() -> bool:
            self.page.keyboard.press("Control+s")
            return self.page.locator(".tab.active.dirty").count() == 0

        self.until("the file is saved", saved)

    def undo(self) -> None:
        """Takes back the last change of the active file's editor, and saves."""
        self.page.locator(".editor-group-container.active .monaco-editor .view-lines").first.click()
        self.page.keyboard.press("Control+z")
        self.page.locator(".tab.active.dirty").wait_for()
        self.save()

    def text(self, name: str) -> str:
        """What is on the disk."""
        return (self.folder / name).read_text()

    def wait_for_text(self, name: str, condition: Callable[[str], bool]) -> str:
        """Waits until what is on the disk is as it should be: an editor looks saved before all is written."""
        self.until(f"{name} is as expected", lambda: condition(self.text(name)))
        return self.text(name)

    def squiggles(self, severity: str) -> Locator:
        """What is underlined in the visible part; ``severity`` is error, warning or info."""
        return self.page.locator(f".squiggly-{severity}")

    def lenses(self, text: str) -> Locator:
        return self.page.locator(".codelens-decoration a", has_text=text)

    def code_actions(self) -> list[str]:
        """Opens the lightbulb's list at the cursor and gives its titles."""
        rows = self.page.locator(".action-widget .monaco-list-row.action")

        def shown() -> bool:
            self.page.keyboard.press("Control+.")
            try:
                rows.first.wait_for(timeout=5000)
            except PlaywrightTimeout:
                return False
            return rows.first.inner_text().strip() != ""

        self.until("there are code actions", shown)
        return [row.inner_text().strip() for row in rows.all()]

    def take_first_action(self) -> None:
        """Takes the first code action of the open list, the preferred fix, and waits for its edit."""
        self.page.keyboard.press("Enter")
        widget = self.page.locator(".action-widget:visible")
        self.until("the list is closed", lambda: widget.count() == 0)
        self.page.locator(".tab.active.dirty").wait_for()

    # The Problems panel

    def problems(self) -> list[str]:
        """The rows of the Problems panel, related lines too; a row is one line of text."""
        panel = self.page.locator(".markers-panel")

        def shown() -> bool:
            if panel.count() == 0 or not panel.is_visible():
                self.page.keyboard.press("Control+Shift+m")
                panel.wait_for(timeout=5000)
            return True

        self.until("the Problems panel is open", shown)
        return [" ".join(row.inner_text().split()) for row in panel.locator(".monaco-list-row").all()]

    def wait_for_problem(self, *texts: str) -> list[str]:
        """Waits until one row has all of these texts in it. Gives all rows."""

        def found() -> list[str]:
            rows = self.problems()
            return rows if any(all(text in row for text in texts) for row in rows) else []

        return self.until(f"a problem with {texts}", found)

    def wait_for_no_problem(self, text: str) -> None:
        def gone() -> bool:
            return not any(text in row for row in self.problems())

        self.until(f"no problem with {text}", gone)

    def go_to_problem(self, text: str) -> None:
        """Goes to a problem's place in its editor by its row in the panel."""
        self.page.locator(".markers-panel .monaco-list-row", has_text=text).first.dblclick()

    # Loopgrad's panel

    def panel(self) -> FrameLocator:
        """What the panel shows: a page inside two frames."""
        return self.page.frame_locator("iframe.webview").frame_locator("iframe#active-frame")

    def show(self, element: Locator) -> None:
        """Scrolls to an element; the panel may be drawn anew meanwhile."""

        def scrolled() -> bool:
            element.scroll_into_view_if_needed(timeout=5000)
            return True

        self.until("the element is in view", scrolled)

    # The rest

    def until(self, what: str, condition: Callable[[], T], patience: float = PATIENCE) -> T:
        """Waits until a condition holds; an element that vanished or did not come meanwhile is no failure."""
        deadline = time.monotonic() + patience
        while True:
            try:
                result = condition()
            except PlaywrightError:
                result = None
            if result:
                return result
            if time.monotonic() > deadline:
                raise AssertionError(f"never: {what}")
            self.page.wait_for_timeout(200)

    def screenshot(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=path)

    def _tab(self, name: str) -> Locator:
        return self.page.locator(f'.tab.active[data-resource-name="{Path(name).name}"]')

    def _status(self, identifier: str) -> str:
        return self.page.locator(f'[id="{identifier}"]').inner_text(timeout=1000)

    def _pick(self, key: str, expected: str, text: str, choose: bool = True) -> None:
        """Opens a quick input, types a text, and takes the entry that it finds."""
        box = self.page.locator(".quick-input-widget")
        field = box.locator("input.input")

        def picked() -> bool:
            self.page.keyboard.press("Escape")
            self.page.keyboard.press(key)
            field.wait_for(timeout=5000)
            field.fill(text)
            if choose:
                row = box.locator(".monaco-list-row.focused", has_text=expected)
                row.wait_for(timeout=10_000)
            self.page.keyboard.press("Enter")
            box.wait_for(state="hidden", timeout=5000)
            return True

        self.until(f"{expected!r} is found", picked)
