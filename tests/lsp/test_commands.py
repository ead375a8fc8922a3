"""Commands: the whole workspace, an explanation, from a traceback to the cause."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

pytestmark = pytest.mark.asyncio

RAISED = "RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors"


def python_traceback(path, line):
    return (
        "Traceback (most recent call last):\n"
        f'  File "{path}", line {line}, in <module>\n'
        "    loss.backward()\n"
        '  File "/usr/lib/python3.11/site-packages/torch/_tensor.py", line 581, in backward\n'
        "    torch.autograd.backward(\n"
        f"{RAISED}\n"
    )


async def test_check_workspace_with_progress(start, tmp_path):
    for number in range(5):
        (tmp_path / f"a{number}.py").write_text("import torch\nx = y  # finds LG101\n")
    (tmp_path / "broken.py").write_text("import torch\ndef (\n")
    (tmp_path / "skipped.py").write_text("x = y\n")
    editor = await start()
    answer = await editor.command("checkWorkspace")
    assert (answer["files"], answer["total"], answer["cancelled"]) == (7, 7, False)
    assert (answer["errors"], answer["unreadable"]) == (5, 1)
    assert editor.codes((tmp_path / "a3.py").as_uri()) == ["LG101"]
    (reports,) = editor.client.progress_reports.values()
    assert reports[0].kind == "begin" and reports[0].cancellable
    assert [report.message for report in reports[1:-1]][-1] == "7 of 7 files"
    assert reports[-1].kind == "end"


async def test_a_workspace_check_can_be_stopped_and_gives_way_to_the_editor(start, tmp_path):
    for number in range(20):
        (tmp_path / f"a{number:02}.py").write_text("import torch  # sleep 0.4\n")
    editor = await start()
    check = asyncio.ensure_future(editor.command("checkWorkspace"))
    await editor.until(lambda: any(len(each) > 1 for each in editor.client.progress_reports.values()))
    document = editor.open(tmp_path / "mine.py", "x = y  # finds LG101\n")
    await editor.until_codes(document, "LG101")
    assert not check.done()
    (token,) = editor.client.progress_reports
    editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    answer = await check
    assert answer["cancelled"] and 0 < answer["files"] < 20


async def test_a_file_of_the_check_is_pushed_once_it_is_open(start, story):
    editor = await start(pull=True)
    await editor.command("checkWorkspace")
    await editor.until_codes(story.as_uri(), "LG101")
    document = editor.open(story)
    assert [each.code for each in (await editor.pull(document)).items] == ["LG101", "LG101"]
    await editor.until_codes(story.as_uri())


async def test_explain(start, story):
    editor = await start()
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    answer = await editor.command("explain", "lg101")
    assert answer["name"] == "loop-carried-graph" and answer["markdown"].startswith("# LG101")
    assert "<!--" not in answer["markdown"] and answer["finding"] is None
    action = next(each for each in await editor.actions(document, 4) if each.command)
    argument = action.command.arguments[0]
    answer = await editor.command("explain", argument)
    assert [step["role"] for step in answer["finding"]["story"]] == ["built", "carried", "reached"]
    assert answer["finding"]["story"][2]["source"] == "loss.backward()"
    assert answer["finding"]["raisedAt"]["range"]["start"] == {"line": 5, "character": 4}
    assert [each.endswith("LG101.md") for each in editor.documents] == [True]
    with pytest.raises(JsonRpcException, match="LG999"):
        await editor.command("explain", "LG999")


@pytest.mark.parametrize("opened", [True, False])
async def test_from_a_traceback_to_the_cause(start, story, opened):
    editor = await start()
    if opened:
        editor.open(story)
    answer = await editor.command("fromTraceback", python_traceback(story, 6))
    assert answer["uri"] == story.as_uri()
    assert answer["range"]["start"] == {"line": 3, "character": 13}
    assert answer["finding"]["code"] == "LG101"
    assert answer["message"] == "LG101 in line 4 is the cause"


async def test_a_traceback_of_another_machine_and_of_ipython(start, story):
    editor = await start()
    answer = await editor.command("fromTraceback", {"text": python_traceback("/home/her/work/train.py", 6)})
    assert answer["uri"] == story.as_uri()
    text = (
        "\x1b[0;31mRuntimeError\x1b[0m   Traceback (most recent call last)\n"
        f"File {story}:6\n      4     hidden = model(batch, hidden)\n----> 6     loss.backward()\n\n{RAISED}\n"
    )
    assert (await editor.command("fromTraceback", text))["finding"]["code"] == "LG101"


async def test_a_traceback_that_nothing_explains(start, story, tmp_path):
    other = tmp_path / "other.py"
    other.write_text("import torch\nloss.backward()\n")
    editor = await start()
    answer = await editor.command("fromTraceback", python_traceback(other, 2))
    assert answer["finding"] is None and answer["range"]["start"]["line"] == 1
    other_fault = python_traceback(story, 6).replace(
        RAISED, "RuntimeError: ... modified by an inplace operation"
    )
    assert (await editor.command("fromTraceback", other_fault))["finding"] is None
    assert (await editor.command("fromTraceback", "nothing"))["uri"] is None
    assert (await editor.command("fromTraceback", python_traceback("/x/y/z.py", 1)))["uri"] is None
    with pytest.raises(JsonRpcException):
        await editor.command("fromTraceback")


async def test_the_status(start, story):
    editor = await start(options={"status": True})
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    await editor.until(lambda: editor.statuses[-2:] == ["busy", "idle"])


async def test_a_checked_file_stays_checked_when_it_is_closed_again(start, story):
    editor = await start()
    await editor.command("checkWorkspace")
    document = editor.open(story)
    editor.save(document, "x = 1\n")
    await editor.until_codes(document, version=2)
    editor.save(document, "import torch\nx = y  # finds LG201\n")
    await editor.until_codes(document, "LG201", version=3)
    editor.close(document)
    await editor.until(lambda: editor.shown[document].version is None and editor.codes(document) == ["LG201"])
