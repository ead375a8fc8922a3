"""Confirm on device: the fault is proven by running the script, and so is the fix; a run can be cancelled."""

from __future__ import annotations

NAME = "admm_denoiser.py"
ENDLESS = "endless.py"


def test_confirmed_fixed_and_clean(english, picture):
    english.open(NAME)
    english.wait_for_problem("LG101")
    english.go_to_text("for i in range(ITERATIONS)")
    english.lenses("Confirm on device").first.click()
    told = english.notification("Confirmed on cpu in iteration 2")
    told.wait_for(timeout=180_000)
    english.wait_for_problem("LG101", "(confirmed on cpu in iteration 2)")

    english.press_button(told, "Explain")
    panel = english.panel()
    panel.locator(".verdict.confirmed", has_text="Confirmed on cpu in iteration 2").wait_for()
    panel.locator("h3", has_text="The fix is proven").wait_for()
    carriers = panel.locator(".carriers code").all_inner_texts()
    assert {"benchmark", "multiplier"} <= set(carriers)
    plot = panel.locator("svg.plot")
    english.until("the plot has the run that raised", lambda: plot.locator(".before .raised").count() == 1)
    english.until("the plot has the run with the fix", lambda: plot.locator(".after .mark").count() >= 2)
    english.show(plot)
    picture(english, "confirmed", roomy=True)

    panel.locator("#button-fix").click()
    english.open(NAME)
    english.save()
    english.wait_for_no_problem("LG101")
    english.command("Loopgrad: Confirm on Device")
    english.notification("Clean on cpu").wait_for(timeout=180_000)
    panel.locator(".verdict.clean").wait_for()
    english.until("the plot has the run that raised", lambda: plot.locator(".before .raised").count() == 1)
    english.until("the plot has the clean run", lambda: plot.locator(".after .mark").count() >= 2)
    english.until("nothing raised in it", lambda: plot.locator(".after .raised").count() == 0)
    english.show(plot)
    picture(english, "confirmed-clean", roomy=True)


def test_cancel(english):
    english.open(ENDLESS)
    english.command("Loopgrad: Confirm on Device")
    running = english.notification(f"Confirming {ENDLESS}")
    running.wait_for()
    english.until("the script and its child run", lambda: len(english.server.processes("# of endless")) == 1)
    assert english.server.processes(ENDLESS)
    english.press_button(running, "Cancel")
    english.until("nothing of the script is left", lambda: not english.server.processes("endless"))
