"""What a run has shown: told by the client, said in the diagnostic until the document changes."""

from __future__ import annotations

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

pytestmark = pytest.mark.asyncio

ABLE = {"commands": ["loopgrad.confirm"]}


def report(code="LG101", line=4, status="confirmed", path="train.py", **more):
    """What ``loopgrad confirm --output-format json`` prints, as far as it matters here."""
    where = {"start": {"line": line, "column": 5}, "end": {"line": line, "column": 9}}
    finding = {"code": code, "path": path, "range": where, "status": status}
    return {"verdict": "confirmed", "device": "cpu", "iteration": 2, "findings": [finding], **more}


async def test_a_confirmed_finding_says_so_until_the_document_changes(start, story):
    editor = await start(options=ABLE)
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    plain = editor.diagnostics(document)[0].message
    argument = {"report": report(), "folder": str(story.parent)}
    assert await editor.command("confirmed", argument) == {"marked": 1}
    await editor.until(lambda: editor.diagnostics(document)[0].message != plain)
    (shown,) = editor.diagnostics(document)
    assert shown.message == f"{plain} (confirmed on cpu in iteration 2)"
    assert shown.data["confirmed"] == {"status": "confirmed", "device": "cpu", "iteration": 2}
    answer = await editor.command("explain", {"code": "LG101", "key": shown.data["key"]})
    assert answer["finding"]["confirmed"]["device"] == "cpu"
    editor.save(document)  # the same text
    await editor.command("explain", "LG101")
    assert editor.diagnostics(document)[0].message == shown.message
    editor.edit(document, (0, 0), (0, 0), "# new\n")
    await editor.until(lambda: editor.diagnostics(document)[0].message == plain)
    assert editor.lines(document) == [5]
    # The text is another one, so the report speaks of nothing that is shown.
    assert await editor.command("confirmed", argument) == {"marked": 0}


@pytest.mark.parametrize(
    ("locale", "more", "said"),
    [
        ("en", {"status": "refuted"}, " (a complete run on cpu does not bear it out)"),
        ("zh-cn", {"status": "refuted"}, "（在 cpu 上的完整运行没有证实它）"),
        ("zh-cn", {}, "（已在 cpu 上于第 2 次迭代确认）"),
        ("en", {"iteration": None, "device": "cuda:0"}, " (confirmed on cuda:0)"),
        ("en", {"shape_only": True}, " (confirmed by shapes alone in iteration 2)"),
    ],
)
async def test_what_is_said(start, story, locale, more, said):
    editor = await start(options=ABLE, locale=locale)
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    argument = {"report": report(**more), "folder": story.parent.as_uri()}
    assert await editor.command("confirmed", argument) == {"marked": 1}
    await editor.until(lambda: editor.diagnostics(document)[0].message.endswith(said))
    refuted = more.get("status") == "refuted"
    assert (editor.diagnostics(document)[0].severity == types.DiagnosticSeverity.Information) == refuted


async def test_a_client_that_pulls_is_asked_to_pull_again(start, story):
    editor = await start(pull=True, options=ABLE)
    document = editor.open(story)
    first = await editor.pull(document)
    before = editor.refreshes
    await editor.command("confirmed", {"report": report(), "folder": str(story.parent)})
    await editor.until(lambda: editor.refreshes > before)
    second = await editor.pull(document, first.result_id)
    assert second.kind == "full" and second.items[0].message.endswith("(confirmed on cpu in iteration 2)")


async def test_a_later_run_takes_the_place_of_an_earlier_one(start, story):
    editor = await start(options=ABLE)
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    for status, ending in (("confirmed", "in iteration 2)"), ("refuted", "bear it out)")):
        await editor.command("confirmed", {"report": report(status=status), "folder": str(story.parent)})
        await editor.until(lambda ending=ending: editor.diagnostics(document)[0].message.endswith(ending))
    await editor.command("confirmed", {"report": report(status="not reached"), "folder": str(story.parent)})
    await editor.until(lambda: not editor.diagnostics(document)[0].message.endswith(")"))


async def test_reports_that_name_other_findings_or_are_none(start, story):
    editor = await start(options=ABLE)
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    others = (
        report(line=5),
        report(code="LG201"),
        report(path="other.py"),
        {"findings": 3},
        {"findings": [3, {}, {"code": "LG101", "path": 7, "range": {}, "status": "confirmed"}]},
    )
    for each in others:
        answer = await editor.command("confirmed", {"report": each, "folder": str(story.parent)})
        assert answer == {"marked": 0}
    for wrong in ((), ({"report": 3},), ("text",)):
        with pytest.raises(JsonRpcException):
            await editor.command("confirmed", *wrong)


async def test_a_finding_can_be_confirmed_from_any_line_of_its_story(start, story, tmp_path):
    editor = await start(options=ABLE)
    document = editor.open(story)
    await editor.until_codes(document, "LG101")
    for line in (2, 4, 6):
        actions = await editor.actions(document, line, ["quickfix"])
        titles = [action.title for action in actions]
        assert titles[1:3] == ["Explain LG101", "Confirm LG101 on device"] and len(titles) == 4
    command = actions[2].command
    assert command.command == "loopgrad.confirm" and not actions[2].is_preferred
    (argument,) = command.arguments
    assert argument == {"uri": document, "line": 2, "codes": ["LG101"], "key": ["LG101", str(story), 4, 14]}
    untitled = editor.open("untitled:a", story.read_text())
    await editor.until_codes(untitled, "LG101")
    assert not any("device" in action.title for action in await editor.actions(untitled, 4))
    without = await start()
    document = without.open(story)
    await without.until_codes(document, "LG101")
    assert not any("device" in action.title for action in await without.actions(document, 4))


async def test_lenses_stand_above_every_loop_that_trains(start, tmp_path):
    text = (
        "def step(batch):\n    loss = model(batch)\n    loss.backward()\n"
        "def epoch(data):\n    for batch in data:\n        step(batch)\n"
        "for number in range(3):\n    epoch(data)\n"
        "while True:\n    def closure():\n        loss.backward()\n    optimizer.update(closure)\n"
        "for name in names:\n    print(name)\n"
        "for a in b:\n    self.manual_backward(a)\n"
    )
    editor = await start(options=ABLE)
    document = editor.open(tmp_path / "a.py", text)
    params = types.CodeLensParams(types.TextDocumentIdentifier(document))
    lenses = await editor.client.text_document_code_lens_async(params)
    assert [lens.range.start.line + 1 for lens in lenses] == [5, 9, 15]
