"""Loopgrad's own engine behind the server where several files, cells or encodings play a part."""

from __future__ import annotations

import asyncio
import random

import pytest
from lsprotocol import types

pytestmark = pytest.mark.asyncio

HELPER = """\
class Memory:
    def __init__(self):
        self.last = None

    def keep(self, value):
        self.last = value
"""

MAIN = """\
import torch
from helper import Memory

net = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
memory = Memory()
for step in range(20):
    out = net(torch.randn(2, 4))
    if memory.last is not None:
        out = out + memory.last
    loss = (out ** 2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    memory.keep(out)
"""


async def open_notebook(editor, *texts):
    names = [f"vscode-notebook-cell:/nowhere/a.ipynb#{number}" for number in range(len(texts))]
    items = [types.TextDocumentItem(name, "python", 1, text) for name, text in zip(names, texts)]
    editor.texts.update(zip(names, texts))
    editor.versions.update(dict.fromkeys(names, 1))
    cells = [types.NotebookCell(types.NotebookCellKind.Code, name) for name in names]
    document = types.NotebookDocument("file:///nowhere/a.ipynb", "jupyter-notebook", 1, cells)
    editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, items))
    return names


ONCE = (
    "import torch\nw = torch.nn.Parameter(torch.ones(3))\n",
    "%time\nloss = (w ** 2).sum()\n",
    "print('名')\nloss.backward()\n",
)


async def test_a_cell_that_cannot_run_twice_is_told_to_those_who_ask(start):
    editor = await start(engine=False, settings={"select": ["LG205"]})
    names = await open_notebook(editor, *ONCE)
    await editor.until_codes(names[2], "LG205")
    (finding,) = editor.diagnostics(names[2])
    assert finding.severity == types.DiagnosticSeverity.Information
    assert finding.range.start.line == 1
    built = finding.related_information[0]
    assert (built.location.uri, built.location.range.start.line) == (names[1], 1)
    editor.configure({})
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    await editor.until_codes(names[2])


async def test_a_cell_that_builds_what_it_frees_is_fine(start):
    editor = await start(engine=False, settings={"select": ["LG205", "LG402"]})
    names = await open_notebook(editor, ONCE[0], "loss = (w ** 2).sum()\nloss.backward()\n", "w.detach()\n")
    await editor.until_codes(names[2], "LG402")
    assert editor.codes(names[1]) == []


async def test_a_store_in_a_helper_is_shown_and_mended_there(start, tmp_path):
    main, helper = tmp_path / "main.py", tmp_path / "helper.py"
    main.write_text(MAIN)
    helper.write_text(HELPER)
    editor = await start(engine=False)
    document, module = editor.open(main), editor.open(helper)
    await editor.until(lambda: editor.codes(document) or editor.codes(module))
    shown_in = document if editor.codes(document) else module
    (finding,) = [each for each in editor.diagnostics(shown_in) if each.severity == 1]
    assert finding.code == "LG101"
    assert {step.location.uri for step in finding.related_information} == {document, module}
    # From the line that raises, in the other file of the two or in the same.
    raising = MAIN.split("\n").index("    loss.backward()") + 1
    fix = (await editor.actions(document, raising, ["quickfix"]))[0]
    assert fix.is_preferred
    edit = (await editor.resolve(fix)).edit
    editor.apply(edit)
    for each in (document, module):
        editor.save(each)
    await editor.until(lambda: not editor.codes(document) and not editor.codes(module))
    assert "detach" in editor.texts[document] + editor.texts[module]


async def test_fix_all_reaches_other_files(start, tmp_path):
    main, helper = tmp_path / "main.py", tmp_path / "helper.py"
    main.write_text(MAIN)
    helper.write_text(HELPER)
    editor = await start(engine=False)
    document, module = editor.open(main), editor.open(helper)
    await editor.until(lambda: editor.codes(document) or editor.codes(module))
    answer = await editor.command("fixAll")
    assert answer["applied"]
    for each in (document, module):
        editor.save(each)
    await editor.until(lambda: not editor.codes(document) and not editor.codes(module))


