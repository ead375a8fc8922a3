"""Fixes of several steps, and the edits they come out as."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import libcst
import pytest

from loopgrad.fixes import EditError, apply
from loopgrad.fixes.edits import edits_of, file_edits
from loopgrad.model import Edit, Range, Step


def at(text: str, part: str, nth: int = 1) -> Range:
    """The range of the nth occurrence of a part that lies on one line."""
    offset = -1
    for _ in range(nth):
        offset = text.index(part, offset + 1)
    line = text.count("\n", 0, offset) + 1
    column = offset - (text.rfind("\n", 0, offset) + 1) + 1
    return Range(line, column, line, column + len(part))


def done(text: str, *steps: Step) -> str:
    return apply(text, file_edits("t.py", text, steps))


def test_an_edit_is_as_small_as_can_be():
    text = "loss.backward(retain_graph=True, inputs=None)\n"
    (edit,) = file_edits("t.py", text, [Step("delete_argument", "t.py", at(text, "retain_graph=True"))])
    assert edit == Edit("t.py", Range(1, 15, 1, 34), "")


def test_appending_only_inserts():
    text = "x = a - b\r\n"
    edits = file_edits("t.py", text, [Step("append", "t.py", Range(1, 5, 1, 10), ".detach()")])
    assert edits == (
        Edit("t.py", Range(1, 5, 1, 5), "("),
        Edit("t.py", Range(1, 10, 1, 10), ").detach()"),
    )


def test_nested_expressions_in_one_fix():
    text = "x = a - b + c\n"
    steps = [
        Step("append", "t.py", at(text, "a - b + c"), ".sum()"),
        Step("append", "t.py", at(text, "a - b"), ".detach()"),
        Step("append", "t.py", at(text, "a"), ".item()"),
        Step("replace", "t.py", at(text, "c"), "f({0})"),
    ]
    expected = "x = ((a.item() - b).detach() + f(c)).sum()\n"
    assert done(text, *steps) == expected
    assert done(text, *reversed(steps)) == expected


def test_two_insertions_at_one_place_keep_their_order():
    text = "for x in y:\n    h = 1\n"
    steps = [Step("insert_after", "t.py", at(text, "h = 1"), line) for line in ("a = 1", "b = 2")]
    assert done(text, *steps) == "for x in y:\n    h = 1\n    a = 1\n    b = 2\n"


def test_two_insertions_open_a_suite_once():
    text = "for x in y: h = 1\n"
    steps = [Step("insert_after", "t.py", at(text, "h = 1"), line) for line in ("a = 1", "b = 2")]
    assert done(text, *steps) == "for x in y:\n    h = 1\n    a = 1\n    b = 2\n"


def test_a_statement_moves_with_a_change_inside():
    text = "h = start()\nfor x in y:\n    f(h)\n"
    steps = [
        Step("move_into_body", "t.py", at(text, "h = start()"), other=Range(2, 1, 3, 9)),
        Step("append", "t.py", at(text, "start()"), ".detach()"),
    ]
    assert done(text, *steps) == "for x in y:\n    h = start().detach()\n    f(h)\n"


def test_statements_around_a_changed_one():
    text = "def f(x):\n    y = x\n    return y\n"
    steps = [
        Step("append", "t.py", at(text, "x", 2), ".detach()"),
        Step("insert_before", "t.py", at(text, "y = x"), "a = 1"),
        Step("insert_after", "t.py", at(text, "y = x"), "b = 2"),
        Step("decorate", "t.py", Range(1, 1, 3, 13), "@cached"),
    ]
    assert done(text, *steps) == (
        "@cached\ndef f(x):\n    a = 1\n    y = x.detach()\n    b = 2\n    return y\n"
    )


def test_torch_is_imported_once_for_two_steps():
    text = "import os\na = f()\nb = 1\nc = f()\n"
    steps = [Step("wrap", "t.py", at(text, part), "with torch.no_grad():") for part in ("a = f()", "c = f()")]
    assert done(text, *steps) == (
        "import os\nimport torch\nwith torch.no_grad():\n    a = f()\n"
        "b = 1\nwith torch.no_grad():\n    c = f()\n"
    )


def test_steps_in_two_files():
    texts = {"a.py": "x = y\n", "b.py": "z = w\n"}
    steps = [Step("append", path, Range(1, 5, 1, 6), ".detach()") for path in texts]
    edits = edits_of(steps, texts.__getitem__)
    assert [edit.path for edit in edits] == ["a.py", "b.py"]


def test_a_line_separator_inside_a_string_is_no_line_end():
    text = "a = '\u2028\x0c'\nx = y\n"
    assert done(text, Step("append", "t.py", Range(2, 5, 2, 6), ".z")) == "a = '\u2028\x0c'\nx = y.z\n"


def test_a_carriage_return_is_a_line_end():
    text = "a = 1\rx = y\r"
    assert done(text, Step("insert_after", "t.py", Range(1, 1, 1, 6), "b = 2")) == "a = 1\rb = 2\rx = y\r"


def test_steps_that_write_over_each_other_are_refused():
    text = "a = 1\nb = 2\n"
    with pytest.raises(EditError):
        done(
            text, Step("delete", "t.py", at(text, "a = 1")), Step("wrap", "t.py", at(text, "a = 1"), "if x:")
        )


@pytest.mark.parametrize(
    "step",
    [
        Step("append", "t.py", Range(9, 1, 9, 2), ".x"),
        Step("append", "t.py", Range(1, 5, 1, 99), ".x"),
        Step("append", "t.py", Range(1, 5, 1, 1), ".x"),
        Step("append", "t.py", Range(1, 5, 1, 6), ".1"),
        Step("frobnicate", "t.py", Range(1, 1, 1, 6)),
        Step("replace", "t.py", Range(1, 5, 1, 6), "{0}"),
        Step("wrap", "t.py", Range(1, 1, 1, 6), "with f(:"),
        Step("move_before", "t.py", Range(1, 1, 1, 6)),
    ],
)
def test_what_does_not_fit_is_refused(step):
    with pytest.raises(EditError):
        file_edits("t.py", "a = b\n", [step])


@pytest.mark.parametrize("text", ["a = (\n", "a = '\x00'\n", ""])
def test_a_file_that_does_not_parse_is_left_alone(text):
    with pytest.raises(EditError):
        file_edits("t.py", text, [Step("suppress", "t.py", Range(1, 1, 1, 1), "LG101")])


def test_overlapping_edits_are_refused():
    edits = [Edit("t.py", Range(1, 1, 1, 3), "x"), Edit("t.py", Range(1, 2, 1, 4), "y")]
    with pytest.raises(EditError):
        apply("abcdef\n", edits)


def test_a_byte_order_mark_takes_no_column():
    assert apply("\ufeffx = y\n", [Edit("t.py", Range(1, 1, 1, 2), "z")]) == "\ufeffz = y\n"


LOADED = """
import sys
from loopgrad import fixes
from loopgrad.cli import main
from loopgrad.fixes.edits import file_edits
from loopgrad.model import Range, Step

