"""Code actions: checked fixes from any line of the story, resolved late, refused when the text has changed."""

from __future__ import annotations

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

pytestmark = pytest.mark.asyncio

FIX_ALL = "source.fixAll.loopgrad"


def titles(actions):
    return [action.title for action in actions if action.kind == types.CodeActionKind.QuickFix]


@pytest.mark.parametrize("line", [2, 4, 6])
async def test_every_line_of_the_story_offers_the_fixes(start, story, line):
    editor = await start()
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    actions = await editor.actions(document, line, ["quickfix"])
    fix, explain, suppress = actions
    assert fix.is_preferred and fix.edit is None
    assert not explain.is_preferred and explain.command.command == "loopgrad.explain"
    assert not suppress.is_preferred
    resolved = await editor.resolve(fix)
    editor.apply(resolved.edit)
    assert "hidden = model(batch, hidden).detach()  # finds" in editor.texts[document]
    editor.save(document)
    await editor.until_codes(document)


async def test_other_lines_offer_nothing(start, story):
    editor = await start()
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    assert await editor.actions(document, 7, ["quickfix"]) == []


async def test_the_fix_belongs_to_the_diagnostic_that_the_client_sent(start, story):
    editor = await start()
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    mine = editor.diagnostics(document)
    fix = (await editor.actions(document, 4, ["quickfix"], diagnostics=mine))[0]
    assert [each.code for each in fix.diagnostics] == ["LG101"]


async def test_edits_name_the_version(start, story):
    editor = await start()
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    version = editor.change(document, "# more\n" + story.read_text().replace("built=2", "built=3"))
    fix = (await editor.actions(document, 5))[0]
    (change,) = (await editor.resolve(fix)).edit.document_changes
    assert change.text_document.version == version


async def test_a_client_that_resolves_nothing_gets_the_edit_at_once(start, story):
    editor = await start(lazy=False, versioned=False)
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    fix = (await editor.actions(document, 4, ["quickfix"]))[0]
    assert list(fix.edit.changes) == [document]


async def test_a_text_that_changed_since_is_not_edited(start, story):
    editor = await start()
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    actions = await editor.actions(document, 4)
    fix, everything = actions[0], next(each for each in actions if each.kind == FIX_ALL)
    editor.edit(document, (0, 0), (0, 0), "# new\n")
    for action in (fix, everything):
        with pytest.raises(JsonRpcException) as failure:
            await editor.resolve(action)
        assert failure.value.code == types.LSPErrorCodes.ContentModified


async def test_an_edited_text_is_analysed_again_only_for_those_who_ask(start, story):
    editor = await start()
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    editor.edit(document, (0, 0), (0, 0), "# new\n")
    assert await editor.actions(document, 5, invoked=False) == []
    assert titles(await editor.actions(document, 5, invoked=True))[0]
    fix = (await editor.actions(document, 5))[0]
    edit = (await editor.resolve(fix)).edit
    assert edit.document_changes[0].edits[0].range.start.line == 4


async def test_an_unsafe_fix_is_never_preferred_nor_applied_to_all(start, tmp_path):
    editor = await start()
    document = editor.open(tmp_path / "a.py", "x = y  # finds LG101 unsafe\n")
    await editor.until_codes(document, "LG101")
    actions = await editor.actions(document, 1)
    assert len(titles(actions)) == 3
    assert not any(action.is_preferred for action in actions)
    everything = next(action for action in actions if action.kind == FIX_ALL)
    assert not (await editor.resolve(everything)).edit.document_changes


async def test_two_findings_on_one_line_have_no_preferred_fix(start, tmp_path):
    text = "x = y  # finds LG101 built=2\nz = w  # finds LG201 fix=.item()\n"
    editor = await start()
    document = editor.open(tmp_path / "a.py", text)
    await editor.until_codes(document, "LG101", "LG201")
    actions = await editor.actions(document, 2, ["quickfix"])
    assert len(actions) == 6  # two fixes, two explanations, two comments
    assert not any(action.is_preferred for action in actions)
    assert [bool(action.command) for action in actions] == [False, False, True, True, False, False]


async def test_suppress_comes_last_and_works(start, story):
    editor = await start()
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    last = (await editor.actions(document, 4, ["quickfix"]))[-1]
    editor.apply((await editor.resolve(last)).edit)
    assert "loopgrad: ignore[LG101]" in editor.texts[document]
    editor.save(document)
    await editor.until_codes(document)