async def test_saving_the_helper_brings_and_takes_the_findings_of_the_script(start, tmp_path):
    main, helper = tmp_path / "main.py", tmp_path / "helper.py"
    main.write_text(MAIN)
    helper.write_text(HELPER.replace("= value\n", "= value.detach()\n"))
    editor = await start(engine=False)
    document, module = editor.open(main), editor.open(helper)
    await editor.until_codes(document, version=1)
    await editor.until_codes(module, version=1)
    editor.save(module, HELPER)
    await editor.until(lambda: "LG101" in editor.codes(document) + editor.codes(module))
    editor.save(module, HELPER.replace("= value\n", "= value.detach()\n"))
    await editor.until(lambda: not editor.codes(document) and not editor.codes(module))


WIDE = """\
import torch
網 = torch.nn.Linear(2, 2); s = '🔥é'
for x in torch.zeros(9, 1, 2):
    '🔥名'; 網(x).sum().backward(); '𝛼'; 網(x).detach()
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_fixes_among_non_ascii_text_in_every_encoding(start, tmp_path, encoding):
    width = {"utf-8": lambda text: len(text.encode()), "utf-32": len}.get(
        encoding, lambda text: len(text.encode("utf-16-le")) // 2
    )
    editor = await start(engine=False, encodings=[types.PositionEncodingKind(encoding)])
    document = editor.open(tmp_path / "a.py", WIDE)
    await editor.until(lambda: editor.diagnostics(document))
    line = WIDE.split("\n")[3]
    finding = next(each for each in editor.diagnostics(document) if each.code == "LG402")
    expected = "網(x).detach()"
    before = line[: line.index(expected)]
    assert finding.range.start.character == width(before)
    assert finding.range.end.character == width(before + expected)
    actions = await editor.actions(document, 4, ["quickfix"])
    suppress = await editor.resolve(actions[-1])
    (change,) = suppress.edit.document_changes
    (edit,) = change.edits
    assert edit.range.start.character == width(line) and "ignore[LG402]" in edit.new_text


async def test_suppress_with_the_engine(start, tmp_path):
    editor = await start(engine=False)
    document = editor.open(tmp_path / "a.py", "import torch\nx = torch.zeros(2)\nx.detach()\n")
    await editor.until_codes(document, "LG402")
    last = (await editor.actions(document, 3, ["quickfix"]))[-1]
    editor.apply((await editor.resolve(last)).edit)
    assert editor.texts[document].split("\n")[2] == "x.detach()  # loopgrad: ignore[LG402]"
    editor.save(document)
    await editor.until_codes(document)


async def test_any_edits_to_real_code_leave_the_state_of_the_text(start, tmp_path):
    """Typing at random, through texts that are no Python: at the end it is as if the text had just been opened."""
    chance = random.Random(5)
    lines = MAIN.replace("from helper import Memory\n", HELPER).split("\n")
    text = "\n".join(lines)
    editor = await start(engine=False, settings={"lint": {"run": "onType", "debounce": 5}})
    document = editor.open(tmp_path / "a.py", text)
    await editor.until_codes(document, "LG101")
    for number in range(300):
        row = chance.randrange(len(lines))
        column = chance.randrange(len(lines[row]) + 1)
        typed = chance.choice(["x", "(", ")", "名", " ", "🔥", "\n", ".detach()", '"', "#"])
        editor.edit(document, (row, column), (row, column), typed)
        if number % 20 == 0:
            await asyncio.sleep(0.01)
        # The same again in the opposite direction.
        end = (row + 1, 0) if typed == "\n" else (row, column + len(typed.encode("utf-16-le")) // 2)
        editor.edit(document, (row, column), end, "")
    version = editor.edit(document, (0, 0), (0, 0), "# the end\n")
    await editor.until_codes(document, "LG101", version=version)
    keep = next(number for number, line in enumerate(lines, 1) if "self.last = value" in line)
    assert editor.lines(document) == [keep + 1]
