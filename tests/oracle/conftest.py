"""The oracle is a package of its own name; its tests need the project's root on the path."""

import importlib
import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = str(Path(__file__).resolve().parents[2])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)


@pytest.fixture(scope="session", autouse=True)
def _loaded() -> None:
    """The first optimizer imports torch._dynamo, which must not count against a program's time."""
    if importlib.util.find_spec("torch") is not None:
        importlib.import_module("torch._dynamo")
