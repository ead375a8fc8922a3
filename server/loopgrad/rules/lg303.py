"""LG303: an in-place operation on a leaf that requires a gradient."""

from __future__ import annotations

import ast
from functools import partial

from loopgrad.analysis.verdicts import Verdict
from loopgrad.model import Finding, Message

from .candidates import leaf
from .context import Context
from .story import finding
from .syntax import method_name, value_name
from .words import counted, names

CODE = "LG303"


def _changed(node: ast.AST) -> str:
    """The name of what is changed: the receiver of ``w.add_(g)``, the argument of ``relu(w, inplace=True)``."""
    if isinstance(node, ast.Call) and not method_name(node).endswith("_") and node.args:
        return value_name(node.args[0])
    return value_name(node)


def read(verdict: Verdict, context: Context) -> Finding | None:
    seen = verdict.observation
    if seen.what != "leaf":
        return None
    name = _changed(seen.site.node)
    carriers = [name] if name else []
    args = {"names": names(carriers)} if carriers else {}
    message = Message.of(counted("LG303.leaf", carriers), **args)
    requests = partial(leaf.requests, seen, context)
    return finding(CODE, verdict, context, message, requests=requests, carriers=carriers)
