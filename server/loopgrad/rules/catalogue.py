"""The rules by their codes: names, what PyTorch does, how severe that is. Codes never change their meaning.

This is data alone, so that the command line, the reports and the settings can speak of rules without
loading the engine.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RuleInfo:
    """One rule. ``certain`` and ``possible`` are the severities of a finding of that certainty."""

    code: str
    name: str
    outcomes: tuple[str, ...]
    default_on: bool = True
    certain: str = "warning"
    possible: str = "warning"

    @property
    def page(self) -> str:
        """The rule's documentation, below ``loopgrad/rules/pages/<language>/``."""
        return f"{self.code}.md"


_INFORMATION = ("information", "information")
_SEVERE = ("error", "warning")

_RULES = (
    RuleInfo("LG101", "loop-carried-graph", ("second-backward", "silent"), True, *_SEVERE),
    RuleInfo("LG102", "graph-built-outside-loop", ("second-backward", "silent"), True, *_SEVERE),
    RuleInfo("LG103", "shared-graph-backward", ("second-backward",), True, *_SEVERE),
    RuleInfo("LG104", "retained-graph-modified", ("inplace-version",), True, *_SEVERE),
    RuleInfo("LG201", "graph-accumulates", ("grows",)),
    RuleInfo("LG202", "retain-graph-unneeded", ("none", "grows"), True, *_INFORMATION),
    RuleInfo("LG203", "evaluation-keeps-graph", ("grows",)),
    RuleInfo("LG204", "evaluation-records-graph", ("none",), False, *_INFORMATION),
    RuleInfo("LG205", "cell-not-rerunnable", ("second-backward",), False, *_INFORMATION),
    RuleInfo("LG301", "loss-without-graph", ("no-grad-fn",), True, *_SEVERE),
    RuleInfo("LG302", "optimizer-cut-off", ("not-trained",), True, "warning", "information"),
    RuleInfo("LG303", "leaf-modified-in-place", ("leaf-inplace",), True, *_SEVERE),
    RuleInfo("LG304", "loss-made-leaf", ("not-trained",)),
    RuleInfo("LG401", "stray-requires-grad", ("none",), True, *_INFORMATION),
    RuleInfo("LG402", "discarded-detach", ("none",)),
)

RULES: dict[str, RuleInfo] = {rule.code: rule for rule in _RULES}
