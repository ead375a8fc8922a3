"""The names in ``torch_names.json`` are those of the torch that is installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from loopgrad.analysis.knowledge import torch_names  # noqa: E402


def test_the_file_is_what_torch_says() -> None:
    if not torch.__version__.startswith("2.13."):
        pytest.skip("the file is of torch 2.13")
    import generate_torch_names

    missing = [
        (kind, name)
        for kind, names in generate_torch_names.names().items()
        for name in names
        if not torch_names.has(kind, name)
    ]
    assert missing == []


def test_what_torch_has_not_is_an_error() -> None:
    assert torch_names.has("tensor", "is_nested") and not torch_names.has("tensor", "is_nestled")
    assert torch_names.has("layer", "in_features") and not torch_names.has("module", "in_features")
