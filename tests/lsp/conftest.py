"""Fixtures of the server's tests: editors that are stopped, whatever a test does."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

#: What these tests need; without it they are not collected.
_NEEDED = ("pygls", "pytest_lsp", "pytest_asyncio")
_MISSING = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
collect_ignore_glob = ["test_*.py"] if _MISSING else []

if not _MISSING:
    import pytest_asyncio

    fixture = pytest_asyncio.fixture
    # By a name of its own: test folders here are no packages.
    _NAME = "loopgrad_tests_lsp_editor"
    if _NAME not in sys.modules:
        _spec = importlib.util.spec_from_file_location(_NAME, Path(__file__).parent / "editor.py")
        assert _spec is not None and _spec.loader is not None
        _module = importlib.util.module_from_spec(_spec)
        sys.modules[_NAME] = _module
        _spec.loader.exec_module(_module)
    Editor = sys.modules[_NAME].Editor
else:
    fixture = pytest.fixture

#: One finding whose story has four lines: built in 2, carried in 4, raises in 6, in the loop of line 3.
STORY = """\
import torch
hidden = torch.zeros(3)
for batch in range(4):
    hidden = model(batch, hidden)  # finds LG101 built=2 loop=3 raises=6
    loss = hidden.sum()
    loss.backward()
print("done")
"""


@pytest.fixture(autouse=True)
def results_of_this_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What servers keep goes with the test, and not into the user's folder for caches."""
    monkeypatch.setenv("LOOPGRAD_CACHE_DIR", str(tmp_path.with_name(tmp_path.name + "-cache")))


@fixture
async def start(tmp_path: Path) -> AsyncIterator[Callable[..., Awaitable[Any]]]:
    """Starts an editor on a folder; ``start()`` takes what ``Editor.start`` does."""
    editors: list[Any] = []

    async def begin(*roots: Path, **options: Any) -> Any:
        editor = Editor()
        editors.append(editor)
        return await editor.start(*(roots or (tmp_path,)), **options)

    yield begin
    for editor in editors:
        await editor.stop()


@pytest.fixture
def story(tmp_path: Path) -> Path:
    file = tmp_path / "train.py"
    file.write_text(STORY, encoding="utf-8")
    return file
