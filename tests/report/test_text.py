"""The report for people, shown as it is printed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopgrad.checker import UnusedIgnore
from loopgrad.model import Finding, Message, Partial, Problem, Range
from loopgrad.report import Style, as_text

PLAIN = Style()


def test_a_finding_with_its_story(bench: Any, make_finding: Any) -> None:
    assert (
        as_text(bench.report(make_finding()), PLAIN)
        == """\
error[LG101]: `hidden` carries the graph of iteration 1 into iteration 2
  --> train.py:5:5
  |
5 |     hidden = torch.tanh(w * hidden)
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  built in iteration 1: `torch.tanh` builds the graph
  --> train.py:5:14
  |
5 |     hidden = torch.tanh(w * hidden)
  |              ^^^^^^^^^^^^^^^^^^^^^^
  freed in iteration 1: this backward frees it
  --> train.py:7:5
  |
7 |     loss.backward()
  |     ^^^^^^^^^^^^^^^
  carried in iteration 1: `hidden` keeps it
  --> train.py:5:5
  reached again in iteration 2: this backward reaches it again
  --> train.py:7:5
fix: detach `hidden` where it is stored (preferred: --fix applies it)
fix: compute under no_grad

Found 1 error in 1 file.
"""
    )


def test_the_same_in_chinese(bench: Any, make_finding: Any) -> None:
    text = as_text(bench.report(make_finding(), language="zh-cn"), PLAIN)
    assert text.startswith("错误[LG101]: ")
    assert "再次到达（第 2 次迭代）" in text
    assert text.endswith("在 1 个文件中发现 1 个错误。\n")


def test_colours_change_no_words(bench: Any, make_finding: Any) -> None:
    painted = as_text(bench.report(make_finding()), Style(True))
    assert "\x1b[1;31merror[LG101]\x1b[0m" in painted
    for start in ("\x1b[1;31m", "\x1b[1;34m", "\x1b[1;32m", "\x1b[36m", "\x1b[1m", "\x1b[0m"):
        painted = painted.replace(start, "")
    assert painted == as_text(bench.report(make_finding()), PLAIN)


def shown(bench: Any, line: str, start: int, end: int, end_line: int = 1) -> list[str]:
    """The snippet of a finding at these columns of a file of this text."""
    bench.add("a.py", line)
    found = Finding(
        "LG201",
        "n",
        "warning",
        "possible",
        "grows",
        Message.of("say", text="m"),
        "a.py",
        Range(1, start, end_line, end),
    )
    text = as_text(bench.report(found), PLAIN)
    return text.split("\n\n")[0].splitlines()[3:]


def test_carets_stand_under_wide_characters(bench: Any) -> None:
    assert shown(bench, "s = '状态'; y = 2\n", 11, 16) == ["1 | s = '状态'; y = 2", "  |             ^^^^^"]
    assert shown(bench, "状态 = 损失\n", 6, 8) == ["1 | 状态 = 损失", "  |        ^^^^"]
    assert shown(bench, "e\u0301 = x\n", 6, 7) == ["1 | e\u0301 = x", "  |     ^"]


def test_tabs_are_kept_so_that_carets_line_up(bench: Any) -> None:
    assert shown(bench, "\tx = 1\n", 2, 7) == ["1 | \tx = 1", "  | \t^^^^^"]


def test_terminal_commands_in_the_source_do_nothing(bench: Any) -> None:
    assert shown(bench, "s = '\x1b[2J'\n", 1, 2)[0] == "1 | s = ' [2J'"


def test_long_lines_are_cut_around_the_range(bench: Any) -> None:
    line = "x = [" + "0, " * 1000 + "hidden, " + "0, " * 1000 + "]\n"
    rows = shown(bench, line, 3006, 3012)
    assert len(rows[0]) < 180
    column = rows[1].index("^")
    assert rows[0][column : column + 6] == "hidden"


def test_a_range_of_many_lines_shows_its_ends(bench: Any) -> None:
    text = "f(\n" + "".join(f"    a{number},\n" for number in range(20)) + ")\n"
    rows = shown(bench, text, 1, 2, end_line=22)
    assert [row for row in rows if "^" not in row and "|" in row] == [
        " 1 | f(",
        " 2 |     a0,",
        " 3 |     a1,",
        " 4 |     a2,",
        "22 | )",
    ]
    assert "   : 17 more lines" in rows


def test_a_position_beyond_the_file_is_no_accident(bench: Any) -> None:
    bench.add("a.py", "x\n")
    shown(bench, "x\n", 40, 50)
    shown(bench, "", 1, 1)


def test_possible_findings_say_so(bench: Any, make_finding: Any) -> None:
    found = replace(make_finding(), certainty="possible", severity="warning")
    assert as_text(bench.report(found), PLAIN).startswith("warning[LG101] (possible): ")


def test_the_file_of_a_finding_may_have_gone(bench: Any, make_finding: Any) -> None:
    assert "gone.py:5:5" in as_text(bench.report(make_finding("gone.py")), PLAIN)


def test_problems_partial_files_and_unused_comments(bench: Any, make_message: Any) -> None:
    report = bench.report(show_unused=True, statistics=True)
    report.outcome.files = 3
    report.outcome.problems.append(Problem("b.py", 3, Message.of("source.binary")))
    report.outcome.partial.append(Partial("c.py", 9, make_message("too many steps")))
    report.outcome.unused.append(UnusedIgnore("d.py", 4, 8, Message.of("ignore.unused")))
    assert (
        as_text(report, PLAIN)
        == """\
d.py:4:8: unused: this comment silences nothing
c.py:9: analysed in part only: too many steps
b.py:3: cannot check: this is a binary file, not Python source: it holds NUL bytes

No findings in 2 files. 1 file could not be checked. 1 file was analysed in part only.
"""
    )


def test_statistics_count_by_rule(bench: Any, make_finding: Any) -> None:
    more = replace(make_finding(), code="LG201", name="graph-accumulates", severity="warning")
    other = replace(make_finding(), range=Range(6, 1, 6, 2))
    text = as_text(bench.report(make_finding(), other, more, statistics=True), PLAIN)
    assert text.endswith(
        "\n\n2  LG101  loop-carried-graph\n1  LG201  graph-accumulates\n"
        "\nFound 2 errors, 1 warning in 1 file.\n"
    )


def test_no_files(bench: Any) -> None:
    bench.files.clear()
    assert as_text(bench.report(), PLAIN) == "No Python files were found.\n"
