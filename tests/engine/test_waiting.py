"""What a module binds waits until it is read (``loopgrad.analysis.lower.outline``): nobody can tell the difference.

Each workspace is run by Python as well, with PyTorch; the findings have to say what happened.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("torch")

from loopgrad.rules import check
from loopgrad.source import FileProvider

#: Two backwards over what ``{}`` gives: it raises if that is one graph for both.
TWICE = """
import torch
{}
for step in range(3):
    scale().sum().backward()
"""

SECOND = "second-backward"
WORKSPACES: dict[str, tuple[str, dict[str, str]]] = {
    "a graph that a module builds when it is imported is one for all iterations": (
        SECOND,
        {
            "parts.py": """
                import torch
                w = torch.ones(3, requires_grad=True)
                built = w * w
                def scale():
                    return built
            """,
            "main.py": TWICE.format("from parts import scale"),
        },
    ),
    "a module that is imported in the loop is executed once, outside of it": (
        SECOND,
        {
            "parts.py": "import torch\nw = torch.ones(3, requires_grad=True)\nbuilt = w * w\n",
            "main.py": TWICE.format("def scale():\n    import parts\n    return parts.built"),
        },
    ),
    "a definition beside an import of everything is the module's own": (
        "clean",
        {
            "base.py": """
                import torch
                w = torch.ones(3, requires_grad=True)
                built = w * w
                def scale():
                    return built
            """,
            "parts.py": "from base import *\ndef scale():\n    return w * w\n",
            "main.py": TWICE.format("from parts import scale"),
        },
    ),
    "a registry is filled by the module that registers": (
        SECOND,
        {
            "registry.py": """
                KNOWN = {}
                def register(function):
                    KNOWN[function.__name__] = function
                    return function
            """,
            "parts.py": """
                import torch
                from registry import register
                w = torch.ones(3, requires_grad=True)
                built = w * w
                @register
                def scaled():
                    return built
            """,
            "main.py": TWICE.format("import parts\nfrom registry import KNOWN\nscale = KNOWN['scaled']"),
        },
    ),
    "a class hears of what is derived from it": (
        SECOND,
        {
            "registry.py": """
                class Part:
                    known = []
                    def __init_subclass__(cls):
                        Part.known.append(cls)
            """,
            "parts.py": """
                import torch
                from registry import Part
                w = torch.ones(3, requires_grad=True)
                built = w * w
                class Scale(Part):
                    def __call__(self):
                        return built
            """,
            "main.py": TWICE.format("import parts\nfrom registry import Part\nscale = Part.known[0]()"),
        },
    ),
    "a constant is what it was when what is computed from it was": (
        "clean",
        {
            "parts.py": """
                import torch
                w = torch.ones(3, requires_grad=True)
                sizes = [1]
                count = len(sizes)
                sizes.append(2)
                built = w * w
                def scale():
                    return built if count == 2 else w * w
            """,
            "main.py": TWICE.format("from parts import scale"),
        },
    ),
    "what an import binds may be bound again under a condition": (
        SECOND,
        {
            "parts.py": """
                import torch
                w = torch.ones(3, requires_grad=True)
                built = w * w
                def scale():
                    return built
            """,
            "main.py": TWICE.format(
                "import sys\nfrom parts import scale\nif len(sys.argv) > 5:\n    scale = lambda: torch.ones(3, requires_grad=True)"
            ),
        },
    ),
}


@pytest.mark.parametrize(("outcome", "files"), WORKSPACES.values(), ids=WORKSPACES)
def test_a_workspace_is_judged_as_it_runs(outcome: str, files: dict[str, str], tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(textwrap.dedent(text).lstrip())
    main = tmp_path / "main.py"
    environment = {**os.environ, "PYTHONPATH": ""}
    run = subprocess.run([sys.executable, main], capture_output=True, text=True, env=environment, check=False)
    raised = "backward through the graph a second time" in run.stderr
    assert (run.returncode, raised) == ((1, True) if outcome == SECOND else (0, False)), run.stderr
    provider = FileProvider([str(main)])
    found = check(provider.load(str(main)), provider).findings
    assert {finding.outcome for finding in found} == {outcome} - {"clean"}


EVALUATION = """
import torch

def numbers(path):
    return [int(line) for line in open(path)]

def broken(batches):
    for batch in batches:
        None.nothing()

class Judge:
    def __init__(self):
        self.model = torch.nn.Linear(3, 1)

    def evaluate(self, batches):
        total = 0.0
        for batch in batches:
            total = total + self.model(torch.randn(4, 3)).sum()
        return total.item()
"""


def test_functions_that_record_are_found_among_those_that_do_not(tmp_path: Path) -> None:
    main = tmp_path / "main.py"
    main.write_text(EVALUATION)
    provider = FileProvider([str(main)])
    found = check(provider.load(str(main)), provider).findings
    assert [(finding.code, finding.range.line) for finding in found] == [("LG203", 18)]
