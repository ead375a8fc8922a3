"""LG401: ``requires_grad_()`` on a value that nothing optimises and whose gradient nobody reads."""

from __future__ import annotations

import ast
from functools import partial

from loopgrad.analysis.verdicts import Verdict
from loopgrad.model import Finding, Message

from .candidates import single
from .context import Context
from .story import finding
from .syntax import Tree, targets_of, value_name
from .words import counted, names

CODE = "LG401"


def read(verdict: Verdict, context: Context) -> Finding | None:
    seen = verdict.observation
    if seen.what != "stray":
        return None
    name = _name_of(seen.site.node, seen.site.stmt, context.tree_of(seen.site))
    carriers = [name] if name else []
    args = {"names": names(carriers)} if carriers else {}
    key = "LG401.has-graph" if seen.facts.get("graph") else "LG401.stray"
    message = Message.of(counted(key, carriers), **args)
    requests = partial(single.stray, seen, context)
    return finding(CODE, verdict, context, message, requests=requests, carriers=carriers, trace=())


def _name_of(node: ast.AST, statement: ast.AST, tree: Tree) -> str:
    """What the value is called: a variable, an attribute, or an entry of a dictionary; "" where it is a part of more."""
    value = getattr(statement, "value", None)
    if value is node or not isinstance(value, ast.AST) or not isinstance(node, ast.expr):
        target = targets_of(statement)[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
            return ast.unparse(target)
        return value_name(statement)
    above = tree.parent(node)
    if isinstance(above, ast.Dict) and above is value:
        key = next((key for key, each in zip(above.keys, above.values) if each is node), None)
        if isinstance(key, ast.Constant):
            return f"{value_name(statement)}[{ast.unparse(key)}]"
    receiver = (
        node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else node
    )
    return value_name(receiver) if isinstance(receiver, (ast.Name, ast.Attribute, ast.Subscript)) else ""