async def test_fix_all(start, tmp_path):
    text = "a = 'é🔥'\nx = y  # finds LG101\nz = w  # finds LG201 warns\nn = m  # finds LG402 note\n"
    editor = await start()
    document = editor.open(tmp_path / "a.py", text)
    await editor.until_codes(document, "LG101", "LG201", "LG402")
    for only in (["source.fixAll"], [FIX_ALL], ["source"]):
        (action,) = await editor.actions(document, 1, only)
        assert action.kind == FIX_ALL
    editor.apply((await editor.resolve(action)).edit)
    assert editor.texts[document] == (
        "a = 'é🔥'\nx = y.detach()  # finds LG101\nz = w.detach()  # finds LG201 warns\nn = m  # finds LG402 note\n"
    )


async def test_fix_all_on_save_speaks_of_the_unsaved_text(start, tmp_path):
    editor = await start()
    document = editor.open(tmp_path / "a.py", "x = 1\n")
    await editor.until_codes(document, version=1)
    editor.change(document, "x = y  # finds LG101\n")
    (action,) = await editor.actions(document, 1, ["source.fixAll"], invoked=False)
    editor.apply((await editor.resolve(action)).edit)
    assert editor.texts[document] == "x = y.detach()  # finds LG101\n"


async def test_the_command_fixes_what_is_open(start, tmp_path):
    editor = await start()
    one = editor.open(tmp_path / "a.py", "x = y  # finds LG101\n")
    two = editor.open(tmp_path / "b.py", "z = w  # finds LG201 warns\n")
    await editor.until_codes(one, "LG101")
    await editor.until_codes(two, "LG201")
    answer = await editor.command("fixAll")
    assert answer["applied"] and len(answer["fixes"]) == 2
    assert editor.texts[one].startswith("x = y.detach()")
    assert editor.texts[two].startswith("z = w.detach()")
    assert not (await editor.command("fixAll", one))["applied"]


async def test_windows_newlines_stay(start, tmp_path):
    editor = await start()
    document = editor.open(tmp_path / "a.py", "import torch\r\nx = y  # finds LG101\r\nz = 1\r\n")
    await editor.until_codes(document, "LG101")
    fix = (await editor.actions(document, 2, ["quickfix"]))[0]
    (change,) = (await editor.resolve(fix)).edit.document_changes
    (edit,) = change.edits
    assert (edit.range.start.line, edit.range.start.character, edit.new_text) == (1, 5, ".detach()")


# Hovers and lenses -----------------------------------------------------------------------------------


async def test_hover_on_a_variable_tells_since_when_it_carries_a_graph(start, story):
    editor = await start()
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    text = await editor.hover(document, 5, 13)
    assert text.startswith("`hidden` carries a graph that is built in line 2, in iteration 1.")
    assert "[LG101](file:" in text and f"[line 6]({document}#L6)" in text
    assert await editor.hover(document, 7, 2) == ""
    assert await editor.hover(document, 5, 6) == ""


async def test_hover_on_a_rule_code_in_a_comment(start, tmp_path):
    editor = await start(locale="zh-CN")
    document = editor.open(tmp_path / "a.py", "x = 1  # loopgrad: ignore[LG101, LG999]\nLG101 = 2\n")
    await editor.idle()
    text = await editor.hover(document, 1, 29)
    assert "LG101: loop-carried-graph" in text and "计算图" in text and "zh-cn/LG101.md" in text
    assert "LG999" in await editor.hover(document, 1, 35)
    assert await editor.hover(document, 2, 2) == ""


async def test_lenses_only_for_a_client_that_can_confirm(start, tmp_path):
    text = (
        "for a in b:\n    for c in d:\n        loss.backward()\n"
        "def train():\n    while x:\n        y = z  # finds LG201 loop=5\n"
    )
    file = tmp_path / "a.py"
    file.write_text(text)
    without = await start()
    assert without.result.capabilities.code_lens_provider is None
    editor = await start(options={"commands": ["loopgrad.confirm"]})
    document = editor.open(file)
    params = types.CodeLensParams(types.TextDocumentIdentifier(document))
    lenses = await editor.client.text_document_code_lens_async(params)
    assert [lens.range.start.line for lens in lenses] == [1, 4]
    assert {lens.command.command for lens in lenses} == {"loopgrad.confirm"}
    first, second = (lens.command.arguments[0] for lens in lenses)
    assert first == {"uri": document, "line": 1, "codes": []}
    assert second["codes"] == ["LG201"]
    assert editor.lens_refreshes == 1
    editor.save(
        document, text.replace("while", "for a in b:\n        pass\n    while").replace("loop=5", "loop=7")
    )
    await editor.until(lambda: editor.lens_refreshes == 2)
    untitled = editor.open("untitled:a", text)
    params = types.CodeLensParams(types.TextDocumentIdentifier(untitled))
    assert not await editor.client.text_document_code_lens_async(params)
