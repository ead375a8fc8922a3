"""What a check gives beside its findings: files, order, selection, partial results, deep code, both languages."""

from __future__ import annotations

import json
import re
import sys
import threading
from pathlib import Path

import pytest

from loopgrad import rules
from loopgrad.analysis.explore import Analysis
from loopgrad.messages import LANGUAGES, render, rules_en
from loopgrad.model import Finding, Message
from loopgrad.rules import run
from loopgrad.rules.catalogue import RULES
from loopgrad.rules.deep import run_deep
from loopgrad.source import FileProvider, SourceFile
from tests.pages.parse import pages

from .helpers import check, words

BLOCKS = [block for page in pages("en") for block in page.blocks if block.marks]

HELPER = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(2, 4)
        self.h = torch.zeros(1, 4)

    def forward(self, x):
        self.h = self.cell(x, self.h)
        return self.h
"""

MAIN = """
import torch
from helper import Model

model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    loss = model(torch.randn(1, 2)).sum()
    loss.backward()
    optimizer.step()
"""


def findings_of_pages() -> list[Finding]:
    found = []
    for block in BLOCKS:
        if block.is_notebook:
            source = SourceFile.from_bytes("page.ipynb", block.notebook().encode())
        else:
            source = SourceFile("page.py", block.code)
        provider = FileProvider([source.path])
        provider.put(source)
        found += rules.check(source, provider, select=frozenset(RULES)).findings
    return found


# Files ---------------------------------------------------------------------------------------------------


def test_in_the_file_of_its_line_if_that_is_checked() -> None:
    (finding,) = check(MAIN, helper=HELPER, checked=("main.py", "helper.py")).findings
    assert (finding.path, finding.range.line, finding.code) == ("helper.py", 13, "LG101")
    assert finding.raised_at is not None and finding.raised_at[0] == "main.py"


def test_at_the_way_there_if_it_is_not() -> None:
    (finding,) = check(MAIN, helper=HELPER).findings
    assert finding.path == "main.py"
    assert finding.range.line in (8, 9)
    assert any(step.path == "helper.py" and step.range.line == 13 for step in finding.trace)


def test_by_line() -> None:
    result = check(
        """
        import torch
        from torch import nn

        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(5):
            x = torch.randn(3, 2)
            x.requires_grad_()
            loss = model(x).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss)
        """
    )
    assert [(f.code, f.range.line) for f in result.findings] == [("LG401", 10), ("LG201", 15)]
    assert all(name.count(":") >= 2 for name in result.trained)
    assert {name.rsplit(":", 1)[1] for name in result.trained} == {"model.weight", "model.bias"}


def test_selection() -> None:
    text = """
    import torch
    from torch import nn

    model = nn.Linear(2, 1).eval()
    for _ in range(5):
        print(model(torch.randn(3, 2)).sum().item())
    """
    assert check(text).findings == []
    assert [f.code for f in check(text, select=frozenset({"LG204"})).findings] == ["LG204"]
    assert check(MAIN, helper=HELPER, select=frozenset({"LG201"})).findings == []


def test_columns_count_characters() -> None:
    (finding,) = check(
        """
        import torch
        from torch import nn

        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        größe = 0.0
        for _ in range(5):
            loss = model(torch.randn(3, 2)).sum()
            loss.backward()
            optimizer.step()
            "ü"; größe += loss
        """
    ).findings
    assert finding.carriers == ("größe",)
    assert (finding.range.line, finding.range.column, finding.range.end_column) == (12, 10, 23)


# Partial results and depth ---------------------------------------------------------------------------------


def test_engine_reasons_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    analysis = Analysis()
    analysis.partial = [("main.py", 3, "steps"), ("main.py", 4, "depth"), ("main.py", 5, "who knows")]
    monkeypatch.setattr(run, "analyse", lambda *arguments: analysis)
    partial = check("import torch").partial
    assert [note.line for note in partial] == [3, 4, 5]
    assert len({render(note.reason) for note in partial}) == 3


def test_deep_recursion_leaves_the_limit_alone() -> None:
    def depth(n: int) -> int:
        return 0 if n == 0 else 1 + depth(n - 1)

    before = sys.getrecursionlimit()
    results: list[int] = []
    threads = [
        threading.Thread(target=lambda: results.append(run_deep(lambda: depth(5_000)))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [5_000] * 4
    assert sys.getrecursionlimit() == before
    with pytest.raises(KeyError):
        run_deep(lambda: {}["missing"])


# Words -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_can_be_said(language: str) -> None:
    for finding in findings_of_pages():
        texts = [finding.message, *(step.message for step in finding.trace)]
        texts += [request.title for request in finding.requests]
        for text in texts:
            said = render(text, language)
            assert said and "{" not in said.replace("{key", "")
            assert json.dumps(said)
        assert len(finding.requests) <= 8
        assert finding.name == RULES[finding.code].name
        if language != "en":
            assert words(finding, language) != words(finding)


def test_every_key_exists_and_is_used() -> None:
    folder = Path(rules.__file__).parent
    code = "\n".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    literal = set(re.findall(r'"((?:fix|LG\d{3}|weight|partial|names|line|change)\.[\w.-]+)"', code))
    missing = {
        key
        for key in literal
        if key not in rules_en.MESSAGES and not any(each.startswith(key + ".") for each in rules_en.MESSAGES)
    }
    assert missing == set()


def test_names() -> None:
    def say(*several: str) -> str:
        from loopgrad.rules.words import names

        return render(names(several))

    assert say("h") == "'h'"
    assert say("h", "c") == "'h' and 'c'"
    assert say("a", "b", "c") == "'a', 'b' and 'c'"
    assert say("a", "b", "c", "d") == "'a', 'b' and 2 more"
    assert say("history['loss']") == "'history[\"loss\"]'"
    assert render(Message.of("names.one", a="h"), "zh-cn") == "'h'"


def test_a_stray_requires_grad_names_the_very_value() -> None:
    found = check(
        "import torch\n"
        "a = {'mu': torch.rand(2).requires_grad_(), 'sigma': torch.rand(2).requires_grad_()}\n"
        "b = torch.exp(torch.rand(2).requires_grad_())\n"
        "c = torch.rand(2)\n"
        "c.requires_grad_()\n"
        "(a['mu'].sum() + a['sigma'].sum() + b.sum() + c.sum()).backward()\n"
        "print(a['mu'].grad)\n",
    ).findings
    named = [(f.range.line, [name.replace('"', "'") for name in f.carriers]) for f in found]
    assert named == [(2, ["a['sigma']"]), (3, []), (5, ["c"])]
