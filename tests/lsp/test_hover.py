"""Hovers on variables, with Loopgrad's own engine: whether it carries a graph, since which line, of which iteration."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types

pytestmark = pytest.mark.asyncio

CARRY = """\
import torch
net = torch.nn.GRUCell(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data, 隐 = torch.zeros(9, 1, 3), None
hidden = torch.zeros(1, 3)
for x in data:
    hidden = net(x, hidden)
    loss = hidden.sum()
    loss.backward()
    optimizer.step()
    seen = hidden.detach()
print(seen)
"""


async def told(editor, document, line, word, nth=1):
    """The hover on the nth occurrence of a word in a line (from 1)."""
    text = editor.texts[document].split("\n")[line - 1]
    column = -1
    for _ in range(nth):
        column = text.index(word, column + 1)
    return await editor.hover(document, line, column + 1)


async def test_any_variable_tells_what_it_carries(start, tmp_path):
    editor = await start(engine=False)
    document = editor.open(tmp_path / "a.py", CARRY)
    await editor.until_codes(document, "LG101")
    assert await told(editor, document, 5, "hidden") == "`hidden` carries no graph."
    assert await told(editor, document, 6, "x") == "`x` carries no graph."
    # Where it is read, in each iteration; then the story of the finding that names it.
    text = await told(editor, document, 7, "hidden", 2)
    assert text.startswith(
        "Iteration 1: `hidden` carries no graph.  \n"
        "Iteration 2: `hidden` carries a graph, built in line 7 in the iteration before. "
        "The backward() in line 9 in the iteration before has freed it.\n\n---\n\n[LG101]"
    )
    assert "`loss` carries a graph, built in line 8 in the same iteration." in await told(
        editor, document, 9, "loss"
    )
    assert "it was cut off in line 11" in await told(editor, document, 11, "seen")
    # What holds no tensor, and what is no variable.
    for line, word in ((1, "torch"), (2, "net"), (3, "optimizer"), (4, "隐"), (6, "for")):
        assert await told(editor, document, line, word) == ""


async def test_names_and_lines_with_non_ascii_text_before(start, tmp_path):
    editor = await start(engine=False, encodings=[types.PositionEncodingKind.Utf8])
    text = "import torch\nw = torch.zeros(2, requires_grad=True)\n名 = {'🔥': 1}; 值 = w * 2; other = 值\n"
    document = editor.open(tmp_path / "a.py", text)
    await editor.until_codes(document)
    line = text.split("\n")[2]
    for word, expected in (("值", "`值` carries a graph"), ("other", "`other` carries a graph"), ("名", "")):
        column = len(line[: line.index(word)].encode())
        found = await editor.hover(document, 3, column + 1)
        assert found.startswith(expected) and bool(found) == bool(expected)
    hover = await editor.client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(document), types.Position(2, column))
    )
    assert hover is None


async def test_attributes_parameters_and_calls_from_several_lines(start, tmp_path):
    text = (
        "import torch\n"
        "class Net(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.layer = torch.nn.Linear(2, 2)\n"
        "        self.last = torch.zeros(2)\n"
        "    def forward(self, value):\n"
        "        self.last = self.layer(value)\n"
        "        return self.last\n"
        "net = Net()\n"
        "first = net(torch.zeros(2))\n"
        "second = net(first)\n"
    )
    editor = await start(engine=False)
    document = editor.open(tmp_path / "a.py", text)
    await editor.until_codes(document)
    assert await told(editor, document, 6, "last") == "`self.last` carries no graph."
    assert await told(editor, document, 9, "last") == "`self.last` carries a graph, built in line 8."
    for line in (7, 8):
        assert await told(editor, document, line, "value") == (
            "Called from line 11: `value` carries no graph.  \n"
            "Called from line 12: `value` carries a graph, built in line 11."
        )
    assert await told(editor, document, 8, "self", 2) == ""


async def test_the_text_as_it_is_and_modules_as_they_are(start, tmp_path):
    helper = tmp_path / "helper.py"
    helper.write_text("def keep(value):\n    return value\n")
    text = (
        "import torch\nfrom helper import keep\nw = torch.zeros(2, requires_grad=True)\nkept = keep(w * 2)\n"
    )
    editor = await start(engine=False)
    document = editor.open(tmp_path / "a.py", text)
    await editor.until_codes(document)
    assert "built in line 4" in await told(editor, document, 4, "kept")
    editor.edit(document, (0, 0), (0, 0), "# one more, not saved\n")
    editor.texts[document] = "# one more, not saved\n" + text
    assert "built in line 5" in await told(editor, document, 5, "kept")
    module = editor.open(helper)
    editor.save(module, "def keep(value):\n    return value.detach()\n")
    await editor.idle()

    async def cut() -> bool:
        return "cut off" in await told(editor, document, 5, "kept")

    for _ in range(50):
        if await cut():
            break
        await asyncio.sleep(0.1)
    assert await cut()
    editor.edit(document, (0, 0), (0, 0), "half (\n")
    editor.texts[document] = "half (\n" + editor.texts[document]
    assert await told(editor, document, 6, "kept") == ""


async def test_in_a_notebooks_cells_and_in_chinese(start):
    editor = await start(engine=False, locale="zh-cn")
    texts = [
        "%time\nimport torch",
        "w = torch.zeros(2, requires_grad=True)\nloss = (w ** 2).sum()",
        "loss.backward()",
    ]
    names = [f"vscode-notebook-cell:/nowhere/a.ipynb#{number}" for number in range(3)]
    items = [types.TextDocumentItem(name, "python", 1, text) for name, text in zip(names, texts)]
    editor.texts.update(zip(names, texts))
    cells = [types.NotebookCell(types.NotebookCellKind.Code, name) for name in names]
    document = types.NotebookDocument("file:///nowhere/a.ipynb", "jupyter-notebook", 1, cells)
    editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, items))
    assert await told(editor, names[2], 1, "loss") == "`loss` 带有计算图，建立于单元格 2 第 2 行。"


async def test_many_hovers_while_the_text_changes(start, tmp_path):
    editor = await start(engine=False)
    document = editor.open(tmp_path / "a.py", CARRY)
    await editor.until_codes(document, "LG101")
    pending = []
    for number in range(30):
        editor.edit(document, (11, 0), (12, 0), f"print(seen, {number})\n")
        pending.append(asyncio.ensure_future(editor.hover(document, 8, 5)))
        await asyncio.sleep(0.005)
    answers = await asyncio.gather(*pending)
    assert answers[-1].startswith("Iteration 1: `loss` carries a graph")
    assert set(answers) <= {"", answers[-1]}


async def test_a_client_without_markdown_gets_plain_text(start, tmp_path):
    editor = await start(engine=False, hover_formats=[types.MarkupKind.PlainText])
    document = editor.open(tmp_path / "a.py", CARRY)
    await editor.until_codes(document, "LG101")
    position = types.Position(7, 5)
    found = await editor.client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(document), position)
    )
    assert found.contents.kind == types.MarkupKind.PlainText
