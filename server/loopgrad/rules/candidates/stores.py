"""The statement that stores a value, and how to cut the value there.

``hidden = cell(x, hidden)`` is cut by ``.detach()`` behind the expression; ``out, hidden = rnn(x, hidden)``
needs a statement of its own below it; ``history.append(loss)`` is cut at the argument.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from copy import copy
from typing import Any

from loopgrad.analysis.observation import Carrier
from loopgrad.analysis.where import Site
from loopgrad.model import Step

from ..context import Context
from ..syntax import method_name
from .edits import File
from .shapes import cut_text, cut_value, is_tensor

#: Calls that store an argument, by the position of what they store.
_STORING = {
    "append": 0, "appendleft": 0, "add": 0, "extend": 0, "put": 0, "push": 0, "insert": 1, "setattr": 2,
    "__setattr__": 1, "register_buffer": 1, "setdefault": 1, "copy_": 0, "add_": 0, "lerp_": 0, "update": 0,
    "index_copy_": 2, "__setitem__": 1, "heappush": 1, "heappushpop": 1, "heapreplace": 1, "insort": 1,
    "insort_left": 1, "insort_right": 1,
}  # fmt: skip


#: Attributes whose value has no graph anyway.
_GRAPHLESS = frozenset({"detach", "detach_", "data", "shape", "size", "device", "dtype", "item", "grad"})


class Store:
    """One carrier: its name, its nesting, and the statement that stores it."""

    def __init__(self, carrier: Carrier, context: Context) -> None:
        self.name: str = carrier.text
        self.shape: Any = carrier.shape
        self.kind: str = carrier.kind
        self.site = carrier.site
        self.file = File(context, context.path(carrier.site))
        self.node: ast.AST = carrier.site.node
        stmt = carrier.site.stmt
        self.statement: ast.stmt | None = (
            stmt if isinstance(stmt, ast.stmt) else self.file.tree.statement(self.node)
        )
        #: Where the name is read, if not where it is stored.
        self._seen_from: ast.AST | None = None

    def as_seen_from(self, loop: ast.AST) -> Store | None:
        """The same carrier under the name that a loop has for it which calls the function that stores."""
        name = name_in(loop, self.name, self.function)
        if name is None:
            return None
        found = copy(self)
        found.name, found._seen_from = name, loop
        return found

    def sibling(self, target: ast.expr, shape: Any) -> Store:
        """What the same statement stores in another target."""
        site = Site(self.site.file, target, self.site.stmt, self.site.func)
        kind = "attribute" if isinstance(target, ast.Attribute) else "name"
        return Store(Carrier(ast.unparse(target), site, shape, kind), self.file.context)

    @property
    def function(self) -> ast.AST | None:
        return self.file.tree.function(self.node)

    @property
    def scope(self) -> ast.AST:
        return self.file.tree.scope(self._seen_from or self.node)

    @property
    def _unowned(self) -> bool:
        """Whether it is an attribute of an object that another place names."""
        return self.kind == "attribute" and "." not in self.name

    @property
    def nameable(self) -> bool:
        """Whether ``name = cut(name)`` can be written: a name, an attribute, or an item by a plain key."""
        if self.kind == "append" or self._unowned:
            return False
        try:
            node = ast.parse(self.name, mode="eval").body
        except SyntaxError:
            return False
        return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and not any(
            isinstance(each, ast.Call) for each in ast.walk(node)
        )

    def value(self) -> ast.expr | None:
        """The expression whose value is stored as it is; None where it comes out of a larger one."""
        found = self.statement
        if isinstance(found, ast.Assign):
            for target in found.targets:
                value = _matching(target, found.value, self.node)
                if value is not None:
                    return value
            return None
        if isinstance(found, (ast.AnnAssign, ast.AugAssign)):
            return found.value
        call = self.node if isinstance(self.node, ast.Call) else _call_of(found)
        if self._unowned and call is self.node and isinstance(call, ast.Call) and call.args:
            return call.args[-1]  # `save = partial(setattr, state, "h")`
        return stored_argument(call) or self._updated(call)

    def _updated(self, call: ast.Call | None) -> ast.expr | None:
        """``value`` of ``state.update(h=value)``, for what is named ``state['h']``."""
        for keyword in call.keywords if call is not None and method_name(call) == "update" else ():
            if self.name.endswith(f"[{keyword.arg!r}]"):
                return keyword.value
        return None

    def cut_here(self, suffix: str = ".detach()") -> list[Step] | None:
        """Cut by changing the stored expression itself."""
        value = self.value()
        if value is None:
            return None
        if method_name(self.node) == "extend":
            return _cut_sequence(value, self.shape, self.file, suffix)
        return cut_value(value, self.shape, self.file, suffix)

    def assignment(self, suffix: str = ".detach()") -> str | None:
        """``name = name.detach()`` for the value's nesting; each element of a list that is filled."""
        if self.kind == "append":
            return self._elements(suffix)
        if not self.nameable:
            return None
        if self.kind == "nonlocal" and suffix == ".detach()" and is_tensor(self.shape) and not self._declared:
            return f"{self.name}.detach_()"  # written to in part: the function cannot bind it anew
        text = cut_text(self.name, self.shape, self.file, suffix=suffix)
        if text is None and isinstance(self.shape, tuple) and self.shape[0] == "object":
            return self._fields(suffix)
        return None if text is None else f"{self.name} = {text}"

    @property
    def _declared(self) -> bool:
        """Whether the function may bind its carrier's name: it is ``global`` or ``nonlocal`` there."""
        declarations = (each for each in ast.walk(self.scope) if isinstance(each, (ast.Global, ast.Nonlocal)))
        return any(self.name in each.names for each in declarations)

    def _elements(self, suffix: str) -> str | None:
        """All that a list holds cut in place, where it is plainly a list: whoever else has it goes on with the same."""
        plain = any(
            isinstance(each, ast.Assign)
            and isinstance(each.value, ast.List)
            and any(ast.unparse(target) == self.name for target in each.targets)
            for each in ast.walk(self.file.tree.tree)
        )
        if not plain or not is_tensor(self.shape) or method_name(self.node) != "append":
            return None
        return f"{self.name}[:] = [part{suffix} for part in {self.name}]"

    def _fields(self, suffix: str) -> str | None:
        """An object's fields cut in place, one after the other."""
        lines = []
        for name, shape in self.shape[2]:
            text = cut_text(f"{self.name}.{name}", shape, self.file, suffix=suffix)
            if text is None:
                return None
            lines.append(f"{self.name}.{name} = {text}")
        return "\n".join(lines) or None

    def cut_below(self) -> Step | None:
        """Cut by a statement directly below."""
        text = self.assignment()
        if text is None or not isinstance(self.statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            return None
        return self.file.step("insert_after", self.statement, text)

    def reads(self, where: ast.AST) -> Iterator[ast.expr]:
        """Where a node reads the carrier under its own name."""
        for each in ast.walk(where):
            if isinstance(each, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(each.ctx, ast.Load):
                if ast.unparse(each) == self.name:
                    yield each

    def cut_reads(self, where: ast.AST) -> list[Step]:
        """Cut wherever a node reads the carrier."""
        steps: list[Step] = []
        for each in self.reads(where):
            parent = self.file.tree.parent(each)
            if isinstance(parent, ast.Attribute) and (parent.attr in _GRAPHLESS or parent.attr in _STORING):
                continue
            if isinstance(parent, ast.Compare) and any(_is_none(other) for other in parent.comparators):
                continue
            cut = cut_value(each, self.shape, self.file)
            steps += cut or []
        return steps


def _matching(target: ast.expr, value: ast.expr, node: ast.AST) -> ast.expr | None:
    """The part of ``value`` that goes to ``node``, a part of ``target``."""
    if target is node:
        return value
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        starred = any(isinstance(each, ast.Starred) for each in (*target.elts, *value.elts))
        if len(target.elts) == len(value.elts) and not starred:
            for inner, part in zip(target.elts, value.elts):
                found = _matching(inner, part, node)
                if found is not None:
                    return found
    if isinstance(target, (ast.Subscript, ast.Attribute)) and not isinstance(node, (ast.Name, ast.Tuple)):
        if ast.dump(target) == ast.dump(node):
            return value
    return None


def _cut_sequence(value: ast.expr, shape: Any, file: File, suffix: str) -> list[Step] | None:
    """Cut what a list is extended by: the tensor that is taken apart, or each part."""
    if isinstance(value, ast.Call) and method_name(value) in ("unbind", "split", "chunk"):
        return [file.append(value.func.value, suffix)] if isinstance(value.func, ast.Attribute) else None
    if isinstance(value, (ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp)) or not is_tensor(shape):
        return cut_value(value, shape, file, suffix)
    return [file.step("replace", value, f"[part{suffix} for part in {{0}}]")]


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _call_of(statement: ast.AST | None) -> ast.Call | None:
    value = getattr(statement, "value", None)
    return value if isinstance(value, ast.Call) else None


def stored_argument(call: ast.Call | None) -> ast.expr | None:
    """The argument of a call that it stores."""
    if call is None:
        return None
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    position = _STORING.get(name)
    if position is None or len(call.args) <= position:
        return None
    return call.args[position]


def name_in(loop: ast.AST, name: str, function: ast.AST | None) -> str | None:
    """What a loop calls that which a function of its file calls ``name``, by the loop's calls of the function.

    ``self.h`` of a method is ``memory.h`` behind ``memory.keep(h)``; what a property's setter stores has the
    property's name.
    """
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    if any(ast.unparse(each).endswith(".setter") for each in function.decorator_list):
        found = {
            ast.unparse(node)
            for node in ast.walk(loop)
            if isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and node.attr == function.name
        }
        return found.pop() if len(found) == 1 else None
    root = re.split(r"[.\[(]", name)[0]
    given = [_given(call, function, root) for call in ast.walk(loop) if method_name(call) == function.name]
    if not given or not isinstance(given[0], (ast.Name, ast.Attribute)):
        return None
    texts = {ast.unparse(each) if each is not None else "" for each in given}
    return texts.pop() + name[len(root) :] if len(texts) == 1 else None


def _given(call: ast.AST, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> ast.expr | None:
    """What a call gives a parameter of a function; the object of a method for its first."""
    assert isinstance(call, ast.Call)
    if any(isinstance(each, ast.Starred) for each in call.args):
        return None
    names = [each.arg for each in function.args.args]
    values = list(call.args)
    if names[:1] == ["self"]:
        if not isinstance(call.func, ast.Attribute):
            return None
        values.insert(0, call.func.value)
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    return dict(zip(names, values)).get(name, named.get(name))


def starts_as_number(store: Store) -> bool:
    """Whether the carrier is a plain number before it is first stored, as a sum is."""
    tree = store.file.tree
    where = tree.class_of(store.node) if store.name.startswith("self.") else store.scope
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, (int, float))
        and any(ast.unparse(target) == store.name for target in node.targets)
        for node in ast.walk(where or tree.tree)
    )


def starts_as_none(store: Store) -> bool:
    """Whether the carrier may be None before it is first stored."""
    tree = store.file.tree
    where = tree.class_of(store.node) if store.name.startswith("self.") else store.scope
    for node in ast.walk(where or tree.tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is None:
            if any(ast.unparse(target) == store.name for target in node.targets):
                return True
        if isinstance(node, ast.Compare) and ast.unparse(node.left) == store.name:
            if any(isinstance(each, ast.Constant) and each.value is None for each in node.comparators):
                return True
        if isinstance(node, ast.arguments):
            if any(isinstance(d, ast.Constant) and d.value is None for d in node.defaults) and store.name in {
                each.arg for each in node.args[-len(node.defaults) :]
            }:
                return True
    return False


def stores(carriers: Iterable[Carrier], context: Context) -> list[Store]:
    return [Store(carrier, context) for carrier in carriers]


def names_of(several: Iterable[Store]) -> list[str]:
    return list(dict.fromkeys(store.name for store in several))


__all__ = [
    "Store",
    "is_tensor",
    "names_of",
    "starts_as_none",
    "starts_as_number",
    "stored_argument",
    "stores",
]
