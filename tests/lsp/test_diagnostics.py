"""Diagnostics: pushed and pulled, on open and save or while typing, with their story and the hint."""

from __future__ import annotations

import asyncio
import os

import pytest
from lsprotocol import types

pytestmark = pytest.mark.asyncio

Severity = types.DiagnosticSeverity


async def test_open_shows_the_finding_with_its_story(start, story):
    editor = await start()
    document = editor.open(story)
    await editor.until_codes(document, "LG101", version=1)
    (finding,) = editor.diagnostics(document)
    assert finding.source == "loopgrad"
    assert finding.severity == Severity.Error
    assert finding.range == types.Range(types.Position(3, 13), types.Position(3, 33))
    related = finding.related_information
    assert [step.location.range.start.line for step in related] == [1, 3, 5]
    assert related[0].message.startswith("built in iteration 1: ")
    assert all(step.location.uri == document for step in related)


async def test_the_raising_line_gets_a_hint_that_leads_to_the_cause(start, story):
    editor = await start()
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    hint = next(each for each in editor.diagnostics(document, hints=True) if each.severity == Severity.Hint)
    assert hint.range.start == types.Position(5, 4)
    assert hint.message == "this raises in iteration 2; the cause is in line 4"
    assert [link.location.range.start.line for link in hint.related_information] == [3]


async def test_code_description_is_the_packaged_page(start, story):
    editor = await start()
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    href = editor.diagnostics(document)[0].code_description.href
    assert href.startswith("file:") and href.endswith("/en/LG101.md")


async def test_code_description_in_vs_code_is_an_address_of_the_extension(start, story):
    options = {"client": "vscode", "uriScheme": "vscode-insiders", "extensionId": "a.loopgrad"}
    editor = await start(options=options, locale="zh-cn")
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    href = editor.diagnostics(document)[0].code_description.href
    assert href == "vscode-insiders://a.loopgrad/rules/LG101?language=zh-cn"


async def test_on_save_waits_for_the_save(start, story):
    editor = await start()
    document = editor.open(story)
    await editor.until_codes(document, "LG101", version=1)
    editor.change(document, "x = 1\n")
    await editor.idle()
    await asyncio.sleep(0.5)
    assert editor.codes(document) == ["LG101"]
    editor.save(document)
    await editor.until_codes(document, version=2)


async def test_on_type_checks_after_a_pause(start, story):
    editor = await start(settings={"lint": {"run": "onType", "debounce": 30}})
    document = editor.open(story)
    await editor.until_codes(document, "LG101", version=1)
    version = editor.change(document, "x = 1\n")
    await editor.until_codes(document, version=version)


async def test_a_half_typed_text_keeps_its_last_good_diagnostics(start, story):
    editor = await start(settings={"lint": {"run": "onType", "debounce": 0}})
    document = editor.open(story)
    await editor.until_codes(document, "LG101", version=1)
    version = editor.edit(document, (0, 0), (0, 0), "def half(\n\n")
    await editor.until_codes(document, "LG101", version=version)
    assert editor.lines(document) == [6]  # moved along with the two new lines
    version = editor.edit(document, (0, 0), (1, 0), "")
    await editor.until_codes(document, "LG101", version=version)
    assert editor.lines(document) == [5]


async def test_a_syntax_note_only_for_those_who_want_it(start, story):
    editor = await start(settings={"lint": {"showSyntaxErrors": True}})
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    editor.save(document, "def half(\n" + story.read_text())
    await editor.until(lambda: len(editor.diagnostics(document)) == 2)
    note = next(each for each in editor.diagnostics(document) if each.code is None)
    assert note.severity == Severity.Information
    assert note.message.startswith("not analysed as it stands: ")


