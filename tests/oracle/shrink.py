"""Making a program small while it still shows the same kind of disagreement.

The tree of the program's syntax is cut greedily: statements are deleted, compound statements are
replaced by their bodies, branches are dropped, calls and operations are replaced by their operands.
Each candidate is judged anew; one that fails in another way is not kept.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from .instrument import FLAG

Judge = Callable[[list[str]], list[set[str]]]


def _bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def _copy(source: str) -> ast.Module:
    return ast.parse(source)


def _text(tree: ast.Module) -> str | None:
    for block in list(_bodies(tree)):
        if not block:
            return None
    try:
        text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        if text.count("add_argument(") != len(FLAG.findall(text)):
            return None  # a condition that no command line decides any more
        compile(text, "<shrunk>", "exec")
    except (SyntaxError, ValueError, TypeError, RecursionError):
        return None
    return text


def _deletions(source: str) -> Iterator[str]:
    """The program without a run of statements: long runs first."""
    count = len(list(_bodies(_copy(source))))
    for size in (8, 4, 2, 1):
        for index in range(count):
            length = len(list(_bodies(_copy(source)))[index])
            for start in range(length - 1, -1, -size if size > 1 else -1):
                tree = _copy(source)
                block = list(_bodies(tree))[index]
                first = max(0, start - size + 1)
                if size > 1 and start - first + 1 < 2:
                    continue
                owner_needs = first == 0 and start == len(block) - 1
                block[first : start + 1] = [ast.Pass()] if owner_needs else []
                text = _text(tree)
                if text and text != source:
                    yield text


def _unwrapped(source: str) -> Iterator[str]:
    """The program with a compound statement replaced by one of its bodies, or one of its parts dropped."""
    count = len(list(_bodies(_copy(source))))
    for index in range(count):
        for position in range(len(list(_bodies(_copy(source)))[index])):
            for part in ("body", "orelse", "drop"):
                tree = _copy(source)
                block = list(_bodies(tree))[index]
                node = block[position]
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)) or not hasattr(node, "body"):
                    break
                if part == "drop":
                    if not getattr(node, "orelse", None):
                        continue
                    node.orelse = []  # type: ignore[attr-defined]
                else:
                    inner = getattr(node, part, None)
                    if not inner:
                        continue
                    block[position : position + 1] = inner
                text = _text(tree)
                if text:
                    yield text


class _Replace(ast.NodeTransformer):
    """Replace the expression with a certain number by one of its operands."""

    def __init__(self, number: int, choice: int) -> None:
        self.number, self.choice, self.seen, self.hit = number, choice, -1, False

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr):
            self.seen += 1
            if self.seen == self.number:
                parts = _operands(node)
                if self.choice < len(parts):
                    self.hit = True
                    return parts[self.choice]
        return super().generic_visit(node)


def _operands(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp(left, _, right):
            return [left, right]
        case ast.UnaryOp(_, operand):
            return [operand]
        case ast.Call(ast.Attribute(value), arguments, keywords):
            less = [ast.Call(node.func, arguments, keywords[1:])] if keywords else []
            return [*less, value, *arguments]
        case ast.Call(_, arguments, _):
            return list(arguments)
        case ast.Subscript(value) if isinstance(node.ctx, ast.Load):
            return [value]
        case ast.List(items) | ast.Tuple(items) if len(items) > 1 and isinstance(node.ctx, ast.Load):
            return [ast.List(items[:1], ast.Load())]
        case ast.IfExp(_, body, orelse):
            return [body, orelse]
    return []


def _simplified(source: str) -> Iterator[str]:
    total = sum(isinstance(node, ast.expr) for node in ast.walk(_copy(source)))
    for number in range(total):
        for choice in range(4):
            tree = _copy(source)
            change = _Replace(number, choice)
            tree = change.visit(tree)
            if not change.hit:
                break
            text = _text(tree)
            if text and text != source:
                yield text


def shrink(source: str, label: str, judge: Judge, budget: int = 400, batch: int = 4) -> str:
    """The smallest program found that still shows `label`; `judge` gives the labels of each source."""
    source = ast.unparse(_copy(source)) + "\n"
    if label not in judge([source])[0]:
        return source
    tried: set[str] = {source}
    progress = True
    while progress and budget > 0:
        progress = False
        for ways in (_deletions, _unwrapped, _simplified):
            candidates, at = list(ways(source)), 0
            while at < len(candidates) and budget > 0:
                group = [text for text in candidates[at : at + batch] if text not in tried]
                at += batch
                if not group:
                    continue
                tried.update(group)
                budget -= len(group)
                hits = [s for s, labels in zip(group, judge(group), strict=True) if label in labels]
                smaller = [text for text in hits if len(text) < len(source)]
                if smaller:
                    # Go on from the same place in the new program; the next round sees the rest again.
                    source, progress = min(smaller, key=len), True
                    candidates, at = list(ways(source)), max(0, at - batch)
    return source