def is_loaded():
    return "libcst" in sys.modules

main(["check", sys.argv[1], "--exit-zero"])
print(is_loaded())
file_edits("t.py", "x = y", [Step("append", "t.py", Range(1, 5, 1, 6), ".z")])
print(is_loaded())
"""


def test_libcst_is_loaded_with_the_first_fix(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text("import torch\nx = torch.ones(2)\nx = x.detach()\n")
    run = subprocess.run(
        [sys.executable, "-c", LOADED, str(script)], capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines()[-2:] == ["False", "True"]


APPEND = Step("append", "t.py", Range(1, 5, 1, 6), ".z")


def test_a_statement_that_libcst_cannot_read_gets_no_fix(monkeypatch):
    def refuse(text):
        raise libcst.ParserSyntaxError("new syntax", lines=[text], raw_line=1, raw_column=0)

    monkeypatch.setattr(libcst, "parse_module", refuse)
    with pytest.raises(EditError, match="libcst cannot read"):
        file_edits("t.py", "x = y\n", [APPEND])


def test_a_statement_that_libcst_loses_something_of_gets_no_fix():
    # A form feed within the indentation sets the tokenizer's column back, which libcst does not know.
    text = "if a:\n  \f  x = y\n"
    with pytest.raises(EditError, match="libcst"):
        file_edits("t.py", text, [Step("insert_after", "t.py", Range(2, 6, 2, 11), "z = 1")])


def test_no_other_statement_has_to_be_read():
    text = "if a:\n  \f  x = y\nz = w\n"
    assert done(text, Step("append", "t.py", Range(3, 5, 3, 6), ".z")) == text.replace("w", "w.z")
    assert done(text, Step("insert_after", "t.py", Range(1, 1, 2, 11), "v = 1")).endswith("y\nv = 1\nz = w\n")


def test_a_statement_nested_too_deeply_gets_no_fix():
    text = f"x = {'a + ' * 600}b\n"
    with pytest.raises(EditError, match="nested"):
        file_edits("t.py", text, [Step("append", "t.py", at(text, "b"), ".z")])


def test_form_feeds_between_definitions_stay():
    text = "\fx = a - b\n\f\n\fdef f():\n    pass\n"
    assert done(text, Step("append", "t.py", Range(1, 6, 1, 11), ".z")) == text.replace("a - b", "(a - b).z")
    step = Step("insert_after", "t.py", Range(1, 2, 1, 11), "z = 1")
    assert done(text, step) == text.replace("a - b\n", "a - b\nz = 1\n")


def test_letters_next_to_an_expression_make_no_other_name_of_it():
    text = "return_ = not(a)if[b]else-c\n"
    steps = [
        Step("append", "t.py", at(text, "[b]"), ".x"),
        Step("append", "t.py", at(text, "-c"), ".y"),
        Step("replace", "t.py", at(text, "a"), "d"),
    ]
    assert done(text, *steps) == "return_ = not(d)if([b].x)else(-c).y\n"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="syntax of Python 3.11")
def test_an_exception_group():
    text = "try:\n    f()\nexcept* module:  # c\n    pass\n"
    assert done(text, Step("append", "t.py", at(text, "module"), ".error")) == text.replace(
        "module", "module.error"
    )


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
def test_quotes_within_an_f_string():
    text = "x = f'{a['b'] - c}'\n"
    assert done(text, Step("append", "t.py", at(text, "a['b'] - c"), ".d")) == "x = f'{(a['b'] - c).d}'\n"


def test_magics_of_a_notebook_stay_as_they_are():
    text = "# %%\n%matplotlib inline\nx = a - b\n%time y = x - a\n!ls\n"
    assert done(text, Step("append", "t.py", at(text, "a - b"), ".z")) == text.replace("a - b", "(a - b).z")
    assert done(text, Step("append", "t.py", at(text, "x - a"), ".z")) == text.replace("x - a", "(x - a).z")
    step = Step("insert_after", "t.py", at(text, "x = a - b"), "z = 1")
    assert done(text, step) == text.replace("a - b\n", "a - b\nz = 1\n")
    with pytest.raises(EditError, match="libcst cannot read"):
        done(text, Step("delete", "t.py", at(text, "y = x - a")))


def test_edits_do_not_touch():
    """Whoever applies edits from the last to the first gets the same text in every order of equal positions."""
    text = "import torch\n\nout = net(x)\nkept = out\n"
    wrap = Step("wrap", "t.py", at(text, "out = net(x)"), "with torch.no_grad():", at(text, "kept = out"))
    edits = file_edits("t.py", text, [wrap])
    starts = [(edit.range.line, edit.range.column) for edit in edits]
    ends = [(edit.range.end_line, edit.range.end_column) for edit in edits]
    assert all(end < start for end, start in zip(ends, starts[1:]))
    assert done(text, wrap) == "import torch\n\nwith torch.no_grad():\n    out = net(x)\n    kept = out\n"
