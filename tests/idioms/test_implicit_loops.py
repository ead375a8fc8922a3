"""A step without a loop around its backward: something elsewhere calls it again and again.

PyTorch judges the step with a caller below it; the analysis has to say the same of the file with the caller in it,
with the caller in another file, and of the step alone, where nothing that calls it is in sight.
"""

from __future__ import annotations

import pytest

from .judge import analysed, judge, marks, written

#: The file with the step, and the caller.
STEPS = {
    "a method that keeps its state": (
        """
        import torch

        class Trainer:
            def __init__(self, lr: float = 0.1):
                self.model = torch.nn.GRUCell(3, 3)
                self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr)
                self.hidden = torch.zeros(2, 3)

            def step(self, batch):
                self.hidden = self.model(batch, self.hidden)  # LG101
                loss = self.hidden.square().mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                return loss.item()
        """,
        """
        trainer = Trainer()
        for i in range(N):
            trainer.step(torch.randn(2, 3))
        """,
    ),
    "a method that cuts its state": (
        """
        import torch

        class Trainer:
            def __init__(self, lr: float = 0.1):
                self.model = torch.nn.GRUCell(3, 3)
                self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr)
                self.hidden = torch.zeros(2, 3)

            def step(self, batch):
                self.hidden = self.model(batch, self.hidden.detach())
                loss = self.hidden.square().mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                return loss.item()
        """,
        """
        trainer = Trainer()
        for i in range(N):
            trainer.step(torch.randn(2, 3))
        """,
    ),
    "a method that records its losses": (
        """
        import torch

        class Agent:
            def __init__(self):
                self.model = torch.nn.Linear(3, 1)
                self.losses = []

            def learn(self, batch):
                loss = self.model(batch).square().mean()
                loss.backward()
                self.losses.append(loss)  # LG201
        """,
        """
        agent = Agent()
        for i in range(N):
            agent.learn(torch.randn(2, 3))
        """,
    ),
    "a method that records numbers": (
        """
        import torch

        class Agent:
            def __init__(self):
                self.model = torch.nn.Linear(3, 1)
                self.losses = []

            def learn(self, batch):
                loss = self.model(batch).square().mean()
                loss.backward()
                self.losses.append(loss.item())
        """,
        """
        agent = Agent()
        for i in range(N):
            agent.learn(torch.randn(2, 3))
        """,
    ),
    "a training step that takes its state and gives it back": (
        """
        import torch

        model = torch.nn.GRUCell(3, 3)

        def train_step(batch, hidden):
            hidden = model(batch, hidden.detach())
            hidden.square().mean().backward()
            return hidden
        """,
        """
        hidden = torch.zeros(2, 3)
        for i in range(N):
            hidden = train_step(torch.randn(2, 3), hidden)
        """,
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_the_caller_in_the_file(name: str) -> None:
    step, caller = STEPS[name]
    judge(f"{marked(step)}\nN = 6\n{written(caller)}")


@pytest.mark.parametrize("name", STEPS)
def test_the_caller_elsewhere(name: str) -> None:
    """The finding is in the file of the step, and is found from the file of the loop as well."""
    step, caller = STEPS[name]
    driver = f"import torch\nfrom steps import *\nN = 6\n{written(caller)}"
    result = analysed(driver, {"steps.py": written(step)})
    expected = {(line, code) for line, _, code in marks(marked(step))}
    assert {(f.range.line, f.code) for f in result.findings if f.path == "steps.py"} == expected
    assert [f for f in result.findings if f.path != "steps.py"] == []


@pytest.mark.parametrize("name", STEPS)
def test_the_step_alone(name: str) -> None:
    """Nothing in sight calls it: it is taken to be called again and again."""
    step, _ = STEPS[name]
    result = analysed(written(step))
    assert {(f.range.line, f.code) for f in result.findings} == {
        (line, code) for line, _, code in marks(marked(step))
    }


def marked(step: str) -> str:
    return written(step).replace("# LG101", "# error: LG101").replace("# LG201", "# warning: LG201")
