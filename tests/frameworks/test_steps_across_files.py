"""A step in one file, the loop that calls it in another: what is said where both are checked, and of each alone."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from loopgrad import rules
from loopgrad.source import FileProvider, SourceFile

AGENT = """
    import torch
    from torch import nn

    class Agent:
        def __init__(self):
            self.net = nn.Linear(3, 3)
            self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
            self.state = torch.zeros(3)

        def learn(self, x):
            self.state = self.net(x + self.state{cut}).tanh()
            self.optimizer.zero_grad()
            self.state.sum().backward()
            self.optimizer.step()
    """
TRAIN = """
    import torch
    from agent import Agent

    agent = Agent()
    for _ in range(6):
        agent.learn(torch.randn(3))
    """
READER = """
    import torch
    from torch import nn

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(3, 3)
            self.state = torch.zeros(3)

        def training_step(self, x):
            self.state = self.net(x + self.state{cut}).tanh()
            return self.state.sum()
    """
TRAINER = """
    import torch

    class Trainer:
        def __init__(self, model):
            self.model = model
            self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def fit(self, data):
            for x in data:
                self.step(x)

        def step(self, x):
            loss = self.model.training_step(x)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
    """
MAIN = """
    import torch
    from reader import Reader
    from trainer import Trainer

    Trainer(Reader()).fit(torch.randn(6, 3))
    """
CUTS = pytest.mark.parametrize("cut", ["", ".detach()"])


def check(folder: Path, files: dict[str, str], checked: str) -> set[tuple[str, int, str, str]]:
    for name, text in files.items():
        (folder / name).write_text(textwrap.dedent(text).lstrip(), encoding="utf-8")
    provider = FileProvider(str(folder / name) for name in files)
    source = SourceFile.load(str(folder / checked))
    found = rules.check(source, provider).findings
    return {(Path(f.path).name, f.range.line, f.code, f.certainty) for f in found}


@CUTS
def test_a_step_called_from_a_loop_in_another_file(tmp_path: Path, cut: str) -> None:
    files = {"agent.py": AGENT.format(cut=cut), "train.py": TRAIN}
    at = ("agent.py", 11, "LG101")
    assert check(tmp_path, files, "train.py") == ({(*at, "certain")} if not cut else set())
    assert check(tmp_path, files, "agent.py") == ({(*at, "possible")} if not cut else set())


@CUTS
def test_a_trainer_class_of_the_users_own_in_a_file_of_its_own(tmp_path: Path, cut: str) -> None:
    """Of the step alone nothing is said: whose loop it is, and what that does besides, is not known."""
    files = {"reader.py": READER.format(cut=cut), "trainer.py": TRAINER, "main.py": MAIN}
    expected = {("reader.py", 11, "LG101", "certain")} if not cut else set()
    assert check(tmp_path, files, "main.py") == expected
    assert check(tmp_path, files, "reader.py") == check(tmp_path, files, "trainer.py") == set()
