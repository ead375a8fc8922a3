"""Which bodies are run: most files of a package only define what others use."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from loopgrad.analysis.bodies import Body
from loopgrad.analysis.shared import record_of
from loopgrad.rules import check
from loopgrad.source import FileProvider, SourceFile

DEFINES = {
    "functions and classes": """
        import torch
        from .helper import Base

        class Net(Base):
            size: int = 3
            names = [str(n) for n in (1, 2)]

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x

        def train(model, steps=10):
            for step in range(steps):
                model(torch.ones(1)).sum().backward()
        """,
    "what libraries make": """
        import logging
        from typing import TypeVar
        import torch

        logger = logging.getLogger(__name__)
        T = TypeVar("T", bound=torch.Tensor)
        ZERO = torch.zeros(len("abc"))
        if hasattr(torch, "compile"):
            FAST = True
        try:
            import apex
        except ImportError:
            apex = None
        """,
    "what decorates a function keeps it": """
        from .registry import register

        @register("net")
        def build():
            return 1
        """,
}
RUNS = {
    "a loop": """
        names = []
        for n in range(3):
            names.append(n)
        """,
    "a call of a function of the file": """
        def train(): ...
        if __name__ == "__main__":
            train()
        """,
    "a call of a function of the workspace": """
        from .helper import train
        result = train()
        """,
    "a library that is given a function to call": """
        import runner
        def train(): ...
        runner.run(train)
        """,
    "a library that is given what a function of the file gives": """
        import asyncio
        async def train(): ...
        asyncio.run(train())
        """,
    "a method of what a library made": """
        import torch
        total = torch.ones(1, requires_grad=True)
        total.backward()
        """,
    "a name that a builtin has as well": """
        def print(text): ...
        print("a")
        """,
    "code in a string": """
        exec("train()")
        """,
    "a context": """
        import torch
        with torch.no_grad():
            x = torch.ones(1)
        """,
}


def body(code: str, checked: bool = True) -> Body:
    """A body in a workspace whose modules are those that are imported with a dot."""
    tree = ast.parse(textwrap.dedent(code))
    return Body(tree, lambda module, level: "file.py" if level else None, lambda path: checked)


@pytest.mark.parametrize("code", DEFINES.values(), ids=DEFINES)
def test_a_body_that_only_defines(code: str) -> None:
    assert body(code).only_defines()


@pytest.mark.parametrize("code", RUNS.values(), ids=RUNS)
def test_a_body_that_is_run(code: str) -> None:
    assert not body(code).only_defines()


def test_what_nobody_else_checks_is_run() -> None:
    code = "from .script import thing"
    assert body(code).only_defines()
    assert not body(code, checked=False).only_defines()


SCRIPT = """
import torch
w = torch.ones(1, requires_grad=True)
losses = []
for step in range(100):
    loss = (w * w).sum()
    loss.backward()
    losses.append(loss)
"""


def test_a_script_that_trains_when_it_is_imported(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    main = tmp_path / "main.py"
    main.write_text("import script\n")
    files = [str(main), str(tmp_path / "script.py")]
    alone, both = FileProvider(files[:1]), FileProvider(files)
    assert [f.code for f in check(alone.load(str(main)), alone).findings] == ["LG201"]
    assert not check(both.load(str(main)), both).findings
    assert [f.code for f in check(both.load(files[1]), both).findings] == ["LG201"]


HELPER = """
import torch

def keep(h):
    return h{detach}
"""
MAIN = """
import torch
from helper import keep

cell = torch.nn.RNNCell(2, 2)
h = torch.zeros(1, 2)
for step in range(5):
    h = cell(torch.ones(1, 2), h)
    h.sum().backward()
    h = keep(h)
"""


def test_what_is_lowered_serves_all_that_import_it_and_goes_with_its_text(tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"
    helper.write_text(HELPER.format(detach=""))
    mains = [tmp_path / "one.py", tmp_path / "two.py"]
    for main in mains:
        main.write_text(MAIN)
    provider = FileProvider([str(path) for path in (helper, *mains)])

    def codes(path: Path) -> list[str]:
        return [finding.code for finding in check(provider.load(str(path)), provider).findings]

    record = record_of(provider.load(str(helper)))
    assert [codes(main) for main in mains] == [["LG101"], ["LG101"]]
    assert record_of(provider.load(str(helper))) is record
    provider.put(SourceFile(str(helper), HELPER.format(detach=".detach()")))
    assert [codes(main) for main in mains] == [[], []]
