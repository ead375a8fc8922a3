"""VS Code in Simplified Chinese: the extension and the server speak it too."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.e2e.tools import ROOT

NAME = "admm_denoiser.py"


@pytest.fixture(scope="module")
def chinese(open_window: Callable):
    # No interpreter is set: the extension finds one on the path.
    return open_window("chinese", {NAME: (ROOT / "examples" / NAME).read_text()}, NAME, locale="zh-cn")


def test_findings_fixes_and_commands(chinese, picture):
    rows = chinese.wait_for_problem("LG101", "'benchmark' 和 'multiplier'")
    assert any("第 1 次迭代" in row for row in rows)
    chinese.go_to_text("benchmark = (")
    chinese.lenses("在设备上").first.wait_for()
    titles = chinese.code_actions()
    assert "benchmark" in titles[0] and "调用 detach()" in titles[0]
    picture(chinese, "chinese")
    chinese.take_first_action()
    chinese.save()
    chinese.wait_for_no_problem("LG101")
    chinese.wait_for_text(NAME, lambda text: text.count(".detach()") == 4)


def test_the_palette(chinese):
    chinese.command("Loopgrad: 重启服务器")
