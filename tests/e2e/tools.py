"""The programs that the tests in a real VS Code need, where ``tests/e2e/setup`` has installed them."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Tools:
    node: str
    code_server: str
    chromium: str


def cache() -> Path:
    return Path(os.environ.get("LOOPGRAD_E2E_CACHE") or Path.home() / ".cache" / "loopgrad-e2e")


def required() -> bool:
    """Whether missing tools are a failure rather than a reason to skip."""
    return os.environ.get("LOOPGRAD_E2E") == "1" or bool(os.environ.get("CI"))


def find() -> Tools | str:
    """The tools, or what is missing."""
    hint = "run tests/e2e/setup and pip install '.[e2e]'"
    if importlib.util.find_spec("playwright") is None:
        return f"Playwright is not installed: {hint}"
    listed = cache() / "tools.json"
    if not listed.is_file():
        return f"no real VS Code to test in: {hint}"
    paths = json.loads(listed.read_text())
    tools = Tools(paths["node"], paths["codeServer"], paths["chromium"])
    for path in (tools.node, tools.code_server, tools.chromium):
        if not path or not Path(path).exists():
            return f"{path or 'chromium'} is not there: {hint}"
    if "LOOPGRAD_VSIX" not in os.environ and not (ROOT / "node_modules").is_dir():
        return "the extension cannot be built: run npm ci"
    if shutil.which("node") is None:
        return "no node to build the extension with"
    return tools
