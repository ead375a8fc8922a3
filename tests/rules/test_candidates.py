"""Cutting values of any nesting, and what a user would call a tensor."""

from __future__ import annotations

import ast
import doctest
from typing import Any

import pytest

from loopgrad.rules import syntax
from loopgrad.rules.candidates import shapes
from loopgrad.rules.candidates.shapes import cut_text
from loopgrad.rules.syntax import Tree, value_name


@pytest.mark.parametrize("module", [shapes, syntax], ids=lambda module: module.__name__)
def test_examples(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("tensor", "s.detach()"),
        (("tuple", "tensor", "tensor"), "tuple(part.detach() for part in s)"),
        (("list", "tensor", "other"), "[part.detach() if torch.is_tensor(part) else part for part in s]"),
        (("dict", "tensor"), "{key: value.detach() for key, value in s.items()}"),
        (
            ("tuple", ("tuple", "tensor", "tensor"), ("tuple", "tensor", "tensor")),
            "tuple(tuple(inner.detach() for inner in part) for part in s)",
        ),
        (
            ("tuple", ("list", "tensor"), "other"),
            "tuple(part and [inner.detach() for inner in part] for part in s)",
        ),
        (("object", "State"), None),
        ("other", None),
        (("tuple", "other"), None),
    ],
)
def test_cut_text(shape: Any, expected: str | None) -> None:
    assert cut_text("s", shape, None) == expected
    if expected is not None:
        ast.parse(expected)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("weight -= 0.1 * grad", "weight"),
        ("self.weight[0] = 0.0", "self.weight"),
        ("x.requires_grad_()", "x"),
        ("target = torch.from_numpy(a).requires_grad_()", "target"),
        ("a, b = f(x)", "a"),
        ("f(x)", ""),
        ("f(x)[0].add_(1)", ""),
    ],
)
def test_value_name(code: str, name: str) -> None:
    assert value_name(ast.parse(code).body[0]) == name


def test_common_block() -> None:
    tree = Tree(ast.parse("a = 1\nif a:\n    b = 2\nfor c in a:\n    with c:\n        d = 4\n"))
    first, condition, loop = tree.tree.body
    assert isinstance(condition, ast.If) and isinstance(loop, ast.For) and isinstance(loop.body[0], ast.With)
    inner = loop.body[0].body[0]
    assert tree.common_block(first, inner) == (first, loop)
    assert tree.common_block(condition.body[0], inner) == (condition, loop)
    assert tree.common_block(inner, inner) == (inner, inner)
