"""What is offered, in which order, and what is not: with a small engine in the place of the real one."""

from __future__ import annotations

from dataclasses import replace

from loopgrad.fixes import apply, fix_all, fix_workspace, offer
from loopgrad.model import FixRequest, Message, Range, Step, TraceStep
from loopgrad.source import SourceFile

CODES = frozenset({"LG101", "LG103", "LG201", "LG202"})


def first(stub, source, provider):
    finding = stub(source, provider, CODES).findings[0]
    stub.calls = 0
    return finding


def test_the_first_that_works_is_preferred_and_silencing_comes_last(stub, overlay):
    source = SourceFile("t.py", "h = out  # LG101: append .clone() | append .detach() | append .item()\n")
    fixes = offer(first(stub, source, overlay()), source, overlay(), engine=stub)
    texts = [apply(source.text, fix.edits).split("  #")[0] for fix in fixes]
    assert texts[:2] == ["h = out.detach()", "h = out.item()"]
    assert [fix.preferred for fix in fixes] == [True, False, False]
    assert fixes[-1].kind == "suppress"
    assert "# loopgrad: ignore[LG101]" in apply(source.text, fixes[-1].edits)
    assert stub.calls == 4  # the text as it is, and each of the three candidates


def test_with_a_baseline_one_analysis_is_saved(stub, overlay):
    from loopgrad.fixes.check import codes_to_check

    source = SourceFile("t.py", "h = out  # LG101: append .detach()\n")
    codes = codes_to_check()
    baseline = stub(source, overlay(), codes)
    stub.calls = 0
    fixes = offer(baseline.findings[0], source, overlay(), baseline=baseline, select=codes, engine=stub)
    assert len(fixes) == 2 and stub.calls == 1


def test_enough_is_enough(stub, overlay):
    said = " | ".join(f"replace {{0}}.detach({i})" for i in range(9)).replace(".detach(", ".detach()+(")
    source = SourceFile("t.py", f"h = out  # LG101: {said}\n")
    fixes = offer(first(stub, source, overlay()), source, overlay(), engine=stub)
    assert len(fixes) == 4 and stub.calls == 4


def test_the_same_text_is_offered_once(stub, overlay):
    source = SourceFile("t.py", "h = out  # LG101: append .detach() | replace {0}.detach()\n")
    fixes = offer(first(stub, source, overlay()), source, overlay(), engine=stub)
    assert len(fixes) == 2 and stub.calls == 2


def test_a_request_that_does_not_fit_is_dropped(stub, overlay):
    source = SourceFile("t.py", "h = out  # LG101: assign | append .detach()\n")
    fixes = offer(first(stub, source, overlay()), source, overlay(), engine=stub)
    assert [fix.kind for fix in fixes] == ["append", "suppress"]


def test_a_finding_without_a_request_can_be_silenced_without_an_analysis(stub, overlay):
    source = SourceFile("t.py", "h = out  # LG101: \n")
    fixes = offer(first(stub, source, overlay()), source, overlay(), engine=stub)
    assert [fix.kind for fix in fixes] == ["suppress"] and stub.calls == 0


def test_what_stops_training_says_so_and_is_not_preferred(stub, overlay):
    source = SourceFile(
        "t.py",
        "w = 1  # trained: weight unless .detach()\nh = out  # LG101: append .detach() | append .item()\n",
    )
    fixes = offer(first(stub, source, overlay()), source, overlay(), engine=stub)
    assert [fix.stops_training for fix in fixes] == [(), ("weight",), ()]
    assert fixes[0].preferred and not fixes[1].preferred
    assert fixes[1].title.key == "fix.stops-training"
    assert dict(fixes[1].title.args)["names"] == ("weight",)


def test_lines_that_move_do_not_lose_what_is_trained(stub, overlay):
    source = SourceFile(
        "t.py", "h = out  # LG101: insert_before h = 0 .detach()\nw = 1  # trained: weight unless .item()\n"
    )
    finding = first(stub, source, overlay())
    step = Step("insert_before", "t.py", finding.range, "a = 1")
    detach = Step("append", "t.py", Range(1, 5, 1, 8), ".detach()")
    finding = replace(finding, requests=(FixRequest("detach", Message.of("t"), (step, detach)),))
    fixes = offer(finding, source, overlay(), engine=stub)
    assert fixes[0].preferred and fixes[0].stops_training == ()


def test_a_finding_that_only_moves_is_not_gone(stub, overlay):
    source = SourceFile("t.py", "h = out  # LG101: insert_before a = 1\nb = 2\n")
    fixes = offer(first(stub, source, overlay()), source, overlay(), engine=stub)
    assert [fix.kind for fix in fixes] == ["suppress"]


def test_growth_in_the_place_of_the_exception_is_no_fix(stub, overlay):
    source = SourceFile("t.py", "h = out  # LG101: append .detach() | append .item()\n")
    finding = first(stub, source, overlay())

    def grows(now):
        return (
            [replace(finding, code="LG201", outcome="grows")] if ".detach()" in now.text.split("#")[0] else []
        )

    stub.extra = grows
    fixes = offer(finding, source, overlay(), engine=stub)
    assert [fix.kind for fix in fixes] == ["append", "suppress"]
    assert ".item()" in apply(source.text, fixes[0].edits)


def hidden_until_fixed(stub, finding, text, trace=(), carriers=("other",)):
    """A second error that the program meets only once it runs past the first."""

    def extra(now):
        if text not in now.text.split("#")[0]:
            return []
        return [
            replace(
                finding, code="LG103", range=Range(3, 1, 3, 2), carriers=carriers, trace=trace, requests=()
            )
        ]

    stub.extra = extra


