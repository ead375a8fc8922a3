"""``torch.nn``: modules, parameters and containers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from .. import cuts
from ..semantics.calls import arg
from ..tape import Storage, Tensor
from ..values import CONST, MISSING, Bound, Class, LDict, LList, Native, Obj, Property, Sym, tensors_in
from ..where import Site
from . import tensors
from .tensors import bump

MODULE: Class = Class("Module")
MODULE.flags = frozenset({"module"})


def parameter(rt: Any, site: Site | None, label: str, wants: bool = True) -> Tensor:
    """A new parameter: a leaf of its own."""
    t = tensors.graphless(rt, site)
    t.leaf_grad = wants
    t.is_param = True
    rt.serial += 1
    t.label = label_of(rt, site, label)
    return t


def label_of(rt: Any, site: Site | None, label: str) -> str:
    """``file:line:name`` of a parameter: after what it is first stored as, so that an edit elsewhere keeps it.

    The second parameter of one line and name, as in a list of layers, is told from the first by a number.
    """
    path, line, name = "", 0, label
    if site is not None:
        path, line = site.file.path, site.line
        targets: list[ast.expr] = getattr(site.stmt, "targets", [])
        target = targets[0] if len(targets) == 1 else None
        text = target.id if isinstance(target, ast.Name) else None
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            text = f"{target.value.id}.{target.attr}"
        if text is not None:
            name = text + label[label.rfind(".") :] if "." in label else text
    full = f"{path}:{line}:{name}"
    number = rt.counts.get(("label", full), 0) + 1
    rt.counts[("label", full)] = number
    return full if number == 1 else f"{full}#{number}"


def own_parameters(obj: Obj) -> Iterator[tuple[str, Tensor]]:
    for name, value in obj.attrs.items():
        if type(value) is Tensor and value.is_param:
            yield name, value


def named_children(obj: Obj) -> Iterator[tuple[str, Any]]:
    for name, value in list(obj.attrs.items()):
        if type(value) is Obj and value.is_a("module"):
            yield name, value


def walk(obj: Obj, prefix: str = "", seen: set[int] | None = None) -> Iterator[tuple[str, Obj]]:
    """The module and every module inside it, as ``named_modules`` gives them."""
    seen = seen if seen is not None else set()
    if id(obj) in seen:
        return
    seen.add(id(obj))
    yield prefix, obj
    for name, child in named_children(obj):
        yield from walk(child, f"{prefix}.{name}" if prefix else name, seen)


def named_parameters(obj: Obj) -> list[tuple[str, Tensor]]:
    out: list[tuple[str, Tensor]] = []
    seen: set[int] = set()
    for prefix, module in walk(obj):
        for name, t in own_parameters(module):
            if id(t) not in seen:
                seen.add(id(t))
                out.append((f"{prefix}.{name}" if prefix else name, t))
    return out


def named_buffers(obj: Obj) -> list[tuple[str, Tensor]]:
    out = []
    for prefix, module in walk(obj):
        for name in module.attrs.get("_buffer_names", ()):
            value = module.attrs.get(name)
            if type(value) is Tensor:
                out.append((f"{prefix}.{name}" if prefix else name, value))
    return out


def hidden_parts(rt: Any, obj: Obj) -> bool:
    """Whether the module may hold parameters that cannot be seen."""
    return any(m.cls.opaque for _, m in walk(obj)) or any(
        type(v) is Sym and v.kind not in ("number", "str", "bool") and _module_like(v)
        for _, m in walk(obj)
        for v in m.attrs.values()
    )


def _module_like(value: Sym) -> bool:
    return value.params is not None


def _init(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    obj = args[0]
    obj.attrs.setdefault("training", True)
    rt.modules_made.append(obj)


def _call(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    obj = args[0]
    hooks = obj.attrs.get("_pre_hooks")
    if hooks:
        for hook in list(hooks):
            changed = rt.shared.calls.call(rt, hook, [obj, tuple(args[1:])], {}, site)
            if changed is not None and type(changed) is not Sym:
                args = [obj, *(changed if type(changed) is tuple else (changed,))]
    forward = obj.attrs.get("forward", MISSING)
    if forward is MISSING:
        forward = obj.cls.find("forward")
        if forward is MISSING:
            return rt.shared.unknowns.call(rt, Sym(("module", obj.cls.name)), args, kwargs, site)
        forward = Bound(forward, obj)
    rt.module_depth += 1
    try:
        result = rt.shared.calls.call(rt, forward, args[1:], kwargs, site)
    finally:
        rt.module_depth -= 1
    if rt.grad and not rt.module_depth and obj.attrs.get("training") is False and len(rt.evaluated) < 64:
        found = next((t.node for t in tensors_in(result, 3) if t.node is not None), None)
        if found is not None:
            rt.evaluated.append((site, found, rt.where))
    hooks = obj.attrs.get("_hooks")
    if hooks:
        for hook in list(hooks):
            changed = rt.shared.calls.call(rt, hook, [obj, tuple(args[1:]), result], {}, site)
            if changed is not None and not (type(changed) is Sym and changed.node is None):
                result = changed
    return result


def _parameters(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    obj = args[0]
    found = LList([t for _, t in named_parameters(obj)], open=hidden_parts(rt, obj))
    if found.open and not found:
        found.append(hidden(rt, obj))
    return found


def hidden(rt: Any, obj: Any) -> Tensor:
    """One parameter that stands for those of a module out of reach."""
    t = rt.hidden.get(id(obj))
    if t is None:
        t = parameter(rt, None, "hidden")
        t.guess = 1
        rt.hidden[id(obj)] = t
        rt.keep.append(obj)
    return t


def _named_parameters(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LList(named_parameters(args[0]), open=hidden_parts(rt, args[0]))


def _train(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    mode = arg(args, kwargs, 1, "mode", True)
    for _, module in walk(args[0]):
        rt.put(module.attrs, "training", mode)
    return args[0]


def _eval(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return _train(rt, site, [args[0], False], {})


def _zero_grad(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    for _, t in named_parameters(args[0]):
        drop_grad(rt, t)


def drop_grad(rt: Any, t: Tensor) -> None:
    if t.grad is not None:
        if rt.log is not None:
            rt.note_slot(t, "grad")
        t.grad = None


def _requires_grad(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    flag = arg(args, kwargs, 1, "requires_grad", True)
    flag = rt.truth(flag, site) if type(flag) is Sym else bool(flag)
    for _, t in named_parameters(args[0]):
        set_requires(rt, t, flag, site)
    return args[0]


def set_requires(rt: Any, t: Tensor, flag: bool, site: Site) -> None:
    if t.leaf_grad != flag:
        if rt.trying:
            rt.happen()
        rt.events += 1
        t.leaf_grad = flag
        t.cut = None if flag else cuts.note(rt, "frozen", site, "requires_grad", [])


def _self(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return args[0]


def _state_dict(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    out = LDict(open=args[0].cls.opaque)
    for name, t in [*named_parameters(args[0]), *named_buffers(args[0])]:
        if kwargs.get("keep_vars") is True:
            out[name] = t
            continue
        view = Tensor(None, t.storage)
        view.site, view.where = site, rt.where
        out[name] = view
    return out


def _load_state_dict(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    for _, t in [*named_parameters(args[0]), *named_buffers(args[0])]:
        bump(rt, t, site, "load_state_dict")
    if rt.trying:
        rt.events += 1
    return rt.fresh(site)


def _apply(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    for _, module in reversed(list(walk(args[0]))):
        rt.shared.calls.call(rt, args[1], [module], {}, site)
    return args[0]


def _register_buffer(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    obj, name, value = args[0], arg(args, kwargs, 1, "name"), arg(args, kwargs, 2, "tensor")
    if type(name) is str:
        rt.put(obj.attrs, "_buffer_names", (*obj.attrs.get("_buffer_names", ()), name))
        rt.stored(value, site, f"self.{name}", "attribute")
        rt.put(obj.attrs, name, value)


def _register_parameter(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    if type(args[1]) is str:
        rt.put(args[0].attrs, args[1], arg(args, kwargs, 2, "param"))


def _add_module(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    name, child = arg(args, kwargs, 1, "name"), arg(args, kwargs, 2, "module")
    # A name that is not known, as of '{0}-{1}:conv'.format(n, m), is another one than those that are there.
    rt.put(args[0].attrs, name if type(name) is str else f"?{len(args[0].attrs)}", child)


def _modules(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LList([m for _, m in walk(args[0])], open=args[0].cls.opaque)


def _named_modules(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LList(list(walk(args[0])), open=args[0].cls.opaque)


def _children(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LList([c for _, c in named_children(args[0])], open=args[0].cls.opaque)


def _named_children(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LList(list(named_children(args[0])), open=args[0].cls.opaque)


def _buffers(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    return LList([t for _, t in named_buffers(args[0])])


def _child_table(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
    """``_modules``: the children by name; what is put into it is a child from then on."""
    table = Obj(CHILDREN)
    table.data = LDict(named_children(args[0]), open=args[0].cls.opaque)
    table.attrs["of"] = args[0]
    return table


def _put_child(rt: Any, site: Site, args: list, kwargs: dict) -> None:
    table, name, child = args
    if type(name) is str:
        rt.put(table.data, name, child)
        rt.put(table.attrs["of"].attrs, name, child)


CHILDREN = Class("OrderedDict")
CHILDREN.flags = frozenset({"builtin"})
CHILDREN.ns["__setitem__"] = Native("__setitem__", _put_child)


def _hook(kind: str) -> Any:
    def run(rt: Any, site: Site, args: list, kwargs: dict) -> Any:
        obj = args[0]
        hooks = obj.attrs.get(kind)
        if hooks is None:
            hooks = LList()
            rt.put(obj.attrs, kind, hooks)
        rt.note_list(hooks)
        list.append(hooks, args[1])
        handle = Obj(HANDLE)
        handle.data = None
        handle.attrs["remove"] = Native("remove", lambda rt_, s, a, k: _remove(rt_, hooks, args[1]))
        return handle

    return run


def _remove(rt: Any, hooks: LList, hook: Any) -> None:
    rt.note_list(hooks)
    hooks[:] = [h for h in hooks if h is not hook]


HANDLE = Class("RemovableHandle")
HANDLE.flags = frozenset({"inert"})

for _name, _fn in {
    "__init__": _init,
    "__call__": _call,
    "parameters": _parameters,
    "named_parameters": _named_parameters,
    "train": _train,
    "eval": _eval,
    "zero_grad": _zero_grad,
    "requires_grad_": _requires_grad,
    "state_dict": _state_dict,
    "load_state_dict": _load_state_dict,
    "apply": _apply,
    "register_buffer": _register_buffer,
    "register_parameter": _register_parameter,
    "add_module": _add_module,
    "register_module": _add_module,
    "modules": _modules,
    "named_modules": _named_modules,
    "children": _children,
    "named_children": _named_children,
    "buffers": _buffers,
    "register_forward_hook": _hook("_hooks"),
    "register_forward_pre_hook": _hook("_pre_hooks"),
    "register_full_backward_hook": _hook("_backward_hooks"),
    "register_backward_hook": _hook("_backward_hooks"),
}.items():
    MODULE.ns[_name] = Native(_name, _fn)
MODULE.ns["_modules"] = Property(Native("_modules", _child_table), Native("_modules", lambda *_: None))
for _name in (
    "to",
    "cuda",
    "cpu",
    "float",
    "half",
    "double",
    "bfloat16",
    "type",
    "share_memory",
    "compile",
    "to_empty",
    "_apply",
    "xpu",
):
    MODULE.ns[_name] = Native(_name, _self)


def _build(rt: Any, cls: Class, args: list, kwargs: dict, site: Site) -> Obj:
    obj = Obj(cls)
    obj.attrs["training"] = True
    rt.modules_made.append(obj)
    return obj


MODULE.build = _build

# -- leaf modules of the table -------------------------------------------------------------------------


# -- containers ------------------------------------------------------------------------------------------


def make_parameter(rt: Any, cls: Class, args: list, kwargs: dict, site: Site) -> Tensor:
    data = arg(args, kwargs, 0, "data")
    wants = arg(args, kwargs, 1, "requires_grad", True)
    t = parameter(rt, site, "Parameter", bool(rt.truth(wants, site)) if wants is not True else True)
    if type(data) is Tensor:
        t.storage = data.storage if data.node is None else Storage()
        t.length, t.shape = data.length, data.shape
    return t


PARAMETER: Class = Class("Parameter")
PARAMETER.build = make_parameter
TENSOR: Class = Class("Tensor")
#: What tensors with a graph were before torch 0.4; every tensor is one since (``isinstance`` says so).
VARIABLE: Class = Class("Variable")


__all__ = [
    "CONST",
    "MODULE",
    "PARAMETER",
    "hidden",
    "named_parameters",
    "parameter",
]
