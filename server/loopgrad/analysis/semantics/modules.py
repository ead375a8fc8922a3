"""Imports: modules of the workspace are executed, library names are looked up in the models.

What a module's import binds waits until it is read (``Globals.waiting``), and so does what an imported module defines.
A module that does more than define is executed where it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..runtime import Frame
from ..signals import Abort, Budget, Ended, Raised
from ..values import MISSING, Globals, Namespace, Sym, UserModule
from ..where import Site, Where

#: So many modules of the workspace are executed in one run.
MOST_IMPORTS = 40
#: Where a module's body runs.
_OUTSIDE = Where(None, None)


def later(frame: Frame, name: str, make: Callable[[Frame], None]) -> bool:
    """Have a module's variable made when it is first read; False where it is to be made now."""
    rt, table = frame.rt, frame.globals
    if rt.trying or rt.log is not None or frame.vars is not table or type(table) is not Globals:
        return False
    table.pop(name, None)
    table.waiting[name] = make
    return True


def read(rt: Any, table: dict[str, Any], name: str) -> Any:
    """A module's variable that is not among those that were made: made now if it waits, else MISSING."""
    if type(table) is not Globals or name not in table.waiting:
        return MISSING
    frame = table.frame
    _aside(rt, frame.file, table.waiting.pop(name), frame)
    return table.get(name, MISSING)


def read_all(rt: Any, table: dict[str, Any]) -> None:
    """Make all that waits."""
    for name in list(getattr(table, "waiting", ())):
        read(rt, table, name)


def ready(rt: Any, module: str, level: int, names: tuple[str, ...], file: Any) -> None:
    """Execute the modules that an import names: ``import module``, ``from module import names``."""
    for name, record in rt.shared.imported(module, level, names, file):
        if record.path not in rt.user_modules:
            _module_of(rt, record, name)


def load(rt: Any, name: str, whole: bool, file: Any, site: Site) -> Any:
    """``import name`` (binds the first part) or ``import name as x`` (binds the module)."""
    parts = name.split(".")
    target = name if whole else parts[0]
    module = user_module(rt, name, 0, file)
    if module is not None:
        if whole or len(parts) == 1:
            return module
        return _package(rt, parts, module)
    return Namespace(target)


def _package(rt: Any, parts: list[str], leaf: UserModule) -> UserModule:
    """``import a.b.c`` binds ``a``: a package through which ``b.c`` is reached."""
    top = rt.packages.get(parts[0])
    if top is None:
        top = rt.packages[parts[0]] = UserModule(parts[0], None)
    node = top
    for part in parts[1:-1]:
        child = node.globals.get(part)
        if type(child) is not UserModule:
            child = node.globals[part] = UserModule(part, None)
        node = child
    node.globals[parts[-1]] = leaf
    return top


def member(rt: Any, module: str, level: int, name: str, file: Any, site: Site) -> Any:
    """``from module import name``."""
    found = user_module(rt, module, level, file) if module or level else None
    if found is not None:
        value = found.globals.get(name, MISSING)
        if value is MISSING:
            value = read(rt, found.globals, name)
        if value is not MISSING:
            return value
        sub = user_module(rt, f"{module}.{name}" if module else name, level, file)
        return sub if sub is not None else Sym(("module", found.name, name))
    if level:
        sub = user_module(rt, f"{module}.{name}" if module else name, level, file)
        return sub if sub is not None else Sym(("relative", module, name))
    sub = user_module(rt, f"{module}.{name}", 0, file)
    if sub is not None:
        return sub
    return attribute(rt, Namespace(module), name, site)


def star(rt: Any, frame: Frame, module: str, level: int, site: Site) -> None:
    """``from module import *``."""
    found = user_module(rt, module, level, frame.file)
    if found is not None:
        read_all(rt, found.globals)
        _fill(frame.globals, {k: v for k, v in found.globals.items() if not k.startswith("_")})
        return
    _fill(frame.globals, rt.shared.libraries.exported(rt, module))


