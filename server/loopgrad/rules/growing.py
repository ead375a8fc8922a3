"""What LG201 and LG203 share: growth, its weight, and whether it is an evaluation that grows."""

from __future__ import annotations

import ast
import re

from loopgrad.analysis.observation import Observation
from loopgrad.model import Message

from .context import Context
from .syntax import calls_method, method_name

#: Calls that make a stretch of code training code: they run over a graph or use its gradients.
_TRAINS = ("backward", "manual_backward", "grad", "step", "zero_grad", "clip_grad_norm_", "requires_grad_")
#: Names of functions and classes that evaluate.
_EVALUATES = re.compile(
    r"(^|_)(eval|evaluat\w*|valid\w*|val|test\w*|predict\w*|infer\w*|score|sample|generate|rollout|benchmark)(_|$)"
)


def weight(seen: Observation) -> Message:
    """How much is held: where a backward has run over it, nodes alone; where none has, all activations."""
    facts = seen.facts
    if facts.get("retained"):
        return Message.of("weight.retained")
    if facts.get("all_walked"):
        return Message.of("weight.nodes")
    # A sum's own additions are walked by no backward; what it adds up is.
    return Message.of("weight.nodes" if facts.get("walked") else "weight.activations")


def is_evaluation(seen: Observation, context: Context) -> bool:
    """Whether the loop that grows evaluates: no backward runs in it, and what stands around it trains nothing."""
    if seen.facts.get("backwards"):
        return False
    site = seen.facts.get("loop_site") or seen.loop or seen.site
    tree = context.tree_of(site)
    scope = tree.scope(site.node)
    loop = site.node
    if calls_method(loop, *_TRAINS):
        return False
    if isinstance(scope, ast.Module):
        return _script_evaluates(scope, loop, seen)
    assert isinstance(scope, ast.AST)
    name = getattr(scope, "name", "").lower()
    if calls_method(scope, *_TRAINS):
        return _evaluates_before(scope, loop)
    return bool(_EVALUATES.search(name)) or calls_method(scope, "eval") or not seen.facts.get("training")


def _script_evaluates(tree: ast.AST, loop: ast.AST, seen: Observation) -> bool:
    if not seen.facts.get("training"):
        return not calls_method(tree, "grad") or calls_method(tree, "eval")
    return _evaluates_before(tree, loop)


def _evaluates_before(scope: ast.AST, loop: ast.AST) -> bool:
    """Whether the last switch of mode above a loop is ``eval()``."""
    line = getattr(loop, "lineno", 0)
    switches = [
        (call.lineno, method_name(call) == "eval" or _is_false(call))
        for call in ast.walk(scope)
        if isinstance(call, ast.Call) and method_name(call) in ("train", "eval") and call.lineno < line
    ]
    return max(switches, default=(0, False))[1]


def _is_false(call: ast.Call) -> bool:
    return bool(call.args) and isinstance(call.args[0], ast.Constant) and call.args[0].value is False
