"""The server with Loopgrad's own engine, on the two programs of ``examples/``."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

pytestmark = pytest.mark.asyncio

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["encoded_features", "admm_denoiser"])
async def test_an_example_from_open_to_mended(start, tmp_path, name):
    file = tmp_path / f"{name}.py"
    file.write_text((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"), encoding="utf-8")
    editor = await start(engine=False)
    document = editor.open(file)
    await editor.until(lambda: editor.diagnostics(document))
    finding = next(each for each in editor.diagnostics(document) if each.severity == 1)
    assert len(finding.related_information) >= 3
    hint = next(each for each in editor.diagnostics(document, hints=True) if each.severity == 4)
    assert "backward" in editor.texts[document].split("\n")[hint.range.start.line]
    actions = await editor.actions(document, hint.range.start.line + 1, ["quickfix"])
    fix = actions[0]
    assert fix.is_preferred
    editor.apply((await editor.resolve(fix)).edit)
    editor.save(document)
    await editor.until(lambda: {each.severity for each in editor.diagnostics(document, hints=True)} <= {3})


async def test_a_mended_example_has_no_error(start):
    editor = await start(engine=False)
    document = editor.open(EXAMPLES / "encoded_features_fixed.py")
    await editor.until_codes(document)


async def test_half_typed_real_code(start, tmp_path):
    text = (EXAMPLES / "admm_denoiser.py").read_text(encoding="utf-8")
    editor = await start(engine=False, settings={"lint": {"run": "onType", "debounce": 0}})
    document = editor.open(tmp_path / "a.py", text)
    await editor.until(lambda: editor.diagnostics(document))
    codes = editor.codes(document)
    version = editor.edit(document, (0, 0), (0, 0), "x = (\n")
    await editor.until_codes(document, *codes, version=version)


async def test_a_notebook(start):
    cells = (EXAMPLES / "encoded_features.py").read_text(encoding="utf-8").split("\n\n\n")
    editor = await start(engine=False)
    names = [f"vscode-notebook-cell:/nowhere/a.ipynb#{number}" for number in range(len(cells))]
    items = [types.TextDocumentItem(name, "python", 1, text) for name, text in zip(names, cells)]
    code = [types.NotebookCell(types.NotebookCellKind.Code, name) for name in names]
    document = types.NotebookDocument("file:///nowhere/a.ipynb", "jupyter-notebook", 1, code)
    editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, items))
    await editor.until(lambda: any(editor.diagnostics(name) for name in names))
    name = next(name for name in names if editor.diagnostics(name))
    (finding,) = editor.diagnostics(name)
    fix = (await editor.actions(name, finding.range.start.line + 1, ["quickfix"]))[0]
    assert fix.is_preferred
    changes = (await editor.resolve(fix)).edit.document_changes
    assert {change.text_document.uri for change in changes} <= set(names)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="asks the kernel for threads")
async def test_an_analysis_that_nobody_waits_for_any_more_ends(start, tmp_path):
    """The engine wants a deep stack; what runs on one must stop as well, not only he who waits for it."""
    body = "".join(
        f"def train_{number}(model, data, flag):\n"
        "    for epoch in range(9):\n        for x, y in data:\n            for k in range(9):\n"
        "                loss = model(x).sum() if flag else model(y).mean()\n                loss.backward()\n"
        for number in range(600)
    )
    editor = await start(engine=False, options={"status": True})
    document = editor.open(tmp_path / "a.py", "import torch\n")
    await editor.until_codes(document, version=1)
    server = editor.client._server.pid
    (worker,) = Path(f"/proc/{server}/task/{server}/children").read_text().split()

    def threads() -> int:
        return len(list(Path(f"/proc/{worker}/task").iterdir()))

    at_rest = threads()
    for _ in range(5):
        editor.statuses.clear()
        editor.save(document, "import torch\n" + body)
        await editor.until(lambda: "busy" in editor.statuses)
        editor.save(document, "import torch\nx = 1\n")
        await editor.until_codes(document, version=editor.versions[document])
        assert threads() == at_rest
