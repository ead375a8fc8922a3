"""Imports: modules of the workspace are executed, library names are looked up in the models."""

from __future__ import annotations

from typing import Any

from ..runtime import Frame
from ..signals import Abort, Budget, Ended, Raised
from ..values import MISSING, Namespace, Sym, UserModule
from ..where import Site

#: How deep a chain of imports is followed.
MOST_IMPORTS = 40


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
        for name, value in list(found.globals.items()):
            if not name.startswith("_"):
                frame.globals.setdefault(name, value)
        return
    for name, value in rt.shared.libraries.exported(rt, module).items():
        frame.globals.setdefault(name, value)


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
    module = rt.user_modules.get(record.path)
    if module is not None:
        return module
    module = UserModule(name, record)
    rt.user_modules[record.path] = module
    if len(rt.user_modules) > MOST_IMPORTS:
        return module
    execute(rt, record, module, name)
    return module


def execute(rt: Any, record: Any, module: UserModule, name: str) -> None:
    """Run a module's body in globals of its own."""
    table = rt.globals.setdefault(record.path, module.globals)
    module.globals = table
    table["__name__"] = name
    table["__file__"] = record.path
    frame = Frame(rt, record, table, table, None, None)
    trying, rt.trying = rt.trying, 0
    log, rt.log = rt.log, None
    grad, rt.grad = rt.grad, True
    where = rt.where
    decided = len(rt.trace)
    rt.depth += 1
    try:
        record.lowered()(frame)
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
        rt.trying, rt.log, rt.grad, rt.where = trying, log, grad, where
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
