"""Cutting a value of any nesting: a tensor, a tuple of tensors, a dictionary of tuples.

The engine tells the nesting of what a statement stores as plain data: ``"tensor"``, ``("tuple", "tensor",
"tensor")``, ``("dict", ...)``, ``("object", "State", (("h", "tensor"),))`` with the
fields that have a graph; ``"other"`` is no tensor, ``"unknown"`` may be one.
"""

from __future__ import annotations

import ast
from typing import Any

from .edits import File

_PARTS = ("part", "inner", "leaf")
_LITERALS = (ast.Tuple, ast.List)


def is_tensor(shape: Any) -> bool:
    return shape in ("tensor", "unknown")


def cut_text(
    name: str, shape: Any, file: File | None, depth: int = 0, suffix: str = ".detach()"
) -> str | None:
    """An expression that is ``name`` with each tensor in it cut, in the same nesting; None if unknown how.

    >>> cut_text("state", ("tuple", "tensor", "tensor"), None)
    'tuple(part.detach() for part in state)'
    >>> cut_text("memory", ("dict", "tensor", "other"), None)
    '{key: value.detach() if torch.is_tensor(value) else value for key, value in memory.items()}'
    """
    if is_tensor(shape):
        return f"{name}{suffix}"
    if not isinstance(shape, tuple) or depth >= len(_PARTS):
        return None
    kind, parts = shape[0], list(shape[1:])
    if kind == "object":
        return _tuple_object(name, shape[1], file, depth, suffix)
    inner, others = _common(parts)
    part = "value" if kind == "dict" and depth == 0 else _PARTS[depth]
    cut = cut_text(part, inner, file, depth + 1, suffix)
    if cut is None:
        return None
    if others:
        # What is no tensor stays: numbers in a dictionary, layers without a state.
        cut = f"{cut} if torch.is_tensor({part}) else {part}" if is_tensor(inner) else f"{part} and {cut}"
    if kind == "tuple":
        return f"tuple({cut} for {part} in {name})"
    if kind == "list":
        return f"[{cut} for {part} in {name}]"
    if kind == "dict":
        return f"{{key: {cut} for key, {part} in {name}.items()}}"
    return None


def _common(parts: list[Any]) -> tuple[Any, bool]:
    """The nesting that the parts share, and whether others are among them."""
    wanted = [each for each in parts if each != "other"]
    if not wanted:
        return "other", False
    first = next((each for each in wanted if is_tensor(each)), wanted[0])
    alike = [each for each in wanted if _like(each, first)]
    return first, len(alike) < len(parts)


def _like(one: Any, other: Any) -> bool:
    return one == other or (is_tensor(one) and is_tensor(other))


def _tuple_object(name: str, cls: str, file: File | None, depth: int, suffix: str) -> str | None:
    """A namedtuple is made anew from its cut parts; how another object is made is not known."""
    if file is None or not is_namedtuple(cls, file.tree.tree):
        return None
    part = _PARTS[depth]
    cut = f"{part}{suffix}"
    if _holds_others(cls, file.tree.tree):
        cut = f"{cut} if torch.is_tensor({part}) else {part}"
    return f"{cls}(*({cut} for {part} in {name}))"


def _holds_others(cls: str, tree: ast.Module) -> bool:
    """Whether a class of ``typing.NamedTuple`` declares a field that is no tensor."""
    found = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == cls)
    fields = (each for node in found for each in node.body if isinstance(each, ast.AnnAssign))
    return any("Tensor" not in ast.unparse(each.annotation) for each in fields)


def is_namedtuple(cls: str, tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            if any(isinstance(target, ast.Name) and target.id == cls for target in node.targets):
                return ast.unparse(node.value.func).endswith("namedtuple")
        if isinstance(node, ast.ClassDef) and node.name == cls:
            return any(ast.unparse(base).endswith("NamedTuple") for base in node.bases)
    return False


def cut_value(value: ast.expr, shape: Any, file: File, suffix: str = ".detach()") -> list[Any] | None:
    """Steps that cut the expression ``value`` itself, element by element where it is written out."""
    parts = list(shape[1:]) if isinstance(shape, tuple) and shape[0] != "object" else []
    if isinstance(value, _LITERALS):
        return _each(value.elts, parts, file, suffix)
    if isinstance(value, ast.Dict):
        return _each(value.values, parts, file, suffix)
    if isinstance(value, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
        return cut_value(value.elt, _common(parts)[0] if parts else "tensor", file, suffix)
    if isinstance(value, ast.DictComp):
        return cut_value(value.value, _common(parts)[0] if parts else "tensor", file, suffix)
    if isinstance(value, ast.IfExp) and is_tensor(shape):
        return _branches(value, shape, file, suffix)
    if isinstance(value, ast.Constant):
        return []
    if is_tensor(shape):
        return [file.append(value, suffix)]
    text = cut_text("{0}", shape, file, suffix=suffix)
    return None if text is None else [file.step("replace", value, text)]


def _branches(value: ast.IfExp, shape: Any, file: File, suffix: str) -> list[Any] | None:
    branches = [value.body, value.orelse]
    if not any(isinstance(branch, ast.Constant) for branch in branches):
        return [file.append(value, suffix)]
    steps: list[Any] = []
    for branch in branches:
        steps += cut_value(branch, shape, file, suffix) or []
    return steps


def _each(values: list[ast.expr], parts: list[Any], file: File, suffix: str) -> list[Any] | None:
    """Steps on each element; where the nesting does not tell them apart, those that are no constants."""
    known = len(parts) == len(values)
    steps: list[Any] = []
    for number, value in enumerate(values):
        shape = parts[number] if known else "tensor"
        if shape == "other" or isinstance(value, ast.Constant):
            continue
        inner = cut_value(value, shape, file, suffix)
        if inner is None:
            return None
        steps += inner
    return steps or None
