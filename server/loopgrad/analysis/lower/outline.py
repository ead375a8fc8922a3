"""A module's body in two parts: what runs at its import, and what is made when its name is first read.

Most of a package's modules are imported for one or two names. Python executes all of them; here a ``def``, a class, a
constant or an import waits until somebody reads its name, as long as nobody can tell the difference: the name is bound
once, and making what it stands for does nothing but that.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from .imports import alone, binds_package, imported
from .nodes import children, walk_all
from .scope import Scope, bind
from .statements import block, statement

Run = Callable[[Any], Any]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = frozenset({*_FUNCTIONS, ast.ClassDef})
#: Builtin functions that make a value of their arguments and call nothing back.
_MAKERS = frozenset(
    "bool bytes classmethod complex dict float frozenset int len list object property range set slice staticmethod str "
    "tuple".split()
)
#: What a property of a class decorates further methods with.
_ACCESSORS = frozenset({"setter", "getter", "deleter"})


class Outline:
    """The outline of one file.

    ``imports`` are the imports of the body: (module, level, names), no names for those that bind a module.
    ``later`` gives by name the statement that makes it, to be run with the module's frame; ``run`` executes what is
    left. ``binds`` are the names that the body binds. ``hears``: a class of it may hear of its subclasses
    (``__init_subclass__``); ``derived`` names the classes in ``later`` that have bases.
    """

    def __init__(self, record: Any) -> None:
        body: list[ast.stmt] = [each for each in record.tree.body if not _never(each)]
        self._scope = bind(Scope("module", "<module>", record, None), record.tree.body, None)
        self._times, self._assigned = _bound(body)
        self._libraries, self._decorating = _roots(body, self._times)
        classes = [each for each in body if isinstance(each, ast.ClassDef)]
        self.binds = self._scope.locals
        self.hears = any(map(_hears, classes))
        self.imports: list[tuple[str, int, tuple[str, ...]]] = []
        self.later: dict[str, Run] = {}
        rest = []
        for each in body:
            if isinstance(each, (ast.Import, ast.ImportFrom)):
                names = _imported(each)
                if names is not None and all(self._times[name] <= 1 for name in names):
                    self.imports += _asked(each)
                    self.later.update(
                        (name, _Later(one, self._scope, imported)) for name, one in names.items()
                    )
                    continue
            name = self._waits(each)
            if name is None:
                rest.append(each)
            else:
                self.later[name] = _Later(each, self._scope)
        self.derived = [each.name for each in classes if each.bases and each.name in self.later]
        self.run = block(rest, self._scope)

    def _waits(self, node: ast.stmt) -> str | None:
        """The name whose reading a statement may wait for, or None."""
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            name = node.name
        elif (
            isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        ):
            name = node.targets[0].id
        else:
            return None
        if self._times[name] > 1 or not self._inert(node):
            return None
        return name if all(self._times[each] <= 1 for each in _read_now(node) if each != name) else None

    def _inert(self, node: ast.stmt) -> bool:
        """Whether a statement changes nothing but the names that it binds."""
        if isinstance(node, _FUNCTIONS):
            made = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
            return all(map(self._still, made)) and all(map(self._keeps, node.decorator_list))
        if isinstance(node, ast.ClassDef):
            return (
                not node.keywords
                and all(map(self._still, node.bases))
                and all(map(self._keeps, node.decorator_list))
                and all(map(self._inert, node.body))
            )
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            return all(isinstance(each, ast.Name) for each in targets) and (
                node.value is None or self._still(node.value)
            )
        if isinstance(node, ast.Expr):
            return self._still(node.value)
        return isinstance(node, ast.Pass)

    def _still(self, node: ast.AST) -> bool:
        """Whether evaluating an expression gives the same at any time, and runs no code but Python's own libraries'."""
        if isinstance(node, (ast.Name, ast.Constant)):
            return True
        if isinstance(node, ast.Lambda):
            return all(map(self._still, [*node.args.defaults, *filter(None, node.args.kw_defaults)]))
        if isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
            return False
        inner = children(node)
        if not isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict)):
            if any(isinstance(each, ast.Name) and each.id in self._assigned for each in inner):
                return False  # what it looks at may be another by then
        if isinstance(node, ast.Call):
            root = _root(node.func)
            made = isinstance(node.func, ast.Name) and root in _MAKERS and not self._times[root]
            if root is None or not (root in self._libraries or made):
                return False
        return all(map(self._still, inner))

    def _keeps(self, decorator: ast.expr) -> bool:
        """Whether a decorator keeps what it is given and tells nobody of it."""
        root = _root(decorator)
        if root is None:
            return False
        if isinstance(decorator, ast.Call):
            given = [*decorator.args, *(keyword.value for keyword in decorator.keywords)]
            return root in self._decorating and all(map(self._still, given))
        if isinstance(decorator, ast.Attribute) and decorator.attr in _ACCESSORS:
            return True
        return root in self._decorating or (root in _MAKERS and not self._times[root])


class _Later:
    """A statement that is lowered when it is first needed."""

    __slots__ = ("_lower", "_node", "_run", "_scope")

    def __init__(self, node: ast.stmt, scope: Scope, lower: Callable[[Any, Scope], Run] = statement) -> None:
        self._node = node
        self._scope = scope
        self._lower = lower
        self._run: Run | None = None

    def __call__(self, frame: Any) -> None:
        if self._run is None:
            self._run = self._lower(self._node, self._scope)
        self._run(frame)


def _never(node: ast.stmt) -> bool:
    """``if __name__ == "__main__":`` of a module that is imported."""
    if not isinstance(node, ast.If) or node.orelse or not isinstance(node.test, ast.Compare):
        return False
    test = node.test
    sides = [test.left, *test.comparators]
    return (
        isinstance(test.ops[0], ast.Eq)
        and len(sides) == 2
        and {each.id for each in sides if isinstance(each, ast.Name)} == {"__name__"}
        and [each.value for each in sides if isinstance(each, ast.Constant)] == ["__main__"]
    )


def _hears(node: ast.ClassDef) -> bool:
    return any(isinstance(each, _FUNCTIONS) and each.name == "__init_subclass__" for each in node.body)


def _root(node: ast.expr) -> str | None:
    """The name that a dotted name or a call of one starts with."""
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def _bound(body: list[ast.stmt]) -> tuple[Counter[str], set[str]]:
    """How often a body binds each name, those that its functions declare global among them; the names of variables,
    behind which something else may stand or be filled in later."""
    times: Counter[str] = Counter()
    assigned: set[str] = set()
    stack: list[Any] = list(body)
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is not ast.Load:
                times[node.id] += 2 if type(node.ctx) is ast.Del else 1
                assigned.add(node.id)
        elif kind in _DEFINITIONS:
            times[node.name] += 1
        elif kind is ast.Import or kind is ast.ImportFrom:
            for alias in node.names:
                times[(alias.asname or alias.name).split(".")[0]] += 1
        elif kind is not ast.Lambda:
            if kind is ast.ExceptHandler and node.name:
                times[node.name] += 2
            elif kind is ast.AugAssign and type(node.target) is ast.Name:
                times[node.target.id] += 1
            stack.extend(children(node))
    for node in walk_all(body):
        if type(node) is ast.Global:
            times.update(dict.fromkeys(node.names, 2))
            assigned.update(node.names)
    return times, assigned


def _imported(node: ast.Import | ast.ImportFrom) -> dict[str, ast.stmt] | None:
    """An import by the names that it binds, each with an import of its own; None where they are not known."""
    if any(alias.name == "*" or binds_package(node, alias) for alias in node.names):
        return None
    return {alias.asname or alias.name: alone(node, alias) for alias in node.names}


def _asked(node: ast.Import | ast.ImportFrom) -> list[tuple[str, int, tuple[str, ...]]]:
    if isinstance(node, ast.Import):
        return [(alias.name, 0, ()) for alias in node.names]
    return [(node.module or "", node.level, tuple(alias.name for alias in node.names))]


def _roots(body: Iterable[ast.stmt], times: Counter[str]) -> tuple[set[str], set[str]]:
    """The names of Python's own libraries and of what comes from them; those that may decorate as well."""
    libraries: set[str] = set()
    decorating: set[str] = set()
    for node in body:
        if isinstance(node, ast.Import):
            found = [(alias.asname or alias.name.split(".")[0], alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found = [(alias.asname or alias.name, node.module) for alias in node.names]
        else:
            continue
        for name, module in found:
            top = module.split(".", 1)[0]
            if times[name] > 1:
                continue
            if top in sys.stdlib_module_names:
                libraries.add(name)
            if top == "torch":
                decorating.add(name)
    return libraries, libraries | decorating


def _read_now(node: ast.AST) -> set[str]:
    """The names that a statement reads when it runs, not when what it makes is called."""
    found: set[str] = set()
    stack: list[Any] = [node]
    while stack:
        each = stack.pop()
        if isinstance(each, _FUNCTIONS):
            stack.extend([*each.decorator_list, *each.args.defaults, *filter(None, each.args.kw_defaults)])
        elif isinstance(each, ast.Lambda):
            stack.extend([*each.args.defaults, *filter(None, each.args.kw_defaults)])
        elif isinstance(each, ast.Name):
            if isinstance(each.ctx, ast.Load):
                found.add(each.id)
        else:
            stack.extend(children(each))
    return found
