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


@pytest.fixture(scope="session")
def open_window(tools: Tools, vsix: Path, base: Path, browser: Browser) -> Iterator[Callable[..., Workbench]]:
    """Starts a server with the extension and loads a window: ``open_window(name, files, first, **server options)``."""
    servers: dict[str, CodeServer] = {}

    def opened(name: str, files: dict[str, str], first: str, **options: Any) -> Workbench:
        folder = base / name / "project"
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
            if text.startswith("#!"):
                (folder / path).chmod(0o755)
        server = CodeServer(tools, base / name, base / "extensions", **options)
        if not servers:
            server.install(vsix)
        servers[name] = server
        server.start()
        language = options.get("locale", "en")
        page = browser.new_page(viewport={"width": 1400, "height": 900}, locale=language)
        page.set_default_timeout(30_000)
        window = Workbench(page, server, folder)
        _open[name] = window
        window.load(first)
        return window

    yield opened
    left = {}
    for name, server in servers.items():
        if name in _open:
            _open.pop(name).page.context.close()
        left[name] = server.stop()
    assert not any(left.values()), f"processes did not end: {left}"


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
def english_window(open_window: Callable[..., Workbench], english_files: dict[str, str]) -> Workbench:
    # The Python of the tests: it has torch, for what is confirmed.
    settings = {"loopgrad.interpreter": [sys.executable]}
    return open_window("english", english_files, "admm_denoiser.py", settings=settings)


@pytest.fixture
def english(english_window: Workbench, english_files: dict[str, str]) -> Workbench:
    """The window that most tests share, with the examples and a notebook, and nothing open."""
    english_window.reset(english_files)
    return english_window


@pytest.fixture
def picture() -> Callable[[Workbench, str], None]:
    """Keeps a picture of a window for the documentation, if LOOPGRAD_SCREENSHOTS=1."""

    def take(window: Workbench, name: str) -> None:
        if os.environ.get("LOOPGRAD_SCREENSHOTS") == "1":
            window.page.mouse.move(0, 0)
            window.page.wait_for_timeout(500)
            window.screenshot(ROOT / "docs" / "images" / f"{name}.png")

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