def _fill(table: dict[str, Any], values: dict[str, Any]) -> None:
    """Bind names that are not bound; one that waits is."""
    waiting = getattr(table, "waiting", {})
    for name, value in values.items():
        if name not in waiting:
            table.setdefault(name, value)


def submodule(rt: Any, module: UserModule, name: str, site: Site) -> Any:
    """``package.name`` where name is a module that was not imported by itself."""
    if module.file is None:
        return MISSING
    found = user_module(rt, f"{module.name}.{name}", 0, module.file)
    return found if found is not None else MISSING


def user_module(rt: Any, name: str, level: int, file: Any) -> UserModule | None:
    """A module of the workspace, executed on its first import; None where it is none."""
    record = rt.shared.resolve(name, level, file)
    if record is None:
        return None
    module: UserModule | None = rt.user_modules.get(record.path)
    return module if module is not None else _module_of(rt, record, name)


def _module_of(rt: Any, record: Any, name: str) -> UserModule:
    module = UserModule(name, record)
    rt.user_modules[record.path] = module
    if len(rt.user_modules) > MOST_IMPORTS:
        return module
    _import(rt, record, module, name)
    return module


def execute(rt: Any, record: Any, module: UserModule, name: str) -> None:
    """Run a module's body in globals of its own."""
    frame = _frame_of(rt, record, module, name)
    _aside(rt, record, record.lowered(), frame)


def _import(rt: Any, record: Any, module: UserModule, name: str) -> None:
    """Run what a module's body does when it is imported."""
    frame = _frame_of(rt, record, module, name)
    table, outline = module.globals, record.outline()
    table.waiting = dict(outline.later)
    _aside(rt, record, _start, frame)
    rt.heard = rt.heard or outline.hears
    if rt.heard:
        for each in outline.derived:
            read(rt, table, each)


def _start(frame: Frame) -> None:
    rt, record = frame.rt, frame.file
    for name, other in rt.shared.imports_of(record):
        if other.path not in rt.user_modules:
            _module_of(rt, other, name)
    record.outline().run(frame)


def _frame_of(rt: Any, record: Any, module: UserModule, name: str) -> Frame:
    table = module.globals = rt.globals.setdefault(record.path, module.globals)
    table["__name__"] = name
    table["__file__"] = record.path
    table.frame = frame = Frame(rt, record, table, table, None, None)
    return frame


def _aside(rt: Any, record: Any, run: Callable[[Frame], Any], frame: Frame) -> None:
    """Run what belongs to a module's body, wherever the run is: outside of its loops and branches."""
    kept = (rt.trying, rt.log, rt.grad, rt.inference, rt.where, rt.loops, rt.handlers, rt.current, rt.events)
    rt.trying, rt.log, rt.grad, rt.inference = 0, None, True, False
    rt.where, rt.loops, rt.handlers = _OUTSIDE, [], []
    decided = len(rt.trace)
    rt.depth += 1
    try:
        run(frame)
    except Raised:
        # What the module defined before it failed is there; whether it really fails is not known.
        rt.partial.append((record.path, 1, "import"))
        rt.lenient = True
    except (Ended, Abort):
        pass
    except Budget:
        raise
    finally:
        for decision in rt.trace[decided:]:
            decision.once = True
        (
            rt.trying,
            rt.log,
            rt.grad,
            rt.inference,
            rt.where,
            rt.loops,
            rt.handlers,
            rt.current,
            rt.events,
        ) = kept
        rt.depth -= 1


def attribute(rt: Any, namespace: Namespace, name: str, site: Site) -> Any:
    """``library.name``."""
    full = f"{namespace.name}.{name}"
    patched = rt.patches.get(full, MISSING)
    if patched is not MISSING:
        return patched
    return rt.shared.libraries.lookup(rt, full)


def patch(rt: Any, namespace: Namespace, name: str, value: Any) -> None:
    """Monkeypatching a library: what is read later is what was put there."""
    rt.put(rt.patches, f"{namespace.name}.{name}", value)
