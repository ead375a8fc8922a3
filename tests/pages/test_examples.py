"""The examples do under PyTorch what they are there to show."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.torch_runner.run_block import Report, observe

from .parse import ROOT

EXAMPLES = ROOT / "examples"


def text_of(name: str) -> str:
    return (EXAMPLES / name).read_text(encoding="utf-8")


def line_of(source: str, part: str) -> int:
    (line,) = [number for number, text in enumerate(source.splitlines(), 1) if part in text]
    return line


def check_raises(source: str, report: Report, built: str) -> None:
    backward = line_of(source, "loss.backward()")
    assert report.outcome == "second-backward", report
    assert report.line == backward
    assert report.iteration == 2
    assert report.freed_lines == [backward]
    assert line_of(source, built) in report.built_lines


def test_encoded_features_raise_in_the_second_batch() -> None:
    source = text_of("encoded_features.py")
    check_raises(source, observe(source, origins=True), "train_codes = autoencoder.encode(x_train)")


def test_admm_raises_in_the_second_iteration() -> None:
    source = text_of("admm_denoiser.py")
    check_raises(source, observe(source, origins=True), "out = net(net_input)")


def test_admm_both_variables_carry() -> None:
    """Cutting one of the two is not enough."""
    source = text_of("admm_denoiser.py")
    for name in ("benchmark", "multiplier"):
        after = "        if i % 10 == 0:"
        half = source.replace(after, f"        {name} = {name}.detach()\n{after}")
        assert half != source
        assert observe(half).outcome == "second-backward", name


@pytest.mark.parametrize(
    ("name", "steps", "counts"),
    [("encoded_features_fixed.py", "EPOCHS", (2, 12)), ("admm_denoiser_fixed.py", "ITERATIONS", (33, 93))],
)
def test_fixed_forms_are_clean(name: str, steps: str, counts: tuple[int, int]) -> None:
    report = observe(text_of(name), steps=steps, counts=counts)
    assert report.outcome == "clean", report
    assert len(report.nodes) == 2 and report.nodes[0] == report.nodes[1]
    assert all(without == 0 for without, _ in report.untrained)
