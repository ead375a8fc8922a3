"""The text of a document against a plain model of it, the shift of lines, and small readers."""

from __future__ import annotations

import random

import pytest

from loopgrad.lsp.client import Client
from loopgrad.lsp.settings import Settings, SettingsStore
from loopgrad.lsp.text import Columns, LineShift, Text, split_keeping_ends
from loopgrad.lsp.tracebacks import read_traceback
from loopgrad.messages import lsp_en, lsp_zh


def plain_offset(text: str, line: int, units: int, encoding: str) -> int:
    """The offset of a position, counted the slow way."""
    lines = split_keeping_ends(text)
    if line >= len(lines):
        return len(text)
    start = sum(len(each) for each in lines[:line])
    content = lines[line].rstrip("\r\n")
    for index in range(len(content) + 1):
        before = content[:index]
        width = {"utf-8": len(before.encode()), "utf-16": len(before.encode("utf-16-le")) // 2}
        if width.get(encoding, index) > units:
            return start + index - 1
    return start + len(content)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_any_edits(encoding):
    chance = random.Random(encoding)
    columns = Columns(encoding)
    pieces = [
        "",
        "x",
        "\n",
        "\r",
        "\r\n",
        "é🔥\n",
        "a\rb",
        "名\x0c",
        "\u2028",
        "if 1:\n    pass\n",
        "\n\n\r\n\r",
    ]
    for _ in range(60):
        model = "".join(chance.choice(pieces) for _ in range(chance.randrange(12)))
        text = Text(model)
        for _ in range(40):
            lines = len(split_keeping_ends(model)) + 1
            ends = sorted((chance.randrange(lines + 1), chance.randrange(9)) for _ in range(2))
            new = chance.choice(pieces)
            start, end = (plain_offset(model, *each, encoding) for each in ends)
            text.edit(*ends, new, columns)
            model = model[:start] + new + model[max(start, end) :]
            assert text.text == model
            assert list(text.lines) == split_keeping_ends(model)


def test_positions_beyond_the_text():
    text = Text("ab\ncd")
    text.edit((0, 99), (0, 99), "!", Columns())
    text.edit((9, 9), (9, 9), "\nend", Columns())
    assert text.text == "ab!\ncd\nend"
    assert (Text("").count, Text("a").count, Text("a\n").count) == (1, 1, 2)


def test_lines_move_with_the_text():
    old = ["a", "b", "c", "d"]
    shift = LineShift.between(old, ["new", "a", "b", "c", "d"])
    assert [shift.line(number) for number in (1, 4)] == [2, 5]
    shift = LineShift.between(old, ["a", "x", "y", "d"])
    assert [shift.line(number) for number in (1, 2, 3, 4)] == [1, 2, 3, 4]
    assert shift.touches(2, 2) and not shift.touches(1, 1) and not shift.touches(4, 4)
    shift = LineShift.between(old, ["a", "d"])
    assert [shift.line(number) for number in (1, 2, 3, 4)] == [1, 1, 1, 2]
    assert LineShift.between(old, old).nothing


def test_settings_nested_dotted_and_wrong():
    assert Settings.read({"lint.run": "onType"}).on_type
    assert Settings.read({"lint": {"run": "onType"}}).on_type
    for wrong in (None, 3, [], {"lint": {"run": 1, "enable": "no", "debounce": -1}, "select": "LG1"}):
        assert Settings.read(wrong) == Settings()
    assert Settings.read({"severity": {"LG1": "Info", "LG2": "none", "LG3": "loud"}}).severity == (
        ("LG1", "information"),
        ("LG2", "off"),
    )
    store = SettingsStore(folders={"/a": Settings(run="onType"), "/a/b": Settings()})
    assert (
        store.of("/a/x.py").on_type and not store.of("/a/b/x.py").on_type and not store.of("/ab.py").on_type
    )
    assert Client.read(None) == Client.read(["x"]) == Client()


def test_frames_of_many_kinds():
    text = (
        'Traceback (most recent call last):\n  File "a b.py", line 3, in f\n    x = 1\n'
        "File ~/proj/train.py:12, in main()\n     11 x\n---> 12 loss.backward()\n"
        "Cell In[3], line 2\n      1 a\n----> 2 step()\n"
        "<ipython-input-5-abc> in <module>\n----> 7 run()\n"
        "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn\n"
    )
    read = read_traceback(text)
    assert read.outcome == "no-grad-fn"
    assert [(frame.path, frame.line, frame.text) for frame in read.frames] == [
        ("a b.py", 3, "x = 1"),
        ("~/proj/train.py", 12, "loss.backward()"),
        ("", 2, "step()"),
        ("", 7, "run()"),
    ]
    assert read_traceback("x" * 100_000).frames == ()


def test_both_catalogues_are_complete():
    import string

    assert lsp_en.MESSAGES.keys() == lsp_zh.MESSAGES.keys()
    for key, english in lsp_en.MESSAGES.items():
        names = [
            {field for _, field, _, _ in string.Formatter().parse(text) if field}
            for text in (english, lsp_zh.MESSAGES[key])
        ]
        assert names[0] == names[1], key