async def test_severities_tags_and_clients_without_related_information(start, tmp_path):
    text = "x = y  # finds LG402 note\nz = w  # finds LG203 warns built=1\n"
    editor = await start(related=False)
    document = editor.open(tmp_path / "a.py", text)
    await editor.until_codes(document, "LG203", "LG402")
    first, second = sorted(editor.diagnostics(document), key=lambda each: each.range.start.line)
    assert (first.severity, second.severity) == (Severity.Information, Severity.Warning)
    assert list(first.tags) == [types.DiagnosticTag.Unnecessary] and second.tags is None
    assert second.related_information is None
    assert "\n- built in iteration 1: " in second.message


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_columns_in_every_encoding(start, tmp_path, encoding):
    editor = await start(encodings=[types.PositionEncodingKind(encoding)])
    assert editor.result.capabilities.position_encoding == encoding
    widths = {
        "utf-8": lambda text: len(text.encode()),
        "utf-16": lambda text: len(text.encode("utf-16-le")) // 2,
    }
    units = widths.get(encoding, len)
    before, value = "名𝛼['🔥é'] = ", "f(名𝛼)"
    document = editor.open(tmp_path / "a.py", f"x = 0\n{before}old\n")
    editor.edit(document, (1, units(before)), (1, units(before + "old")), f"{value}  # finds LG101")
    editor.texts[document] = f"x = 0\n{before}{value}  # finds LG101\n"
    editor.save(document)
    await editor.until_codes(document, "LG101")
    (finding,) = editor.diagnostics(document)
    assert finding.range.start == types.Position(1, units(before))
    assert finding.range.end == types.Position(1, units(before + value))


async def test_a_form_feed_ends_no_line(start, tmp_path):
    editor = await start()
    document = editor.open(tmp_path / "a.py", "x = 1\n\x0c\ny = x  # finds LG101\n")
    await editor.until_codes(document, "LG101")
    assert editor.lines(document) == [3]
    editor.edit(document, (2, 4), (2, 5), "other")
    editor.texts[document] = "x = 1\n\x0c\ny = other  # finds LG101\n"
    editor.save(document)
    await editor.until(lambda: editor.diagnostics(document)[0].range.end.character == 9)


async def test_closing_clears(start, story):
    editor = await start()
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    editor.close(document)
    await editor.until_codes(document)


async def test_untitled_documents_and_files_outside_of_the_workspace(start, story, tmp_path_factory):
    outside = tmp_path_factory.mktemp("elsewhere") / "b.py"
    outside.write_text(story.read_text())
    editor = await start()
    one = editor.open("untitled:Untitled-1", story.read_text())
    other = editor.open(outside)
    await editor.until_codes(one, "LG101")
    await editor.until_codes(other, "LG101")
    assert all(step.location.uri == one for step in editor.diagnostics(one)[0].related_information)


async def test_no_folder_at_all(start, story):
    from_nowhere = await start(story.parent / "..")
    document = from_nowhere.open(story)
    await from_nowhere.until_codes(document, "LG101")


async def test_other_languages_are_not_analysed(start, tmp_path):
    editor = await start()
    other = editor.open(tmp_path / "a.txt", "x = y  # finds LG101\n", language="plaintext")
    document = editor.open(tmp_path / "a.py", "x = y  # finds LG101\n")
    await editor.until_codes(document, "LG101")
    assert other not in editor.shown


# Pull ------------------------------------------------------------------------------------------------


async def test_pull_answers_with_the_analysis_and_pushes_nothing(start, story):
    editor = await start(pull=True)
    assert editor.result.capabilities.diagnostic_provider is not None
    document = editor.open(story)
    report = await editor.pull(document)
    assert [each.code for each in report.items] == ["LG101", "LG101"]  # the finding and its hint
    again = await editor.pull(document, report.result_id)
    assert again.kind == "unchanged"
    editor.change(document, "x = 1\n")
    assert (await editor.pull(document, report.result_id)).kind == "unchanged"  # not saved yet
    before = editor.refreshes
    editor.save(document)
    await editor.until(lambda: editor.refreshes > before)
    last = await editor.pull(document, report.result_id)
    assert last.kind == "full" and not last.items
    assert document not in editor.shown


async def test_pull_while_typing_waits_for_the_pause(start, story):
    editor = await start(pull=True, settings={"lint": {"run": "onType", "debounce": 20}})
    document = editor.open(story)
    first = await editor.pull(document)
    editor.change(document, "x = 1\n")
    second = await editor.pull(document, first.result_id)
    assert second.kind == "full" and not second.items


async def test_a_client_may_ask_for_push_though_it_can_pull(start, story):
    editor = await start(pull=True, options={"diagnostics": "push"})
    assert editor.result.capabilities.diagnostic_provider is None
    document = editor.open(story)
    await editor.until_codes(document, "LG101")


# Other files -----------------------------------------------------------------------------------------


