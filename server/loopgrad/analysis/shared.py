"""What outlives a single run: lowered files, what was learnt about branches, and the parts of the engine.

The parts (objects, calls, tensors, …) are modules; they reach each other through this one object, so that
none of them has to import the others.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, finalize

from . import cuts, growth, libraries, observe
from .lower.nodes import BACKWARDS, STEPS, has_attribute
from .lower.outline import Outline
from .lower.scope import Scope, bind
from .lower.statements import block
from .semantics import (
    calls,
    classes,
    contexts,
    decorators,
    exceptions,
    iteration,
    modules,
    objects,
    ops,
    unknowns,
)
from .torch_model import autograd, leaf_modules, methods, nn
from .torch_model import inplace as inplace_part


class FileRecord:
    """One file: its tree, lowered at the first execution."""

    __slots__ = ("_outline", "_run", "path", "tree", "watch")

    def __init__(self, path: str, tree: ast.Module, watch: Any = None) -> None:
        self.path = path
        self.tree = tree
        #: Hears of the values of the file's variables, or None: its ``reading(node, run)`` and ``storing(node, store)``
        #: wrap what a name or attribute is lowered to.
        self.watch = watch
        self._run: Callable[..., Any] | None = None
        self._outline: Outline | None = None

    def lowered(self) -> Callable[..., Any]:
        if self._run is None:
            scope = bind(Scope("module", "<module>", self, None), self.tree.body, None)
            self._run = block(self.tree.body, scope)
        return self._run

    def outline(self) -> Outline:
        """What of it runs when it is imported, and what when it is read."""
        if self._outline is None:
            self._outline = Outline(self)
        return self._outline

    def let_go(self) -> None:
        """Takes the lowered code apart, which refers to its file in turn."""
        self._run = self._outline = None


#: The records of the files that a provider holds. What is lowered of one file serves the analyses of all that
#: import it, and goes with its text.
_records: WeakKeyDictionary[Any, dict[str, FileRecord]] = WeakKeyDictionary()


def record_of(source: Any) -> FileRecord:
    """The record of a source file, made once."""
    by_path = _records.get(source)
    if by_path is None:
        by_path = _records[source] = {}
        finalize(source, _let_go, by_path).atexit = False
    if source.path not in by_path:
        by_path[source.path] = FileRecord(source.path, source.tree)
    return by_path[source.path]


def _let_go(records: dict[str, FileRecord]) -> None:
    for record in records.values():
        record.let_go()


def _has_step(tree: ast.Module) -> bool:
    """Whether a class of a file has a method whose loss a framework trains on."""
    methods = (each for cls in tree.body if isinstance(cls, ast.ClassDef) for each in cls.body)
    return any(isinstance(each, ast.FunctionDef) and each.name in STEPS for each in methods)


class _Tensors:
    """The tensor part under the names that the rest of the engine uses."""

    binary = staticmethod(methods.binary)
    apply = staticmethod(methods.apply)
    method = staticmethod(methods.method)
    attribute = staticmethod(methods.attribute)
    set_attribute = staticmethod(methods.set_attribute)
    unknown_attribute = staticmethod(methods.unknown_attribute)
    index = staticmethod(methods.index)
    set_index = staticmethod(inplace_part.set_index)
    rows = staticmethod(methods.rows)
    graphless = staticmethod(methods.graphless)
    inplace = staticmethod(methods.inplace_op)
    dropped_detach = staticmethod(methods.dropped_detach)


class Shared:
    """The engine's parts, and one analysis' memory across its runs."""

    objects = objects
    ops = ops
    calls = calls
    classes = classes
    decorators = decorators
    exceptions = exceptions
    contexts = contexts
    modules = modules
    unknowns = unknowns
    iteration = iteration
    libraries = libraries
    tensors = _Tensors
    autograd = autograd
    observe = observe
    growth = growth
    cuts = cuts
    tensor_class = nn.TENSOR
    tensor_classes = (nn.TENSOR, nn.VARIABLE)
    leaf_modules = leaf_modules

    def __init__(self, main: FileRecord, provider: Any) -> None:
        self.main = main
        self.provider = provider
        self.files: dict[str, FileRecord | None] = {main.path: main}
        self.significant: dict[int, bool] = {}
        #: The definitions of the file, once an entry point that is a function was run.
        self.definitions: Any = None
        #: Expressions, by their sites, of whose unknown values a backward showed that they have a graph.
        self.proved: set[int] = set()
        #: The functions that some run executed, by their nodes.
        self.ran: set[int] = set()
        #: Parameters by (function, name): whether the function plainly uses them as a module.
        self.used_as_module: dict[tuple[int, str], bool] = {}
        self.tensor_attrs: dict[Any, Any] = {}
        #: Classes whose methods a framework calls: the entry point that runs its loop, None where that ran already.
        self.driven: dict[str, Any] = {}
        #: The places from which a framework calls, by the place that started it.
        self.inside: dict[Any, Any] = {}
        #: The notebook cell of a line, where the file is a notebook.
        self.cell_of: Callable[[int], int] | None = None
        self._imported: dict[tuple[str, int, tuple[str, ...], str], list[tuple[str, FileRecord]]] = {}
        self._imports: dict[str, list[tuple[str, FileRecord]]] = {}
        self._resolved: dict[tuple[str, int, str], FileRecord | None] = {}

    def path_of(self, module: str, level: int, from_file: FileRecord) -> str | None:
        """The path of a module of the workspace as seen from a file, or None."""
        if self.provider is None:
            return None
        if not level and module.split(".", 1)[0] in sys.stdlib_module_names:
            return None  # a file of the workspace that is named like one is not what `import warnings` means
        path: str | None = self.provider.resolve(module, level, from_file.path)
        return path

    def resolve(self, module: str, level: int, from_file: Any) -> FileRecord | None:
        """The file of a module as seen from another file, or None."""
        if from_file is None:
            return None
        key = (module, level, from_file.path)
        if key not in self._resolved:
            self._resolved[key] = self._open(self.path_of(module, level, from_file))
        return self._resolved[key]

    def runs_backward(self) -> bool:
        """Whether a backward stands in one of the files that were opened, or what a framework runs one for."""
        opened = [record for record in self.files.values() if record is not None]
        return any(has_attribute(record.tree, BACKWARDS) or _has_step(record.tree) for record in opened)

    def imported(
        self, module: str, level: int, names: tuple[str, ...], file: Any
    ) -> list[tuple[str, FileRecord]]:
        """The modules of the workspace that one import executes: (name, file)."""
        key = (module, level, names, file.path)
        found = self._imported.get(key)
        if found is None:
            found = self._imported[key] = []
            whole = self.resolve(module, level, file) if module or level else None
            if whole is not None:
                found.append((module, whole))
            for name in names:
                if whole is None or name not in whole.outline().binds:
                    inner = f"{module}.{name}" if module else name
                    record = self.resolve(inner, level, file)
                    if record is not None:
                        found.append((inner, record))
        return found

    def imports_of(self, record: FileRecord) -> list[tuple[str, FileRecord]]:
        """The modules of the workspace that a module executes first: (name, file)."""
        found = self._imports.get(record.path)
        if found is None:
            by_path = {
                other.path: (name, other)
                for module, level, names in record.outline().imports
                for name, other in self.imported(module, level, names, record)
            }
            found = self._imports[record.path] = list(by_path.values())
        return found

    def _open(self, path: str | None) -> FileRecord | None:
        if path is None:
            return None
        if path not in self.files:
            try:
                source = self.provider.read(path)
                self.files[path] = record_of(source) if source is not None else None
            except Exception:
                self.files[path] = None
        return self.files[path]
