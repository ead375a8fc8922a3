"""Fixtures: the VSIX as it is shipped, VS Code servers with it, windows in one browser. Failures leave a picture."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import tools as installed
from tests.e2e.tools import ROOT, Tools

_TOOLS = installed.find()
if isinstance(_TOOLS, Tools):
    from playwright.sync_api import Browser, sync_playwright

    from tests.e2e.code_server import CodeServer
    from tests.e2e.workbench import Workbench

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
]

#: Windows of this session, for the pictures of failures.
_open: dict[str, Any] = {}


@pytest.fixture(scope="session", autouse=True)
def tools() -> Tools:
    if isinstance(_TOOLS, str):
        if installed.required():
            pytest.fail(_TOOLS)
        pytest.skip(_TOOLS)
    return _TOOLS


@pytest.fixture(scope="session")
def vsix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packaged extension: LOOPGRAD_VSIX, or made now."""
    given = os.environ.get("LOOPGRAD_VSIX")
    if given:
        return Path(given).resolve()
    out = tmp_path_factory.mktemp("vsix")
    subprocess.run(
        ["node", str(ROOT / "tools" / "vsix" / "package.mjs"), "--out", str(out)], check=True, cwd=ROOT
    )
    (made,) = out.glob("*.vsix")
    return made


@pytest.fixture(scope="session")
def base() -> Iterator[Path]:
    """A folder with a short path: code-server's sockets lie in it."""
    folder = Path(tempfile.mkdtemp(prefix="loopgrad-e2e-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def browser(tools: Tools) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=tools.chromium, args=_FLAGS)
        yield browser
        browser.close()


class Windows:
    """Servers with a window each; they end together, and nothing of them may stay behind."""

    def __init__(self, tools: Tools, extensions: Path, base: Path, browser: Browser) -> None:
        self._tools = tools
        self._extensions = extensions
        self._base = base
        self._browser = browser
        self._servers: dict[str, CodeServer] = {}

    def open(self, name: str, files: dict[str, str], first: str, **options: Any) -> Workbench:
        """Starts a server on a folder with these files and loads a window with the first one."""
        folder = self._base / name / "project"
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
            if text.startswith("#!"):
                (folder / path).chmod(0o755)
        server = CodeServer(self._tools, self._base / name, self._extensions, **options)
        self._servers[name] = server
        server.start()
        page = self._browser.new_page(
            viewport={"width": 1400, "height": 900}, locale=options.get("locale", "en")
        )
        page.set_default_timeout(30_000)
        window = Workbench(page, server, folder)
        _open[name] = window
        window.load(first)
        return window

    def close(self) -> None:
        left = {}
        for name, server in self._servers.items():
            if name in _open:
                _open.pop(name).page.context.close()
            left.update(dict.fromkeys(server.stop(), name))
        assert not left, f"processes did not end: {left}"


@pytest.fixture(scope="session")
def extensions(tools: Tools, vsix: Path, base: Path) -> Path:
    """The folder with the installed extension."""
    folder = base / "extensions"
    CodeServer(tools, base / "installation", folder).install(vsix)
    return folder


@pytest.fixture(scope="session")
def session_windows(tools: Tools, extensions: Path, base: Path, browser: Browser) -> Iterator[Windows]:
    windows = Windows(tools, extensions, base, browser)
    yield windows
    windows.close()


@pytest.fixture(scope="module")
def open_window(
    tools: Tools, extensions: Path, base: Path, browser: Browser
) -> Iterator[Callable[..., Workbench]]:
    """Opens windows that last as long as the tests of a file: ``open_window(name, files, first, **server options)``."""
    windows = Windows(tools, extensions, base, browser)
    yield windows.open
    windows.close()


@pytest.fixture(scope="session")
def english_files() -> dict[str, str]:
    folders = (ROOT / "examples", Path(__file__).parent / "data")
    return {
        path.name: path.read_text()
        for folder in folders
        for path in sorted(folder.iterdir())
        if path.is_file()
    }


@pytest.fixture(scope="session")
def english_window(session_windows: Windows, english_files: dict[str, str]) -> Workbench:
    # The Python of the tests: it has torch, for what is confirmed.
    settings = {"loopgrad.interpreter": [sys.executable]}
    return session_windows.open("english", english_files, "admm_denoiser.py", settings=settings)


@pytest.fixture
def english(english_window: Workbench, english_files: dict[str, str]) -> Workbench:
    """The window that most tests share, with the examples and a notebook, and nothing open."""
    english_window.reset(english_files)
    return english_window


@pytest.fixture
def picture() -> Callable[..., None]:
    """Keeps a picture of a window for the documentation, if LOOPGRAD_SCREENSHOTS=1.

    With ``roomy`` the editors have the whole window.
    """

    def take(window: Workbench, name: str, *, roomy: bool = False) -> None:
        if os.environ.get("LOOPGRAD_SCREENSHOTS") != "1":
            return
        if roomy:
            window.command("View: Close Primary Side Bar")
            window.command("View: Hide Panel")
        window.page.mouse.move(700, 5)
        window.page.wait_for_timeout(1000)
        window.screenshot(ROOT / "docs" / "images" / f"{name}.png")
        if roomy:
            window.command("View: Show Explorer")

    return take


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    if report.failed and _open:
        kept = Path(tempfile.mkdtemp(prefix=f"loopgrad-e2e-{re.sub(r'[^a-z0-9]+', '-', item.name.lower())}-"))
        for name, window in _open.items():
            try:
                window.screenshot(kept / f"{name}.png")
            except Exception as error:  # the browser itself may be what failed
                (kept / f"{name}.txt").write_text(str(error))
            shutil.copy(window.server.log, kept / f"{name}.log")
            logs = window.server.folder / "data" / "logs"
            shutil.copytree(logs, kept / f"{name}-logs", ignore_dangling_symlinks=True)
        report.sections.append(("pictures and logs", str(kept)))
    return report
