"""Notebooks and scripts with cells as people keep them: the findings, with the right cell and line.

The real engine reads them. A mark ``# LG101`` ends the line that has a finding; the marks are exact, both ways.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from loopgrad import fixes
from loopgrad.checker import Checker
from loopgrad.config import Config
from loopgrad.model import Finding
from loopgrad.rules import check
from loopgrad.rules.catalogue import RULES
from loopgrad.source import FileProvider, SourceError, SourceFile
from loopgrad.source.discover import Input

IMPORTS = "import torch\nnet = torch.nn.Linear(3, 3)\nhidden = torch.zeros(2, 3)"
TRAIN = """\
for step in range(5):
    hidden = torch.tanh(net(torch.randn(2, 3)) + hidden)  # LG101
    hidden.square().mean().backward()"""
MARK = re.compile(r"# (LG\d{3})")


def cell(source: str | list[str], kind: str = "code", count: int | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source}
    return made | ({"execution_count": count, "outputs": []} if kind == "code" else {})


def notebook(*cells: str | dict[str, Any]) -> SourceFile:
    document = {
        "cells": [cell(part.splitlines(keepends=True)) if isinstance(part, str) else part for part in cells],
        "metadata": {"kernelspec": {"language": "python", "name": "python3"}, "colab": {"provenance": []}},
        "nbformat": 4,
        "nbformat_minor": 0,
    }
    return SourceFile.from_bytes("train.ipynb", json.dumps(document, indent=1).encode())


def found(source: SourceFile, *more: str) -> list[Finding]:
    codes = frozenset(code for code, rule in RULES.items() if rule.default_on) | set(more)
    provider = FileProvider([source.path])
    provider.put(source)
    return check(source, provider, select=codes).findings


def places(source: SourceFile, *more: str) -> set[tuple[str, int | None, int]]:
    """The code, the cell and the line of each finding."""
    return {(finding.code, *source.place(finding.range.line)) for finding in found(source, *more)}


def marked(source: SourceFile) -> set[tuple[str, int | None, int]]:
    assert source.notebook is not None
    return {
        (mark[1], each.number, number)
        for each in source.notebook.cells
        for number, line in enumerate(each.lines, 1)
        for mark in MARK.finditer(line)
    }


NOTEBOOKS: dict[str, list[str | dict[str, Any]]] = {
    "magics, shell lines and help between the statements": [
        "%load_ext autoreload\n%autoreload 2\n%matplotlib inline\n!pip install -q torch torchvision",
        IMPORTS + "\n%env CUDA_VISIBLE_DEVICES=0\n!nvidia-smi | head -n 5\ntorch.nn.Linear?",
        "files = !ls *.pt\n%cd /content\n" + TRAIN + "\n!ls -la $files\n%who",
    ],
    "%%time over the training cell": [IMPORTS, "%%time\n" + TRAIN],
    "%%timeit with options": [IMPORTS, "%%timeit -n 1 -r 1\n" + TRAIN],
    "%%capture with a name, and %%time below it": [IMPORTS, "%%capture out\n%%time\n" + TRAIN],
    "a blank line before the cell magic": [IMPORTS, "\n\n%%time\n" + TRAIN],
    "cells of other languages": [
        "%%bash\npip install torch\nfor f in *; do echo $f; done",
        "%%html\n<style>.x { color: red }</style>",
        "%%javascript\nIPython.notebook.kernel.restart()",
        "%%writefile model.py\nimport torch\nclass Net(torch.nn.Module): ...",
        IMPORTS,
        "%%script false --no-raise-error\nfor broken in:\n",
        TRAIN,
    ],
    "a loop in a function that %time calls": [
        IMPORTS,
        "def train(hidden):\n" + "\n".join("    " + line for line in TRAIN.splitlines()),
        "%time train(hidden)",
    ],
    "statements behind %time": [
        IMPORTS,
        "%time layer = torch.nn.Linear(3, 3)\nfor step in range(5):\n"
        "    %time hidden = torch.tanh(layer(torch.randn(2, 3)) + hidden)  # LG101\n"
        "    %prun -l 10 -q hidden.square().mean().backward()",
    ],
    "Colab's forms": [
        '#@title Setup { display-mode: "form" }\n' + IMPORTS,
        '#@markdown How long?\nsteps = 5 #@param {type:"integer"}\nrate = 0.1 #@param [0.1, 0.01]\n'
        + TRAIN.replace("range(5)", "range(steps)"),
        'from google.colab import drive, files\ndrive.mount("/content/drive")\nfiles.download("out.pt")',
    ],
    "widgets, displays and plots": [
        IMPORTS + "\nimport ipywidgets as widgets\nimport matplotlib.pyplot as plt",
        "bar = widgets.IntProgress(max=5)\ndisplay(bar)\n"
        + TRAIN
        + "\n    bar.value += 1\n    plt.plot(step, 0);\nplt.show();\nhidden",
        "from ipywidgets import interact\ninteract(lambda lr: lr, lr=(0.0, 1.0));",
    ],
    "markdown and raw cells are counted": [
        cell("# Title", "markdown"),
        IMPORTS,
        cell("---", "raw"),
        cell(["Some\n", "text"], "markdown"),
        TRAIN,
    ],
    "results of earlier cells, and questions": [IMPORTS, "_\nOut[1]\nprint(_)", TRAIN, "hidden??"],
    "an export's own calls": [
        "get_ipython().run_line_magic('matplotlib', 'inline')\nget_ipython().system('pip install torch')",
        IMPORTS,
        "get_ipython().run_cell_magic('time', '', 'x = 1')\n" + TRAIN,
    ],
    "await and async at the top of a cell": [
        IMPORTS,
        "import asyncio\nawait asyncio.sleep(0)\n" + TRAIN,
    ],
    "a cell that is right, run between two that are not": [
        IMPORTS,
        TRAIN,
        "hidden = torch.zeros(2, 3)\nfor step in range(5):\n"
        "    hidden = torch.tanh(net(torch.randn(2, 3)) + hidden.detach())\n    hidden.sum().backward()",
    ],
    "Windows' line ends": [IMPORTS.replace("\n", "\r\n"), TRAIN.replace("\n", "\r\n")],
    "tabs and a form feed": [IMPORTS, "\f\n" + TRAIN.replace("    ", "\t")],
    "letters beyond ASCII, in names too": [
        IMPORTS,
        "# 训练循环 – é\n名字 = 'ß'\n" + TRAIN,
    ],
}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_findings_have_their_cell_and_line(name: str) -> None:
    source = notebook(*NOTEBOOKS[name])
    assert not source.errors
    assert places(source) == marked(source) != set()
    assert all(finding.certainty == "certain" for finding in found(source))


def test_columns_stay_behind_a_magic() -> None:
    source = notebook(
        IMPORTS, "for i in range(3):\n    %time hidden = net(hidden).tanh()\n    hidden.sum().backward()"
    )
    (finding,) = found(source)
    assert source.segment(finding.range) == "hidden = net(hidden).tanh()"


# Order -------------------------------------------------------------------------------------------------

OUT_OF_ORDER: dict[str, list[str | dict[str, Any]]] = {
    "the helper stands below the loop that calls it": [
        IMPORTS,
        "for i in range(5):\n    hidden = step(torch.randn(2, 3), hidden)  # LG101\n    hidden.sum().backward()",
        "def step(x, h):\n    return torch.tanh(net(x) + h)",
    ],
    "the helper that cuts stands below": [
        IMPORTS,
        "for i in range(5):\n    hidden = torch.tanh(net(torch.randn(2, 3)) + cut(hidden))\n    hidden.sum().backward()",
        "def cut(h):\n    return h.detach()",
    ],
    "the imports come last": [
        TRAIN,
        "net = torch.nn.Linear(3, 3)\nhidden = torch.zeros(2, 3)",
        "import torch",
    ],
    "what a function reads is made below its call": [
        "import torch\nhidden = torch.zeros(2, 3)",
        "def step(x, h):\n    return torch.tanh(net(x) + h)",
        "for i in range(5):\n    hidden = step(torch.randn(2, 3), hidden)  # LG101\n    hidden.sum().backward()",
        "net = torch.nn.Linear(3, 3)",
    ],
    "run counts that tell of going back and forth": [
        cell(TRAIN, count=9),
        cell("net = torch.nn.Linear(3, 3)\nhidden = torch.zeros(2, 3)", count=3),
        cell("import torch", count=12),
    ],
}


@pytest.mark.parametrize("name", OUT_OF_ORDER)
def test_cells_out_of_order_are_read_in_one_that_works(name: str) -> None:
    source = notebook(*OUT_OF_ORDER[name])
    assert places(source) == marked(source)
    # In which order the cells ran is a guess, so nothing is certain.
    assert all(finding.certainty == "possible" for finding in found(source))


IN_ORDER: dict[str, list[str | dict[str, Any]]] = {
    "a name that is bound again below": [
        IMPORTS,
        TRAIN,
        "hidden = torch.zeros(2, 3)\nnet = torch.nn.Linear(3, 3)",
    ],
    "names of loops and comprehensions": [
        IMPORTS,
        "for step in range(3):\n    double = [step * k for k in range(step)]\n    print(double, step)",
        TRAIN,
        "k = 3\nstep = 2\ndouble = 1",
    ],
    "functions that call each other": [
        IMPORTS,
        "def outer():\n    return inner()",
        "def inner():\n    return outer",
        TRAIN,
    ],
    "a name that a magic may bind": ["%run helpers.ipynb", IMPORTS, TRAIN, "def helper():\n    pass"],
}


@pytest.mark.parametrize("name", IN_ORDER)
def test_cells_in_order_stay_so(name: str) -> None:
    source = notebook(*IN_ORDER[name])
    assert places(source) == marked(source)
    assert all(finding.certainty == "certain" for finding in found(source))


def test_a_cell_run_twice() -> None:
    source = notebook(
        IMPORTS,
        "loss = net(hidden).square().mean()",
        cell("forecast\n", "markdown"),
        "%%time\nprint(loss)\nloss.backward()  # LG205",
    )
    assert places(source, "LG205") == marked(source)
    assert places(source) == set()
    right = notebook(IMPORTS, "loss = net(hidden).square().mean()\nloss.backward()")
    assert places(right, "LG205") == set()


def test_a_cell_that_cannot_be_read_has_its_place_and_makes_the_rest_a_guess() -> None:
    source = notebook(IMPORTS, "print 'old'", cell("text", "markdown"), TRAIN)
    (error,) = source.errors
    assert source.place(error.line) == (2, 1)
    assert error.message.key == "source.python2"
    assert [(f.code, f.certainty) for f in found(source)] == [("LG101", "possible")]


# Fixes -------------------------------------------------------------------------------------------------


def fixed(source: SourceFile) -> str:
    provider = FileProvider([source.path])
    provider.put(source)
    result = Checker(Config(), provider, offer_fixes=True).fixed(Input(source.path, True))
    assert result is not None
    return result[1].decode()


def test_a_fix_leaves_the_magics_alone() -> None:
    source = notebook(
        IMPORTS + "\n%matplotlib inline",
        "!nvidia-smi\nfor i in range(5):\n"
        "    %time hidden = torch.tanh(net(torch.randn(2, 3)) + hidden)\n    hidden.square().mean().backward()",
    )
    cells = ["".join(part["source"]) for part in json.loads(fixed(source))["cells"]]
    assert cells[0] == IMPORTS + "\n%matplotlib inline"
    lines = cells[1].splitlines()
    assert lines[0] == "!nvidia-smi"
    assert lines[2].startswith("    %time hidden = torch.tanh(net(torch.randn(2, 3)) + hidden")
    assert "detach()" in cells[1]
    assert "if 1" not in cells[1]


# Scripts with cells ------------------------------------------------------------------------------------

SCRIPTS = {
    "percent format": "# %% [markdown]\n# Text\n\n# %%\nIMPORTS\n\n# %% Train\nTRAIN\n",
    "percent format with magics in comments": "# %%\n# %matplotlib inline\nIMPORTS\n# %%\n# %%time\nTRAIN\n",
    "percent format with magics as they are": "# %%\n%matplotlib inline\n!pip install torch\nIMPORTS\n# %%\n%%time\nTRAIN\n",
    "percent format with a cell of another language": "# %%\nIMPORTS\n# %%\n%%bash\nls -la | grep x\n# %%\nTRAIN\n",
    "an export of a notebook": "# In[1]:\n\n\n%load_ext tensorboard\nIMPORTS\n\n\n# In[2]:\n\n\n!ls\nTRAIN\n\n\n# In[ ]:\n",
    "an export with its calls": "# coding: utf-8\n# In[1]:\nget_ipython().magic('time')\nIMPORTS\n# In[2]:\nTRAIN\n",
    "Databricks": "# Databricks notebook source\n# MAGIC %sh ls\n# COMMAND ----------\nIMPORTS\n# COMMAND ----------\nTRAIN\n",
    "light format": "# +\nIMPORTS\n# -\n\n# + tags=[]\nTRAIN\n",
    "Windows' line ends": "# %%\r\n%matplotlib inline\r\nIMPORTS\r\n# %%\r\nTRAIN\r\n",
}


def script(text: str) -> SourceFile:
    newline = "\r\n" if "\r\n" in text else "\n"
    text = text.replace("IMPORTS", IMPORTS.replace("\n", newline)).replace(
        "TRAIN", TRAIN.replace("\n", newline)
    )
    return SourceFile.from_bytes("train.py", text.encode())


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_with_cells(name: str) -> None:
    source = script(SCRIPTS[name])
    lines = [number for number, line in enumerate(source.lines, 1) if MARK.search(line)]
    assert lines
    assert places(source) == {("LG101", None, number) for number in lines}
    assert source.encode() == source.text.encode(), "the text is the file's own"


@pytest.mark.parametrize("name", SCRIPTS)
def test_fixes_of_scripts_with_cells(name: str) -> None:
    source = script(SCRIPTS[name])
    (finding,) = found(source)
    provider = FileProvider([source.path])
    provider.put(source)
    preferred = next(fix for fix in fixes.offer(finding, source, provider) if fix.preferred)
    changed = source.with_text(source.apply(preferred.edits))
    assert found(changed) == []
    old, new = source.lines, changed.lines
    assert [line for line in old if line.lstrip()[:1] in ("%", "!")] == [
        line for line in new if line.lstrip()[:1] in ("%", "!")
    ]


def test_a_comment_that_silences_is_read_behind_a_magic() -> None:
    source = script("# %%\n!pip install 'x'\nIMPORTS\n# %%\nTRAIN\n")
    silenced = source.with_text(source.text.replace("# LG101", "# loopgrad: ignore[LG101]"))
    assert [ignore.codes for ignore in silenced.suppressions.ignores] == [("LG101",)]


def test_a_script_without_cells_has_no_magics() -> None:
    source = SourceFile.from_bytes("train.py", b"!ls\nx = 1\n")
    with pytest.raises(SourceError) as caught:
        source.tree  # noqa: B018
    assert caught.value.line == 1