def test_an_error_hidden_behind_the_first_is_no_reason_to_refuse(stub, overlay):
    source = SourceFile("t.py", "h = out  # LG101: append .detach() | append .item()\nx = 1\ny = 2\n")
    finding = first(stub, source, overlay())
    hidden_until_fixed(stub, finding, ".detach()")
    fixes = offer(finding, source, overlay(), engine=stub)
    texts = [apply(source.text, fix.edits).split("  #")[0] for fix in fixes]
    # The one that leaves nothing behind is preferred.
    assert texts[:2] == ["h = out.item()", "h = out.detach()"]
    assert fixes[0].preferred


def test_a_new_error_whose_story_leads_over_the_edit_is_one(stub, overlay):
    source = SourceFile("t.py", "h = out  # LG101: append .detach()\nx = 1\ny = 2\n")
    finding = first(stub, source, overlay())
    step = TraceStep("cut", "t.py", Range(1, 5, 1, 17), None, Message.of("t"))
    hidden_until_fixed(stub, finding, ".detach()", trace=(step,))
    assert len(offer(finding, source, overlay(), engine=stub)) == 1


def test_a_new_error_of_the_same_variable_is_one(stub, overlay):
    source = SourceFile("t.py", "h = out  # LG101: append .detach()\nx = 1\ny = 2\n")
    finding = first(stub, source, overlay())
    hidden_until_fixed(stub, finding, ".detach()", carriers=("h",))
    assert len(offer(finding, source, overlay(), engine=stub)) == 1


def test_an_error_at_the_same_call_under_another_name_is_the_same(stub, overlay):
    source = SourceFile("t.py", "h = out  # LG101: append .detach()\nx = 1\ny = 2\n")
    for iteration, offered in ((2, 1), (3, 2)):
        raised = ("t.py", Range(2, 1, 2, 6))
        finding = replace(first(stub, source, overlay()), raised_at=raised, iteration=2)
        hidden_until_fixed(stub, replace(finding, iteration=iteration), ".detach()")
        assert len(offer(finding, source, overlay(), engine=stub)) == offered


def test_what_raises_nothing_hides_nothing(stub, overlay):
    source = SourceFile("t.py", "h = out  # LG101: append .detach()\nx = 1\ny = 2\n")
    finding = replace(first(stub, source, overlay()), outcome="grows")
    hidden_until_fixed(stub, finding, ".detach()")
    assert len(offer(finding, source, overlay(), engine=stub)) == 1


def test_a_fix_in_another_file(stub, overlay):
    source = SourceFile("t.py", "h = out  # LG101: append .clone()\n")
    other = SourceFile("o.py", "def f(x):\n    return x\n")
    finding = first(stub, source, overlay())
    step = Step("append", "o.py", Range(2, 12, 2, 13), ".detach()")
    finding = replace(finding, requests=(FixRequest("detach", Message.of("t"), (step,)),))

    def engine(now, provider, select):
        result = stub(now, provider, select)
        if ".detach()" in provider.read("o.py").text:
            result.findings.clear()
        else:
            result.findings = [replace(each, requests=finding.requests) for each in result.findings]
        return result

    provider = overlay([source, other])
    fixes = offer(finding, source, provider, engine=engine)
    assert [edit.path for edit in fixes[0].edits] == ["o.py"] and fixes[0].preferred
    assert fix_all(source, provider, CODES, engine=engine) == (source.text, [])
    changed = fix_workspace([source, other], provider, CODES, engine=engine)
    assert changed == {"o.py": "def f(x):\n    return x.detach()\n"}
    assert fix_workspace([source], overlay([source, other], ["t.py"]), CODES, engine=engine) == {}


def test_fix_all_mends_every_error_and_warning(stub, overlay):
    source = SourceFile(
        "t.py",
        "a = x  # LG101: append .detach()\nb = x  # LG201 warning: append .item()\n"
        "c = x  # LG202 information: append .detach()\nd = x  # LG101: append .clone()\n",
    )
    text, titles = fix_all(source, overlay([source]), CODES, engine=stub)
    assert [line.split("  #")[0] for line in text.splitlines()] == [
        "a = x.detach()",
        "b = x.item()",
        "c = x",
        "d = x",
    ]
    assert [dict(title.args)["text"] for title in titles] == ["append .detach()", "append .item()"]
    text, _ = fix_all(source, overlay([source]), CODES, include_information=True, engine=stub)
    assert "c = x.detach()" in text


def test_fix_all_keeps_to_what_was_selected_and_not_silenced(stub, overlay):
    source = SourceFile("t.py", "a = x  # LG101: append .detach()\nb = x  # LG201 warning: append .item()\n")
    assert fix_all(source, overlay(), frozenset({"LG103"}), engine=stub) == (source.text, [])
    silenced = SourceFile("t.py", source.text.replace("x  # LG101", "x  # loopgrad: ignore  # LG101"))
    text, _ = fix_all(silenced, overlay(), CODES, engine=stub)
    assert text.startswith("a = x  #") and "b = x.item()" in text


def test_fix_all_ends_where_fixes_chase_each_other(stub, overlay):
    source = SourceFile("t.py", "a = one\n")

    def engine(now, provider, select):
        # Each of the two texts is wrong in a way that the other mends.
        result = stub(now, provider, select)
        code, text = ("LG101", "two") if "one" in now.text else ("LG103", "one")
        step = Step("replace", "t.py", Range(1, 5, 1, 8), text)
        finding = stub.finding(now, 1, code, [])
        finding = replace(finding, outcome="second-backward", carriers=(code,), range=Range(1, 1, 1, 8))
        result.findings = [replace(finding, requests=(FixRequest("x", Message.of("t"), (step,)),))]
        return result

    text, _ = fix_all(source, overlay(), CODES, engine=engine)
    assert text in ("a = one\n", "a = two\n")
