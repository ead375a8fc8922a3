"""Walking syntax trees.

Lowering asks many small questions of the tree (does this body yield, which names does it fill). The generators of
``ast`` look at every field; these look at those that can hold nodes, and leave out operators and contexts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

#: Fields that hold no node, or only an operator or a context.
_PLAIN = frozenset(
    "id attr ctx op ops kind lineno module level asname arg type_comment is_async conversion simple kwd_attrs rest".split()
)


class _Fields(dict[type, tuple[str, ...]]):
    """The fields of a class of nodes in which nodes are found."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        plain = kind is ast.Constant or kind is ast.Global or kind is ast.Nonlocal
        fields = () if plain else tuple(f for f in kind._fields if f not in _PLAIN)
        self[kind] = fields
        return fields


_FIELDS = _Fields()


def children(node: ast.AST) -> list[Any]:
    """The nodes directly inside of a node, in the order of its fields."""
    found: list[Any] = []
    for name in _FIELDS[type(node)]:
        value = getattr(node, name, None)
        if type(value) is list:
            found.extend([item for item in value if isinstance(item, ast.AST)])
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk_all(nodes: Iterable[ast.AST]) -> list[Any]:
    """The nodes and everything inside of them, by levels."""
    found: list[Any] = list(nodes)
    fields = _FIELDS
    for node in found:
        for name in fields[type(node)]:
            value = getattr(node, name, None)
            if type(value) is list:
                found.extend([item for item in value if isinstance(item, ast.AST)])
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


def walk(node: ast.AST) -> list[Any]:
    """A node and everything inside of it, by levels as ``ast.walk`` gives them."""
    return walk_all((node,))


#: Where a node keeps the names of the attributes inside of it, once somebody asked.
_NAMES = "attribute_names"
#: Methods that fill a container.
FILLS = frozenset({"add", "append", "appendleft", "extend", "insert", "setdefault", "update"})
#: Methods that run a backward.
BACKWARDS = frozenset({"backward", "manual_backward"})


def has_attribute(node: ast.AST, names: frozenset[str]) -> bool:
    """Whether an attribute of one of these names stands somewhere in a piece of code."""
    known: frozenset[str] | None = vars(node).get(_NAMES)
    if known is None:
        known = frozenset(each.attr for each in walk(node) if isinstance(each, ast.Attribute))
        setattr(node, _NAMES, known)
    return not known.isdisjoint(names)
