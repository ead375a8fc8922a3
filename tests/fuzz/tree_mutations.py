"""Mutations of a source's tree: the results are valid Python that makes no sense.

These reach deeper into the analysis than broken text, which ends at the parser. What is put somewhere is a copy:
a node that hangs in two places, or within itself, would make the next mutation explode.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any

Block = list[ast.stmt]
#: What unparsing a mutated tree can raise: a name where only a constant may stand, a nesting too deep.
UNWRITABLE = (ValueError, TypeError, AttributeError, RecursionError, KeyError, IndexError)


def _blocks(tree: ast.AST) -> list[Block]:
    found = []
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                found.append(block)
    return found


def _expressions(tree: ast.AST) -> list[tuple[Any, str, int | None, ast.expr]]:
    """Each expression that is read, with where it hangs: parent, field and place in the field's list."""
    found: list[tuple[Any, str, int | None, ast.expr]] = []
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr) and isinstance(getattr(value, "ctx", ast.Load()), ast.Load):
                found.append((node, name, None, value))
            elif isinstance(value, list):
                for at, part in enumerate(value):
                    if isinstance(part, ast.expr) and isinstance(getattr(part, "ctx", ast.Load()), ast.Load):
                        found.append((node, name, at, part))
    return found


def _put(place: tuple[Any, str, int | None, ast.expr], new: ast.expr) -> None:
    parent, name, at, _ = place
    if at is None:
        setattr(parent, name, new)
    else:
        getattr(parent, name)[at] = new


def statements(rng: random.Random, tree: ast.Module, other: ast.Module) -> None:
    """Statements deleted, doubled, swapped, moved into another block, or taken from another file."""
    blocks = _blocks(tree)
    block = rng.choice(blocks)
    at = rng.randrange(len(block))
    match rng.randrange(6):
        case 0:
            block[at : at + rng.choice([1, 2, 5])] = [] if len(block) > 5 else [ast.Pass()]
        case 1:
            block.insert(at, deepcopy(block[at]))
        case 2:
            to = rng.randrange(len(block))
            block[at], block[to] = block[to], block[at]
        case 3:
            rng.choice(blocks).insert(0, deepcopy(block[at]))
        case 4:
            theirs = rng.choice(_blocks(other))
            first = rng.randrange(len(theirs))
            block[at:at] = deepcopy(theirs[first : first + rng.choice([1, 3, 8])])
        case _:
            rng.shuffle(block)


def expressions(rng: random.Random, tree: ast.Module, other: ast.Module) -> None:
    """Expressions replaced by others, of this file or of another."""
    places = _expressions(tree)
    if not places:
        return
    donors = _expressions(other) if rng.random() < 0.4 else places
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        if donors:
            _put(rng.choice(places), deepcopy(rng.choice(donors)[3]))


def names(rng: random.Random, tree: ast.Module, _other: ast.Module) -> None:
    """Names, attributes, arguments and imported modules that become others of the file."""
    used = [
        n
        for n in ast.walk(tree)
        if isinstance(n, (ast.Name, ast.Attribute, ast.arg, ast.FunctionDef, ast.alias))
    ]
    texts = [_name(n) for n in used] or ["x"]
    for node in rng.sample(used, min(len(used), rng.choice([1, 1, 2, 5]))):
        text = rng.choice(texts)
        if isinstance(node, ast.Name):
            node.id = text
        elif isinstance(node, ast.Attribute):
            node.attr = text
        elif isinstance(node, ast.arg):
            node.arg = text
        else:
            node.name = text


def _name(node: ast.AST) -> str:
    for field in ("id", "attr", "arg", "name"):
        if hasattr(node, field):
            return str(getattr(node, field)).split(".")[0]
    return "x"


def wrappers(rng: random.Random, tree: ast.Module, _other: ast.Module) -> None:
    """Statements put into a loop, a try, a with, a function, a class, a match."""
    block = rng.choice(_blocks(tree))
    first = rng.randrange(len(block))
    inner = block[first : first + rng.choice([1, 2, 5, 100])]
    if not all(isinstance(node, ast.stmt) for node in inner):
        return
    shell = rng.choice(_SHELLS)
    node = ast.parse(shell).body[0]
    for part in ast.walk(node):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(part, name, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
                if isinstance(body[0].value, ast.Constant) and body[0].value.value is ...:
                    setattr(part, name, deepcopy(inner))
    block[first : first + len(inner)] = [node]


_SHELLS = [
    "while True:\n    ...",
    "while x:\n    ...\nelse:\n    ...",
    "for x in x:\n    ...",
    "for self.x[0], *y in f():\n    ...\nelse:\n    ...",
    "try:\n    ...\nexcept Exception as x:\n    ...\nelse:\n    ...\nfinally:\n    ...",
    "try:\n    ...\nexcept* ValueError:\n    pass",
    "with torch.no_grad(), x as (y, [z]):\n    ...",
    "async def f():\n    async with x as y:\n        ...",
    "async def f():\n    async for x in y:\n        ...",
    "def f(x, /, y=1, *a, z, **k):\n    global loss\n    ...\n    yield x",
    "def f():\n    def g():\n        nonlocal x\n        ...\n    x = yield from g()\n    return f",
    "@property\ndef loss(self):\n    ...\n    return self.loss",
    "class C(C, metaclass=C):\n    ...",
    "class C(torch.nn.Module):\n    __slots__ = C.x\n    ...\n    def __getattr__(self, n):\n        return getattr(self, n)",
    "match x:\n    case [1, *r] if r:\n        ...\n    case {'a': C(y=z), **k}:\n        ...\n    case _ as q:\n        ...",
    "if (x := loss) is None:\n    ...\nelif x:\n    ...\nelse:\n    ...",
    "for i in range(3):\n    for j in range(i, 10**6):\n        ...\n        loss.backward()",
]

TreeMutation = Callable[[random.Random, ast.Module, ast.Module], None]
_KINDS: dict[TreeMutation, float] = {statements: 3, expressions: 3, names: 2, wrappers: 3}


def _parse(data: bytes) -> ast.Module | None:
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if tree.body else None


def mutate_tree(rng: random.Random, data: bytes, other: bytes) -> bytes | None:
    """A valid program made of one or two; None where the first is no Python or the result cannot be written."""
    tree, second = _parse(data), _parse(other)
    if tree is None:
        return None
    kinds = rng.choices(list(_KINDS), list(_KINDS.values()), k=rng.choice([1, 1, 1, 2, 3, 6]))
    for kind in kinds:
        kind(rng, tree, second or tree)
    try:
        text = ast.unparse(tree)
    except UNWRITABLE:
        return None
    return text.encode("utf-8", "surrogatepass")
