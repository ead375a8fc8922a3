"""Notebooks: cells are joined, analysed once, and what is found is shown, and mended, in its cell."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types

pytestmark = pytest.mark.asyncio

NOTEBOOK = "file:///nowhere/work.ipynb"


def cell(number: int) -> str:
    return f"vscode-notebook-cell:/nowhere/work.ipynb#{number}"


class Notebook:
    def __init__(self, editor, *texts: str, kinds: str = "") -> None:
        self.editor = editor
        self.version = 1
        kinds = kinds or "c" * len(texts)
        self.cells = [
            types.NotebookCell(
                types.NotebookCellKind.Code if kind == "c" else types.NotebookCellKind.Markup, cell(number)
            )
            for number, kind in enumerate(kinds)
        ]
        items = [types.TextDocumentItem(cell(number), "python", 1, text) for number, text in enumerate(texts)]
        for number, text in enumerate(texts):
            editor.texts[cell(number)], editor.versions[cell(number)] = text, 1
        document = types.NotebookDocument(NOTEBOOK, "jupyter-notebook", 1, self.cells)
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, items))

    def _change(self, cells: types.NotebookDocumentCellChanges) -> None:
        self.version += 1
        self.editor.client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(self.version, NOTEBOOK),
                types.NotebookDocumentChangeEvent(cells=cells),
            )
        )

    def change(self, number: int, text: str) -> None:
        self.editor.texts[cell(number)] = text
        self.editor.versions[cell(number)] += 1
        identity = types.VersionedTextDocumentIdentifier(self.editor.versions[cell(number)], cell(number))
        change = types.NotebookDocumentCellContentChanges(
            identity, [types.TextDocumentContentChangeWholeDocument(text)]
        )
        self._change(types.NotebookDocumentCellChanges(text_content=[change]))

    def splice(self, start: int, deleted: int, *new: tuple[int, str]) -> None:
        cells = [types.NotebookCell(types.NotebookCellKind.Code, cell(number)) for number, _ in new]
        opened = [types.TextDocumentItem(cell(number), "python", 1, text) for number, text in new]
        closed = [types.TextDocumentIdentifier(each.document) for each in self.cells[start : start + deleted]]
        self.cells[start : start + deleted] = cells
        for number, text in new:
            self.editor.texts[cell(number)], self.editor.versions[cell(number)] = text, 1
        self._change(
            types.NotebookDocumentCellChanges(
                structure=types.NotebookDocumentCellChangeStructure(
                    types.NotebookCellArrayChange(start, deleted, cells), did_open=opened, did_close=closed
                )
            )
        )

    def save(self) -> None:
        identity = types.NotebookDocumentIdentifier(NOTEBOOK)
        self.editor.client.notebook_document_did_save(types.DidSaveNotebookDocumentParams(identity))


async def test_findings_and_their_story_are_shown_in_their_cells(start):
    editor = await start()
    Notebook(
        editor,
        "%matplotlib inline\nimport torch\nhidden = 0\n",
        "# text",
        "for i in range(3):\n    hidden = f(hidden)  # finds LG101 built=3 raises=7",
        "    \n\nloss.backward()",
        kinds="cmcc",
    )
    # Joined: cell 0 is lines 1 to 4, cell 2 lines 5 and 6, cell 3 lines 7 to 9.
    await editor.until_codes(cell(2), "LG101", version=1)
    (finding,) = editor.diagnostics(cell(2))
    assert finding.range.start == types.Position(1, 13)
    where = [(each.location.uri, each.location.range.start.line) for each in finding.related_information]
    assert where == [(cell(0), 2), (cell(2), 1), (cell(3), 0)]
    await editor.until(lambda: editor.diagnostics(cell(3), hints=True))  # each cell is told by itself
    assert [each.severity for each in editor.diagnostics(cell(3), hints=True)] == [
        types.DiagnosticSeverity.Hint
    ]
    assert editor.codes(cell(1)) == []


async def test_a_fix_is_made_in_its_cell(start):
    editor = await start()
    notebook = Notebook(editor, "import torch\n", "!ls\nx = 'é'\ny = x  # finds LG101\n")
    await editor.until_codes(cell(1), "LG101")
    fix = (await editor.actions(cell(1), 3, ["quickfix"]))[0]
    assert fix.is_preferred
    resolved = await editor.resolve(fix)
    (change,) = resolved.edit.document_changes
    assert change.text_document.uri == cell(1)
    from loopgrad_tests_lsp_editor import applied

    new = applied(editor.texts[cell(1)], change.edits)
    assert new == "!ls\nx = 'é'\ny = x.detach()  # finds LG101\n"
    notebook.change(1, new)
    notebook.save()
    await editor.until_codes(cell(1))


async def test_cells_that_come_move_and_go(start):
    editor = await start()
    notebook = Notebook(editor, "a = 1", "y = x  # finds LG101")
    await editor.until_codes(cell(1), "LG101")
    notebook.splice(0, 0, (7, "new = 1\nnewer = 2"))
    notebook.save()
    await editor.until(lambda: editor.shown.get(cell(7)) is not None or editor.lines(cell(1)) == [1])
    await editor.until_codes(cell(1), "LG101")
    assert editor.lines(cell(1)) == [1]
    notebook.splice(2, 1)
    notebook.save()
    await editor.until_codes(cell(1))


async def test_a_deleted_cell_has_no_fix_any_more(start):
    editor = await start()
    notebook = Notebook(editor, "a = 1", "y = x  # finds LG101")
    await editor.until_codes(cell(1), "LG101")
    notebook.splice(1, 1)
    assert await editor.actions(cell(1), 1) == []


async def test_a_half_typed_cell_keeps_what_was_shown(start):
    editor = await start()
    notebook = Notebook(editor, "a = 1", "y = x  # finds LG101")
    await editor.until_codes(cell(1), "LG101")
    notebook.change(0, "def half(")
    notebook.save()
    await editor.idle()
    await asyncio.sleep(0.3)
    assert editor.codes(cell(1)) == ["LG101"]
    notebook.change(0, "a = 2")
    notebook.change(1, "y = 1")
    notebook.save()
    await editor.until_codes(cell(1))


async def test_a_cell_that_was_never_python_hides_nothing(start):
    editor = await start()
    Notebook(editor, "this is no python at all", "y = x  # finds LG101", "%%bash\nls")
    await editor.until_codes(cell(1), "LG101")


async def test_while_typing(start):
    editor = await start(settings={"lint": {"run": "onType", "debounce": 0}})
    notebook = Notebook(editor, "a = 1", "y = x")
    notebook.change(1, "y = x  # finds LG101")
    await editor.until_codes(cell(1), "LG101", version=2)


async def test_cells_are_pushed_also_to_a_client_that_pulls(start):
    editor = await start(pull=True)
    Notebook(editor, "y = x  # finds LG101")
    await editor.until_codes(cell(0), "LG101")
    assert not (await editor.pull(cell(0))).items


async def test_closing_a_notebook_clears_its_cells(start):
    editor = await start()
    notebook = Notebook(editor, "y = x  # finds LG101")
    await editor.until_codes(cell(0), "LG101")
    identities = [types.TextDocumentIdentifier(each.document) for each in notebook.cells]
    editor.client.notebook_document_did_close(
        types.DidCloseNotebookDocumentParams(types.NotebookDocumentIdentifier(NOTEBOOK), identities)
    )
    await editor.until_codes(cell(0))


async def test_fix_all_in_a_notebook(start):
    editor = await start()
    Notebook(editor, "y = x  # finds LG101\n", "%time\nz = w  # finds LG201")
    await editor.until_codes(cell(1), "LG201")
    (action,) = await editor.actions(cell(0), 1, ["source.fixAll"])
    changes = (await editor.resolve(action)).edit.document_changes
    assert {change.text_document.uri for change in changes} == {cell(0), cell(1)}


async def test_the_workspace_check_reads_notebooks_on_disk(start, tmp_path):
    from json import dumps

    document = {
        "cells": [
            {"cell_type": "code", "source": "import torch\n", "metadata": {}, "outputs": []},
            {"cell_type": "code", "source": "a = 1\ny = x  # finds LG101", "metadata": {}, "outputs": []},
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    file = tmp_path / "a.ipynb"
    file.write_text(dumps(document))
    editor = await start()
    await editor.command("checkWorkspace")
    await editor.until_codes(file.as_uri(), "LG101")
    (finding,) = editor.diagnostics(file.as_uri())
    assert finding.message.startswith("cell 2: ") and finding.range.start.line == 1
