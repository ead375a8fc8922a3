"""Every block of the pages, run under PyTorch, does what its options say."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.torch_runner.run_block import observe

from .parse import Block, pages

BLOCKS = [block for page in pages("en") for block in page.blocks]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_block_under_torch(block: Block) -> None:
    if reason := block.options.get("no-run"):
        pytest.skip(reason)
    source = block.code
    if block.is_notebook:
        assert observe(source).outcome == "clean", "from top to bottom the notebook is right"
        source = block.rerun_script()
    report = observe(source, steps=block.options.get("steps"))
    # What shows nothing shows it by its assertions, which have held if the script came to its end.
    expected = "clean" if block.outcome == "none" else block.outcome
    assert report.outcome == expected, report
    if report.line is not None:
        text = source.splitlines()[report.line - 1]
        if report.outcome == "leaf-inplace":
            assert "LG303" in text
        else:
            assert "backward()" in text or "backward(retain_graph=True)" in text
