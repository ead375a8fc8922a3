"""Entry points: a file's body, and the functions and methods that nothing in the file calls."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from .definitions import Definitions
from .lower.nodes import BACKWARDS, STEPS, has_attribute, walk
from .runtime import Frame, Runtime
from .semantics.modules import execute
from .torch_model import nn
from .values import (
    MISSING,
    Bound,
    Class,
    ClassMethod,
    Func,
    LDict,
    LList,
    LSet,
    Obj,
    Property,
    StaticMethod,
    Sym,
    UserModule,
)
from .where import ENTRY, LoopRun, Site, Where

#: How often a step method without a loop around it is called: what it keeps on self meets itself again.
IMPLICIT_CALLS = 4
#: What runs a backward, or has a framework run one.
_BACKWARDS = BACKWARDS | {"training_step"}
_MODULE_USES = frozenset({"parameters", "named_parameters", "train", "eval", "zero_grad", "state_dict"})


class Entry:
    """One entry point. ``sure`` where it is a program of its own, not a guess of how it is called."""

    __slots__ = ("cls", "func", "line", "step", "sure", "without_none")

    def __init__(
        self, line: int, func: str | None = None, cls: str | None = None, without_none: bool = False
    ) -> None:
        self.line = line
        self.func = func
        self.cls = cls
        self.sure = func is None
        #: Whether it runs a backward outside of any loop of its own; None before somebody asked.
        self.step: bool | None = None
        #: Whether a parameter with the default None is given: ``args=None`` whose ``args.lr`` is read.
        self.without_none = without_none


def used_names(tree: ast.Module) -> set[str]:
    """Names that the file refers to: called, passed, or read as an attribute."""
    names: set[str] = set()
    for node in walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            names.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            names.add(node.value)
    return names


def interesting(node: ast.AST) -> bool:
    """Whether a function could show anything alone: it runs a backward, or loops."""
    return has_attribute(node, _BACKWARDS) or any(
        isinstance(each, (ast.For, ast.While)) for each in walk(node)
    )


def entries_of(record: Any) -> list[Entry]:
    """The entry points of a file, its body first."""
    tree = record.tree
    found = [Entry(1)]
    used = used_names(tree)
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.name not in used and interesting(node):
                found.append(Entry(node.lineno, node.name))
        elif isinstance(node, ast.ClassDef):
            made = node.name in used
            for method in node.body:
                if not isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) or not interesting(method):
                    continue
                if method.name in ("__init__", "forward", "__call__") or method.name in used:
                    continue
                if not (made and method.name.startswith("_")):
                    found.append(Entry(method.lineno, method.name, node.name))
    return found


def never_run(record: Any, ran: set[int]) -> list[Entry]:
    """Functions and methods with a backward of their own that no entry point led to.

    Their names are used somewhere, by a caller that ended early or on an object that is not known.
    """
    found = []
    for node in record.tree.body:
        owner = node if isinstance(node, ast.ClassDef) else None
        for each in owner.body if owner is not None else [node]:
            if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) or id(each) in ran:
                continue
            step = owner is not None and each.name in STEPS
            if each.name not in ("__init__", "forward") and (step or has_attribute(each, _BACKWARDS)):
                found.append(Entry(each.lineno, each.name, owner.name if owner is not None else None))
    return found


def run_entry(rt: Runtime, entry: Entry) -> None:
    """Execute an entry point in a fresh run."""
    try:
        _run_entry(rt, entry)
    finally:
        rt.give_back()


def _run_entry(rt: Runtime, entry: Entry) -> None:
    record = rt.shared.main
    if entry.func is None:
        module = UserModule("__main__", record)
        rt.user_modules[record.path] = module
        table = rt.globals.setdefault(record.path, module.globals)
        table["__name__"] = "__main__"
        table["__file__"] = record.path
        table.frame = frame = Frame(rt, record, table, table, None, None)
        rt.frames.append(frame)
        record.lowered()(frame)
        return
    call_entry(rt, entry, defined(rt, [entry]))


def defined(rt: Runtime, entries: list[Entry]) -> UserModule:
    """The file's module with what some of its functions and classes lead to."""
    record = rt.shared.main
    module = UserModule("module", record)
    rt.user_modules[record.path] = module
    rt.lenient = True
    define_only(rt, record, module, *(entry.cls or entry.func or "" for entry in entries))
    open_up(module.globals.values())
    return module


def call_entry(rt: Runtime, entry: Entry, module: UserModule) -> None:
    """Call the function of an entry point with unknown arguments, as often as its like is called."""
    assert entry.func is not None
    record = rt.shared.main
    site = Site(record, record.tree, record.tree, ENTRY)
    target = module.globals.get(entry.func) if entry.cls is None else None
    if entry.cls is not None:
        cls = module.globals.get(entry.cls)
        if type(cls) is not Class:
            return
        target = method_of(rt, cls, entry, site)
    if target is None:
        return
    func = target.func if type(target) is Bound else target
    if type(func) is not Func:
        return
    if type(target) is Bound and type(target.self) is Obj and driven(target.self.cls, entry.func):
        if first_of(rt, target.self.cls, entry):
            rt.shared.calls.call(rt, Bound(target.self.cls.find("__drive__"), target.self), [], {}, site)
        return
    body = func.code.node
    if entry.step is None:
        entry.step = _is_step(body)
    if not entry.step or type(target) is not Bound and not repeatable(func):
        made = call_unknown(rt, target, site, entry.without_none)
        if type(made) is Func and _is_step(made.code.node):
            again(rt, made, site, False)  # a function that makes the step
        return
    again(rt, target, site, entry.without_none)


def driven(cls: Class, name: str) -> bool:
    """Whether a framework calls this method of a class, in a loop and a grad mode of its own."""
    names = cls.find("__driven__")
    return names is not MISSING and name in names