async def test_saving_a_module_checks_those_that_import_it(start, tmp_path):
    (tmp_path / "helper.py").write_text("f = 1\n")
    main = tmp_path / "main.py"
    main.write_text("from helper import f  # asks\n")
    editor = await start()
    document = editor.open(main)
    helper = editor.open(tmp_path / "helper.py")
    await editor.until_codes(document)
    editor.save(helper, "f = 1  # answers\n")
    await editor.until_codes(document, "LG103")
    editor.save(helper, "f = (  # answers no more, half typed\n")
    await editor.idle()
    await asyncio.sleep(0.3)
    assert editor.codes(document) == ["LG103"]
    editor.save(helper, "f = 2\n")
    await editor.until_codes(document)


async def test_a_module_that_changes_on_disk(start, tmp_path):
    helper = tmp_path / "helper.py"
    helper.write_text("f = 1\n")
    editor = await start()
    document = editor.open(tmp_path / "main.py", "from helper import f  # asks\n")
    await editor.until_codes(document)
    assert any(each.method == "workspace/didChangeWatchedFiles" for each in editor.registrations)
    helper.write_text("f = 1  # answers\n")
    editor.watched(types.FileChangeType.Changed, helper)
    await editor.until_codes(document, "LG103")
    helper.unlink()
    editor.watched(types.FileChangeType.Deleted, helper)
    await editor.until_codes(document)
    helper.write_text("f = 1  # answers\n")
    editor.watched(types.FileChangeType.Created, helper)
    await editor.until_codes(document, "LG103")


async def test_a_hint_in_another_file(start, tmp_path):
    (tmp_path / "helper.py").write_text("def step(loss):\n    loss.backward()\n")
    editor = await start()
    document = editor.open(tmp_path / "main.py", "import helper\nx = y  # finds LG101 raises=helper:2\n")
    helper = editor.open(tmp_path / "helper.py")
    await editor.until_codes(document, "LG101")
    await editor.until(lambda: editor.diagnostics(helper, hints=True))
    (hint,) = editor.diagnostics(helper, hints=True)
    assert hint.message == "this raises in iteration 2; the cause is in main.py, line 2"
    assert hint.range.start.line == 1
    editor.close(document)
    await editor.until(lambda: not editor.diagnostics(helper, hints=True))


async def test_deleted_files_are_cleared(start, tmp_path, story):
    editor = await start(settings={"diagnosticMode": "workspace"})
    from_disk = story.as_uri()
    await editor.until_codes(from_disk, "LG101")
    os.unlink(story)
    editor.watched(types.FileChangeType.Deleted, story)
    await editor.until_codes(from_disk)


async def test_a_deleted_folder_takes_its_files_along(start, tmp_path):
    folder = tmp_path / "pkg"
    folder.mkdir()
    file = folder / "a.py"
    file.write_text("x = y  # finds LG101 torch\n")
    editor = await start(settings={"diagnosticMode": "workspace"})
    await editor.until_codes(file.as_uri(), "LG101")
    file.unlink()
    folder.rmdir()
    gone = types.DeleteFilesParams([types.FileDelete(folder.as_uri())])
    editor.client.workspace_did_delete_files(gone)
    await editor.until_codes(file.as_uri())


async def test_a_document_that_is_opened_twice_or_again(start, story):
    editor = await start()
    document = editor.open(story)
    editor.open(story, "x = y  # finds LG201\n")  # a client that forgot to close it
    await editor.until_codes(document, "LG201")
    editor.close(document)
    editor.close(document)
    await editor.until_codes(document)
    editor.open(story)
    await editor.until_codes(document, "LG101")


async def test_renamed_files(start, tmp_path):
    old, new = tmp_path / "old.py", tmp_path / "new.py"
    old.write_text("x = y  # finds LG101 torch\n")
    editor = await start(settings={"diagnosticMode": "workspace"})
    await editor.until_codes(old.as_uri(), "LG101")
    old.rename(new)
    editor.client.workspace_did_rename_files(
        types.RenameFilesParams([types.FileRename(old.as_uri(), new.as_uri())])
    )
    await editor.until_codes(old.as_uri())
    await editor.until_codes(new.as_uri(), "LG101")


async def test_one_file_by_two_paths(start, tmp_path, story):
    """A link to an open file is that file: what imports it by the link sees the editor's text."""
    link = tmp_path / "helper.py"
    real = tmp_path / "real_helper.py"
    real.write_text("f = 1\n")
    link.symlink_to(real)
    editor = await start()
    document = editor.open(tmp_path / "main.py", "from helper import f  # asks\n")
    helper = editor.open(real)
    await editor.until_codes(document)
    editor.save(helper, "f = 1  # answers\n")
    await editor.until_codes(document, "LG103")
