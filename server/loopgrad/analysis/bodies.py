"""Whether a file's body can show anything, or only defines what others use.

Most files of a package are imports, functions and classes. To execute such a body means to execute all that it
imports, for nothing: no backward and no loop is in it, and what it calls are libraries.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable

from .lower.nodes import children

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: Statements that run others, or expressions as often as they like.
_RUNS = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Match)
#: Builtin functions that run code which no tree shows.
_EVALUATE = frozenset({"eval", "exec", "__import__"})


class Body:
    """The statements of a module, by the names that they bind.

    ``found`` gives the file of a module of the workspace, by its name and the dots before that; None where it is
    none. ``checked`` answers whether what that file does is reported with the file itself.
    """

    def __init__(
        self, tree: ast.Module, found: Callable[[str, int], str | None], checked: Callable[[str], bool]
    ) -> None:
        self._tree = tree
        self._found = found
        self._checked = checked
        self._whole = True
        #: Names of libraries and of what comes from them; of what is defined here or comes from the workspace.
        self._libraries: set[str] = set()
        self._own: set[str] = set()

    def only_defines(self) -> bool:
        """Whether running it shows nothing that a backward or a loop is needed for."""
        self._bind(self._tree.body)
        self._libraries -= self._own
        return self._whole and all(map(self._still, self._tree.body))

    def _bind(self, statements: Iterable[ast.AST]) -> None:
        for each in statements:
            if isinstance(each, ast.Import):
                for alias in each.names:
                    self._imports(alias.asname or alias.name.split(".")[0], [alias.name], 0)
            elif isinstance(each, ast.ImportFrom):
                module = each.module or ""
                for alias in each.names:
                    inner = f"{module}.{alias.name}" if module else alias.name
                    self._imports(alias.asname or alias.name, [module, inner], each.level)
            elif isinstance(each, (*_FUNCTIONS, ast.ClassDef)):
                self._own.add(each.name)
            elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                self._own.add(each.id)
            else:
                self._bind(children(each))

    def _imports(self, name: str, modules: list[str], level: int) -> None:
        files = [self._found(module, level) for module in modules if module or level]
        own = [file for file in files if file is not None]
        (self._own if own or level else self._libraries).add(name)
        # A script that trains when it is imported is told here, unless it is told by itself.
        self._whole = self._whole and all(map(self._checked, own))

    def _still(self, node: ast.AST) -> bool:
        """Whether a piece of code runs no loop, and calls nothing but libraries with nothing of its own."""
        if isinstance(node, _FUNCTIONS):
            return all(map(self._still, [*node.args.defaults, *filter(None, node.args.kw_defaults)]))
        if isinstance(node, ast.ClassDef):  # what decorates a function or class is there to keep it
            return all(map(self._still, [*node.body, *node.bases]))
        if isinstance(node, ast.Lambda):
            return True
        if isinstance(node, _RUNS):
            return False
        if isinstance(node, ast.Call):
            return self._calls_library(node.func) and not any(map(self._holds_own, _arguments(node)))
        return all(map(self._still, children(node)))

    def _calls_library(self, function: ast.expr) -> bool:
        while isinstance(function, ast.Attribute):
            function = function.value
        if not isinstance(function, ast.Name) or function.id in self._own:
            return False
        return function.id in self._libraries or (
            hasattr(builtins, function.id) and function.id not in _EVALUATE
        )

    def _holds_own(self, argument: ast.expr) -> bool:
        """Whether an argument may be a function to be called back, or runs something itself."""
        if isinstance(argument, ast.Name):
            return argument.id in self._own
        return not self._still(argument) or any(map(self._holds_own, children(argument)))


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]
