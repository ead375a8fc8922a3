"""Training loops inside libraries: Lightning, accelerate, ignite. Skipped where they are not installed.

``LOOPGRAD_FRAMEWORKS`` may name an interpreter that has them and torch; else the one of the tests is asked.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from .conftest import Confirm

Write = Callable[..., Path]

PYTHON = os.environ.get("LOOPGRAD_FRAMEWORKS", sys.executable)

#: The fault, and the cut that mends it.
FAULTS = pytest.mark.parametrize("cut, outcome", [("", "second-backward"), (".detach()", None)])


@cache
def has(module: str) -> bool:
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return subprocess.run([PYTHON, "-c", code], check=False).returncode == 0


def needs(module: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not has(module), reason=f"{module} is not installed")


@needs("lightning")
@FAULTS
def test_lightning(confirm: Confirm, write: Write, cut: str, outcome: str | None) -> None:
    script = write(f"""
        import lightning, torch
        from torch.utils.data import DataLoader

        class Model(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.net = torch.nn.Linear(3, 3)
                self.memory = torch.zeros(2, 3)

            def training_step(self, batch, index):
                self.memory = self.net(batch + self.memory{cut}).tanh()
                return self.memory.sum()

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.1)

        trainer = lightning.Trainer(
            max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False
        )
        trainer.fit(Model(), DataLoader(torch.randn(40, 3), batch_size=2))
        """)
    document = confirm(script, "--python", PYTHON)
    assert document["outcome"] == outcome, document["reason"]
    if outcome is None:
        assert document["verdict"] == "clean" and document["steps"] >= 8
    else:
        assert document["iteration"] == 2
        assert any("memory" in carrier["name"] for carrier in document["carriers"])


@needs("accelerate")
@FAULTS
def test_accelerate(confirm: Confirm, write: Write, cut: str, outcome: str | None) -> None:
    script = write(f"""
        import torch
        from accelerate import Accelerator
        from torch.utils.data import DataLoader

        accelerator = Accelerator(cpu=True)
        net = torch.nn.Linear(3, 3)
        net, optimizer, loader = accelerator.prepare(
            net, torch.optim.SGD(net.parameters(), lr=0.1), DataLoader(torch.randn(60, 3), batch_size=2)
        )
        h = torch.zeros(2, 3)
        for x in loader:
            h = net(x + h{cut}).tanh()
            optimizer.zero_grad()
            accelerator.backward(h.sum())
            optimizer.step()
        """)
    document = confirm(script, "--python", PYTHON)
    assert document["outcome"] == outcome, document["reason"]
    assert document["verdict"] == ("clean" if outcome is None else "confirmed")
    if outcome is not None:
        assert document["iteration"] == 2 and document["carriers"][0]["name"] == "h"


@needs("ignite")
@FAULTS
def test_ignite(confirm: Confirm, write: Write, cut: str, outcome: str | None) -> None:
    script = write(f"""
        import torch
        from ignite.engine import Engine, Events

        net = torch.nn.Linear(3, 3)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

        def process(engine, x):
            previous = getattr(engine.state, "hidden", None)
            previous = torch.zeros(2, 3) if previous is None else previous
            engine.state.hidden = net(x + previous{cut}).tanh()
            optimizer.zero_grad()
            loss = engine.state.hidden.sum()
            loss.backward()
            optimizer.step()
            return loss.item()

        trainer = Engine(process)
        seen = []
        trainer.add_event_handler(Events.ITERATION_COMPLETED, lambda engine: seen.append(engine.state.output))
        trainer.run([torch.randn(2, 3) for _ in range(30)], max_epochs=2)
        """)
    document = confirm(script, "--python", PYTHON)
    assert document["outcome"] == outcome, document["reason"]
    assert document["verdict"] == ("clean" if outcome is None else "confirmed")
    if outcome is not None:
        assert document["iteration"] == 2
        assert any("hidden" in carrier["name"] for carrier in document["carriers"])
