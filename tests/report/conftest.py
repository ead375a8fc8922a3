"""A finding with a story, as the engine would make it, on a small file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from loopgrad import messages
from loopgrad.checker import Outcome
from loopgrad.model import Edit, Finding, Fix, Message, Range, TraceStep
from loopgrad.report import Report
from loopgrad.source import SourceError, SourceFile

TRAIN = """\
import torch
w = torch.ones(1, requires_grad=True)
hidden = torch.zeros(1)
for step in range(3):
    hidden = torch.tanh(w * hidden)
    loss = hidden.sum()
    loss.backward()
"""


@pytest.fixture(autouse=True)
def words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message ``say`` whose whole text is its argument, so that tests read what they print."""
    real = messages.catalogue

    def with_say(language: str) -> dict[str, str]:
        return {**real(language), "say": "{text}"}

    monkeypatch.setattr(messages, "catalogue", with_say)


def say(text: str) -> Message:
    return Message.of("say", text=text)


def finding(path: str = "train.py") -> Finding:
    store = Range(5, 5, 5, 36)
    backward = Range(7, 5, 7, 20)
    return Finding(
        code="LG101",
        name="loop-carried-graph",
        severity="error",
        certainty="certain",
        outcome="second-backward",
        message=say("`hidden` carries the graph of iteration 1 into iteration 2"),
        path=path,
        range=store,
        iteration=2,
        loop_line=4,
        carriers=("hidden",),
        trace=(
            TraceStep("built", path, Range(5, 14, 5, 36), 1, say("`torch.tanh` builds the graph")),
            TraceStep("freed", path, backward, 1, say("this backward frees it")),
            TraceStep("carried", path, store, 1, say("`hidden` keeps it")),
            TraceStep("reached", path, backward, 2, say("this backward reaches it again")),
        ),
        fixes=(
            Fix(
                say("detach `hidden` where it is stored"),
                "detach",
                True,
                (),
                (Edit(path, Range(6, 5, 6, 5), "hidden = hidden.detach()\n    "),),
            ),
            Fix(say("compute under no_grad"), "no_grad", False, ("w",), ()),
            Fix(say("silence this line"), "suppress", False, (), ()),
        ),
    )


@dataclass
class Workbench:
    """Makes reports over files that are in memory alone."""

    files: dict[str, SourceFile] = field(default_factory=lambda: {"train.py": SourceFile("train.py", TRAIN)})

    def load(self, path: str) -> SourceFile:
        if path not in self.files:
            raise SourceError(path, 1, Message.of("source.missing"))
        return self.files[path]

    def add(self, path: str, content: str | bytes) -> SourceFile:
        data = content.encode() if isinstance(content, str) else content
        self.files[path] = SourceFile.from_bytes(path, data)
        return self.files[path]

    def report(self, *findings: Finding, **options: object) -> Report:
        outcome = Outcome(list(findings), files=len(self.files))
        return Report(outcome, self.load, **options)  # type: ignore[arg-type]


@pytest.fixture
def bench() -> Workbench:
    return Workbench()


@pytest.fixture
def make_finding() -> Callable[..., Finding]:
    return finding


@pytest.fixture
def make_message() -> Callable[[str], Message]:
    return say
