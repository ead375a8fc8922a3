"""What a fix calls ``torch``: the name the file has for it, or an import where it has none.

A fix's text says ``torch.no_grad()``. A file that says ``import torch as th`` gets ``th.no_grad()``, one that
has only ``from torch import no_grad`` gets ``no_grad()``, and one without any name for it gets
``import torch`` below its last import above the place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from loopgrad.model import Step

from .locate import Function, Statement, statement_holding
from .text import Document

_TORCH = re.compile(r"(?<![\w.])torch(?:\.[^\W\d]\w*)*")
_SCOPES = (*Function, ast.ClassDef, ast.Lambda)


def with_torch(doc: Document, steps: Iterable[Step]) -> list[Step]:
    """The steps in the words of the file, behind one that imports ``torch`` for each place that lacks it."""
    imports: list[Step] = []
    said: list[Step] = []
    for step in steps:
        text = step.text
        if _TORCH.search(text):
            place = statement_holding(doc, *doc.span(step.range))
            text, is_missing = _in_words_of(doc, place, text)
            if is_missing:
                imports.append(_import_torch(doc, place, step.path))
        said.append(replace(step, text=text))
    return [*dict.fromkeys(imports), *said]


def _in_words_of(doc: Document, place: Statement, text: str) -> tuple[str, bool]:
    """A text in the words that the place has, and whether it has none for what the text says."""
    known = bindings(doc.tree.body)
    for outer in place.outers:
        if isinstance(outer.node, Function):
            known.update(bindings(outer.node.body))
    if "torch" in known:
        return text, False
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

    return _TORCH.sub(rename, text), missing


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


def _import_torch(doc: Document, place: Statement, path: str) -> Step:
    """``import torch`` behind the last import above the place, else behind the docstring, else on top."""
    body = doc.tree.body
    top = next((each for each in place.outers if each.outer is None), place)
    above = body[: top.index]
    imports = [each for each in above if isinstance(each, (ast.Import, ast.ImportFrom))]
    documented = bool(above) and ast.get_docstring(doc.tree, clean=False) is not None
    anchor = imports[-1] if imports else body[0]
    op = "insert_after" if imports or documented else "insert_before"
    return Step(op, path, doc.range(*doc.node_span(anchor)), "import torch")