def first_of(rt: Runtime, cls: Class, entry: Entry) -> bool:
    """Whether the framework's loop is to be run for this entry: for the first of a class that ran in none so far."""
    chosen = rt.shared.driven
    if cls.name not in chosen:
        methods = [cls.ns.get(name) for name in cls.find("__driven__")]
        ran = any(type(each) is Func and id(each.code.node) in rt.shared.ran for each in methods)
        chosen[cls.name] = None if ran else entry
    return chosen[cls.name] is entry


def _is_step(body: ast.AST) -> bool:
    """Whether a function runs a backward outside of any loop of its own. One that makes a step runs none itself."""
    returned = {n.value.id for n in walk(body) if isinstance(n, ast.Return) and isinstance(n.value, ast.Name)}
    made = [n for n in walk(body) if isinstance(n, ast.FunctionDef) and n.name in returned and n is not body]
    if any(has_attribute(n, _BACKWARDS) for n in made):
        return False
    return has_attribute(body, _BACKWARDS) and not any(
        isinstance(n, (ast.For, ast.While)) and has_attribute(n, _BACKWARDS) for n in walk(body)
    )


def repeatable(func: Func) -> bool:
    """Whether a function may be the step of somebody's loop: it is given something, and is no test."""
    return len(func.code.params) > len(func.defaults) and not func.name.startswith("test")


def again(rt: Runtime, target: Any, site: Site, without_none: bool) -> None:
    """Call a step several times, as the loop does that it is for."""
    func = target.func if type(target) is Bound else target
    body = func.code.node
    loop = LoopRun(Site(site.file, body, body, func.name), "implicit", implicit=True)
    parent = rt.where
    rt.loops.append(loop)
    # Whoever has the loop holds the object, and the function with what it closes over.
    rt.frames.append(Frame(rt, site.file, {}, {"step": target}, None, None))
    for k in range(IMPLICIT_CALLS):
        rt.where = Where(parent, None, loop, k + 1)
        call_unknown(rt, target, site, without_none)
        rt.shared.growth.end_of_iteration(rt, loop, k + 1, None)
    rt.shared.growth.end_of_loop(rt, loop)
    rt.frames.pop()
    rt.loops.pop()


def open_up(values: Iterable[Any], depth: int = 3) -> None:
    """What other code of the file fills: a container that starts empty holds more when a function is called."""
    for value in values:
        if isinstance(value, (LList, LDict, LSet)):
            value.open = True
        elif depth and type(value) is Obj and not value.is_a("module"):
            open_up(value.attrs.values(), depth - 1)


def define_only(rt: Runtime, record: Any, module: UserModule, *names: str) -> None:
    """Execute the definitions that functions and classes lead to, without what makes their module a script."""
    if rt.shared.definitions is None:
        rt.shared.definitions = Definitions(record)
    execute(rt, rt.shared.definitions.of(*names), module, "module")


def method_of(rt: Runtime, cls: Class, entry: Entry, site: Site) -> Any:
    """The method of an instance made with unknown arguments."""
    assert entry.func is not None
    found = cls.find(entry.func)
    if type(found) is StaticMethod:
        return found.func
    if type(found) is ClassMethod:
        return Bound(found.func, cls)
    if type(found) is Property or type(found) is not Func:
        return None
    init = cls.find("__init__")
    obj = Obj(cls)
    obj.site = site
    if cls.build is not None:
        made = cls.build(rt, cls, [], {}, site)
        obj = made if type(made) is Obj else obj
    if type(init) is Func:
        rt.shared.calls.function(rt, init, [obj, *unknown_arguments(rt, init, 1)], {}, site)
    return Bound(found, obj)


def unknown_arguments(rt: Runtime, func: Func, skip: int) -> list[Any]:
    """Unknowns for the parameters that have no default; a module where the body uses one as a module."""
    names = func.code.params[skip:]
    needed = len(names) - len(func.defaults)
    return [unknown_parameter(rt, func, name) for name in names[: max(needed, 0)]]


def unknown_parameter(rt: Runtime, func: Func, name: str) -> Sym:
    value = Sym(("param", func.name, name))
    asked = rt.shared.used_as_module
    mark = (id(func.code.node), name)
    if mark not in asked:
        asked[mark] = used_as_module(func.code.node, name)
    if asked[mark]:
        value.params = nn.parameter(rt, None, name)
        value.params.guess = 1
        value.params.where = rt.where
    return value


def used_as_module(body: ast.AST, name: str) -> bool:
    """Whether a function uses a parameter unmistakably as a module (``model.parameters()``)."""
    for node in walk(body):
        if (
            isinstance(node, ast.Attribute)
            and node.attr in _MODULE_USES
            and isinstance(node.value, ast.Name)
            and node.value.id == name
        ):
            return True
    return False


def call_unknown(rt: Runtime, target: Any, site: Site, without_none: bool = False) -> Any:
    func = target.func if type(target) is Bound else target
    given: list[Any] = [target.self] if type(target) is Bound else []
    args = [*given, *unknown_arguments(rt, func, len(given))]
    if without_none:
        rest = func.code.params[len(args) :]
        defaults = func.defaults[len(func.defaults) - len(rest) :]
        args += [unknown_parameter(rt, func, n) if d is None else d for n, d in zip(rest, defaults)]
    only = {
        p.arg: Sym(("param", func.name, p.arg))
        for p in func.code.args.kwonlyargs
        if p.arg not in func.kwdefaults
    }
    result = rt.shared.calls.function(rt, func, args, only, site)
    rt.shared.growth.handed_over(rt, result)
    if func.code.is_gen:
        rt.shared.objects.listed(rt, result, site)
    return result
