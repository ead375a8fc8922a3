"""Settings of the editor by folder, settings of the project, and the client's language."""

from __future__ import annotations

import pytest
from lsprotocol import types

pytestmark = pytest.mark.asyncio

TWO = "x = y  # finds LG101\nz = w  # finds LG201 warns\n"


async def test_select_ignore_and_severity(start, tmp_path):
    editor = await start(settings={"select": ["LG2"], "severity": {"LG201": "information"}})
    document = editor.open(tmp_path / "a.py", TWO)
    await editor.until_codes(document, "LG201")
    assert editor.diagnostics(document)[0].severity == types.DiagnosticSeverity.Information
    editor.configure({"ignore": ["LG101"], "severity": {"warning": "error"}})
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    await editor.until(
        lambda: [each.severity for each in editor.diagnostics(document)] == [types.DiagnosticSeverity.Error]
    )
    editor.configure({"severity": {"LG1": "off"}})
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    await editor.until(
        lambda: [each.severity for each in editor.diagnostics(document)] == [types.DiagnosticSeverity.Warning]
    )


async def test_each_folder_has_its_own(start, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        (folder / "a.py").write_text(TWO)
    from loopgrad_tests_lsp_editor import Editor

    editor = Editor()
    editor.configure({})
    editor.configure({"ignore": ["LG201"]}, one)
    editor.configure({"lint": {"enable": False}}, two)
    await editor.start(one, two)
    try:
        first, second = editor.open(one / "a.py"), editor.open(two / "a.py")
        third = editor.open(tmp_path / "a.py", TWO)
        await editor.until_codes(first, "LG101")
        await editor.until_codes(third, "LG101", "LG201")
        assert editor.codes(second) == []
        gone = types.WorkspaceFoldersChangeEvent([], [types.WorkspaceFolder(two.as_uri(), "two")])
        editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(gone))
        await editor.until_codes(second, "LG101", "LG201")
    finally:
        await editor.stop()


async def test_pyproject_and_its_changes(start, tmp_path):
    project = tmp_path / "pyproject.toml"
    project.write_text('[tool.loopgrad]\nignore = ["LG201"]\n')
    editor = await start()
    document = editor.open(tmp_path / "a.py", TWO)
    await editor.until_codes(document, "LG101")
    project.write_text('[tool.loopgrad]\nexclude = ["a.py"]\n')
    editor.watched(types.FileChangeType.Changed, project)
    await editor.until_codes(document)
    project.write_text('[tool.loopgrad]\nignroe = ["LG201"]\n')
    editor.watched(types.FileChangeType.Changed, project)
    await editor.until_codes(document, "LG101", "LG201")
    assert any("ignroe" in each.message for each in editor.client.log_messages)
    assert editor.client.messages == []  # nobody asked for boxes


async def test_mistakes_in_settings_cost_no_diagnostics(start, tmp_path):
    editor = await start(
        settings={"select": ["NONSENSE"], "lint": 3, "severity": ["x"], "showNotifications": "always"}
    )
    document = editor.open(tmp_path / "a.py", TWO)
    await editor.until_codes(document, "LG101", "LG201")
    assert any("NONSENSE" in each.message for each in editor.client.messages)


async def test_patterns_and_switching_off(start, tmp_path):
    editor = await start(settings={"ignorePatterns": ["vendor"]})
    vendored = editor.open(tmp_path / "vendor" / "a.py", TWO)
    document = editor.open(tmp_path / "a.py", TWO)
    await editor.until_codes(document, "LG101", "LG201")
    assert editor.codes(vendored) == []
    editor.configure({"diagnosticMode": "off"})
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    await editor.until_codes(document)


async def test_settings_of_clients_without_configuration_requests(start, tmp_path):
    editor = await start(configuration=False, options={"settings": {"ignore": ["LG101"]}})
    document = editor.open(tmp_path / "a.py", TWO)
    await editor.until_codes(document, "LG201")
    sent = types.DidChangeConfigurationParams({"loopgrad": {"ignore": ["LG201"]}})
    editor.client.workspace_did_change_configuration(sent)
    await editor.until_codes(document, "LG101")


@pytest.mark.parametrize(("locale", "word"), [("zh-cn", "计算图"), ("zh_Hans_CN", "计算图"), ("de", "graph")])
async def test_the_language_is_the_clients(start, story, locale, word):
    editor = await start(locale=locale)
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    assert word in editor.diagnostics(document)[0].message
    if locale.startswith("zh"):
        hint = next(each for each in editor.diagnostics(document, hints=True) if each.severity == 4)
        assert hint.message == "此处在第 2 次迭代抛出异常；原因在第 4 行"
        assert "zh-cn" in hint.code_description.href
