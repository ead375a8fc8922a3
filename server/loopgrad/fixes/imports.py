"""What a fix calls ``torch``: the name the file has for it, or an import where it has none.

A fix's text says ``torch.no_grad()``. A file that says ``import torch as th`` gets ``th.no_grad()``, one that
has only ``from torch import no_grad`` gets ``no_grad()``, and one without any name for it gets
``import torch`` below its last import above the place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from loopgrad.model import Range

from .locate import Function, Statement, statement_holding
from .statements import put_after, put_before
from .text import Document, Splice

_TORCH = re.compile(r"(?<![\w.])torch(?:\.[^\W\d]\w*)*")
_SCOPES = (*Function, ast.ClassDef, ast.Lambda)


def with_torch(doc: Document, range_: Range, text: str) -> tuple[str, list[Splice]]:
    """A fix's text in the words of the file, and what has to be imported for it."""
    if not _TORCH.search(text):
        return text, []
    place = statement_holding(doc, *doc.span(range_))
    known = bindings(doc.tree.body)
    for outer in place.chain:
        if isinstance(outer, Function):
            known.update(bindings(outer.body))
    if "torch" in known:
        return text, []
    names = {meaning: name for name, meaning in reversed(known.items()) if meaning.split(".")[0] == "torch"}
    missing = False

    def rename(match: re.Match[str]) -> str:
        nonlocal missing
        parts = match.group().split(".")
        for length in range(len(parts), 0, -1):
            name = names.get(".".join(parts[:length]))
            if name:
                return ".".join([name, *parts[length:]])
        missing = True
        return match.group()

    text = _TORCH.sub(rename, text)
    return text, _import_torch(doc, place) if missing else []


def bindings(body: Iterable[ast.stmt]) -> dict[str, str]:
    """The names bound in a scope that matter here: each import's meaning, and ``torch`` bound otherwise."""
    found: dict[str, str] = {}
    for node in _own(body):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                found[name] = alias.name if alias.asname else name
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Name) and node.id == "torch" and isinstance(node.ctx, ast.Store):
            found["torch"] = "torch"
    return found


def _own(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes that run in this scope itself; what is imported for type checkers alone does not run."""
    for node in body:
        yield node
        if isinstance(node, _SCOPES):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            yield from _own(node.orelse)
        elif not isinstance(node, ast.expr) or isinstance(node, (ast.Tuple, ast.List)):
            yield from _own(ast.iter_child_nodes(node))


def _import_torch(doc: Document, place: Statement) -> list[Splice]:
    """``import torch`` behind the last import above the place, else behind the docstring, else on top."""
    body = doc.tree.body
    top = place.chain[1] if len(place.chain) > 1 else place.node
    above = body[: next(index for index, node in enumerate(body) if node is top)]
    imports = [i for i, node in enumerate(above) if isinstance(node, (ast.Import, ast.ImportFrom))]
    first = body[0]
    chain = (doc.tree,)
    if imports:
        splices = put_after(Statement(doc, body[imports[-1]], chain, body, imports[-1]), "import torch")
    elif _is_text(first) and above:
        splices = put_after(Statement(doc, first, chain, body, 0), "import torch")
    else:
        splices = put_before(Statement(doc, first, chain, body, 0), "import torch")
    return [Splice(s.start, s.end, s.text, rank=-2, once=True) for s in splices]


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
