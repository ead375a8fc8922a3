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


#: The fields of a class of nodes in which nodes are found.
_FIELDS: dict[type, tuple[str, ...]] = {}


def _fields_of(kind: Any) -> tuple[str, ...]:
    fields = _FIELDS.get(kind)
    if fields is None:
        plain = kind is ast.Constant or kind is ast.Global or kind is ast.Nonlocal
        fields = _FIELDS[kind] = () if plain else tuple([f for f in kind._fields if f not in _PLAIN])
    return fields


def children(node: ast.AST) -> list[Any]:
    """The nodes directly inside of a node, in the order of its fields."""
    found: list[Any] = []
    for name in _fields_of(type(node)):
        value = getattr(node, name, None)
        if type(value) is list:
            found.extend([item for item in value if isinstance(item, ast.AST)])
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk_all(nodes: Iterable[ast.AST]) -> list[Any]:
    """The nodes and everything inside of them, by levels."""
    found: list[Any] = list(nodes)
    known = _FIELDS
    for node in found:
        kind = type(node)
        for name in known.get(kind) or _fields_of(kind):
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
#: Methods that a framework calls for each batch and that hand it their loss: no backward stands in them.
STEPS = frozenset({"training_step", "compute_loss"})


def has_attribute(node: ast.AST, names: frozenset[str]) -> bool:
    """Whether an attribute of one of these names stands somewhere in a piece of code."""
    known: frozenset[str] | None = vars(node).get(_NAMES)
    if known is None:
        known = frozenset(each.attr for each in walk(node) if isinstance(each, ast.Attribute))
        setattr(node, _NAMES, known)
    return not known.isdisjoint(names)
