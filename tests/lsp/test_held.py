"""What a hover says a variable carries, held against PyTorch: scripts are run, and looked at line by line."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from loopgrad.analysis.explore import analyse
from loopgrad.analysis.shared import FileRecord
from loopgrad.lsp.worker_held import Watch, held
from loopgrad.messages import render
from loopgrad.rules.deep import run_deep
from loopgrad.source import FileProvider, SourceFile

ROOT = Path(__file__).parents[2]

#: Functions that are called from several places, values that differ by iteration, hooks, views, closures.
CASES = (
    "admm-x01", "buffer-x01", "gan-03", "gan-x02", "growth-03", "meta-learning-x01", "negative-a07",
    "negative-x08", "no-grad-fn-x02", "optloop-05", "rl-x03", "rl-x05", "rnn-hidden-x03",
)  # fmt: skip


def read_names(source: SourceFile) -> dict[tuple[int, int], str]:
    return {
        (node.lineno, node.col_offset): node.id
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the runner forks")
def test_what_a_variable_carries_is_what_torch_shows(tmp_path):
    pytest.importorskip("torch")
    files = [ROOT / "tests" / "cases" / case / "bug.py" for case in CASES]
    files += [ROOT / "examples" / f"{name}.py" for name in ("admm_denoiser", "encoded_features")]
    output = tmp_path / "seen.json"
    runner = Path(__file__).parent / "held_runner.py"
    subprocess.run([sys.executable, runner, output, *files], check=True, capture_output=True)
    seen = json.loads(output.read_text())
    compared, wrong = 0, []
    for file in files:
        source = SourceFile(str(file), file.read_text(encoding="utf-8"))
        watch = Watch()
        run_deep(
            lambda source=source, watch=watch: analyse(
                FileRecord(source.path, source.tree, watch), FileProvider([])
            )
        )
        names = read_names(source)
        for (line, column, *_), noted in watch.noted.items():
            visits = seen[str(file)].get(str(line), {}).get(names.get((line, column), ""), [])
            states = [state for _, state in noted.states.values()]
            sure = noted.tensor and not any(state.guess for state in states)
            if not sure or not visits or None in visits:
                continue
            compared += 1
            told = {state.built is not None for state in states}
            if not set(visits) <= told:
                wrong.append((file.parent.name, line, noted.name, told, visits))
    assert wrong == []
    assert compared > 300


def test_a_graph_that_grows_reaches_back(tmp_path):
    text = (
        "import torch\n"
        "w = torch.ones(2, requires_grad=True)\n"
        "total = 0\n"
        "for step in range(6):\n"
        "    total = total + (w ** 2).sum()\n"
        "    if step == 4:\n"
        "        print(total)\n"
    )
    source = SourceFile("a.py", text)
    spots = held(source, FileProvider([])).spots
    by_column = {spot.column: [render(message) for message in spot.told] for spot in spots[5]}
    assert by_column[5][0].endswith("`total` carries a graph, built in line 5 in the same iteration.")
    assert by_column[5][1] == (
        "Iteration 2: `total` carries a graph, built in line 5 in the same iteration. "
        "It reaches back to line 5 in the iteration before."
    )
    assert by_column[5][2] == (
        "From iteration 3 on: `total` carries a graph, built in line 5 in the same iteration. "
        "It reaches back to line 5 in iteration 1."
    )
    assert by_column[13][0] == "Iteration 1: `total` carries no graph."


def test_functions_that_nothing_calls():
    text = (
        "import torch\n"
        "class Net(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.layer = torch.nn.Linear(2, 2)\n"
        "    def forward(self, value):\n"
        "        out = self.layer(value)\n"
        "        return out.detach(), out\n"
    )
    spots = held(SourceFile("a.py", text), FileProvider([])).spots
    assert [[render(each) for each in spot.told] for spot in spots[7]] == [
        ["`out` carries a graph, built in line 7."]
    ]
    assert [spot.column for spot in spots[8]] == [16, 30]
