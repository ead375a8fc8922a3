"""The panel that draws a finding: it is a picture of the loop, by mouse and by keyboard."""

from __future__ import annotations

from tests.e2e.workbench import line_of

NAME = "admm_denoiser.py"


def explain(window, part: str):
    window.open(NAME)
    window.wait_for_problem("LG101", "'benchmark' and 'multiplier'")
    window.go_to_text(part)
    window.command("Loopgrad: Explain Finding")
    panel = window.panel()
    panel.locator("h1", has_text="LG101: loop-carried-graph").wait_for()
    return panel


def test_draws_the_loop(english, picture):
    panel = explain(english, "benchmark = (")
    panel.locator("svg.picture").wait_for()
    titles = panel.locator("svg.picture .column text").all_text_contents()
    assert titles == ["Iteration 1", "Iteration 2"]
    assert panel.locator("svg.picture .edge.carries").count() >= 1
    assert panel.locator("svg.picture .node.is-freed").count() >= 1
    panel.locator("svg.picture .scissors").first.wait_for()  # where the fix cuts
    assert panel.locator("ol.story li").count() == 5
    picture(english, "explain", roomy=True)


def test_a_step_leads_to_its_line(english):
    panel = explain(english, "benchmark = (")
    source = english.text(NAME)
    panel.locator("ol.story li", has_text="frees what the graph has saved").locator("a").click()
    english.until_cursor(line_of(source, "loss.backward()"))
    panel.locator("svg.picture .node", has_text="benchmark = (").first.click()
    english.until_cursor(line_of(source, "benchmark = ("))

    panel.locator("#node-0").focus()
    panel.locator("#node-0").press("End")
    panel.locator("svg.picture [role=button]:focus").wait_for()
    panel.locator("#node-0").focus()
    panel.locator("#node-0").press("Enter")
    english.until_cursor(line_of(source, "out = net(net_input)"))


def test_applies_the_fix(english):
    panel = explain(english, "benchmark = (")
    broken = english.text(NAME)
    panel.locator("#button-fix").click()
    english.open(NAME)
    english.save()
    english.wait_for_no_problem("LG101")
    panel.locator(".notice", has_text="This finding is gone").wait_for()
    english.wait_for_text(NAME, lambda text: text not in ("", broken))


def test_shows_the_page_of_a_rule(english):
    panel = explain(english, "benchmark = (")
    panel.locator("#button-rule").click()
    english.page.locator(".tab.active", has_text="LG101").first.wait_for()
