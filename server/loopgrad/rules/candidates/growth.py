"""For graphs that pile up: store the value without its graph, or do not record one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from loopgrad.analysis.observation import Observation
from loopgrad.analysis.where import Site
from loopgrad.model import FixRequest, Message, Step

from ..context import Context
from ..syntax import Function, calls_in, calls_method, method_name
from ..words import names
from . import nograd
from .carried import asks_gradient, detaching
from .edits import File, distinct, request
from .modified import released
from .stores import Store, names_of, stores
from .summing import over_loop

#: What may be called on a value of a function that trains; such a function is not wrapped as a whole.
_TRAINS = ("backward", "manual_backward", "step", "zero_grad", "grad")


def training(seen: Observation, context: Context) -> list[FixRequest]:
    """LG201: a cut where the value is stored; a number where it is a statistic."""
    carriers = stores(seen.carriers, context)
    several = names(names_of(carriers)) if carriers else Message.of("fix.this")
    stored = request("detach", Message.of("fix.detach.store", names=several), _stored(carriers, ".detach()"))
    # Whether the value is one number is not known, so this is never applied unasked.
    number = request(
        "item", Message.of("fix.item.store", names=several), _stored(carriers, ".item()"), preferable=False
    )
    passed = [
        each
        for steps, name in _arguments(carriers, seen, context)
        for each in request("detach", Message.of("fix.detach.argument", names=names([name])), steps)
    ]
    elsewhere = any(store.scope is not _loop_scope(seen, context) for store in carriers)
    either = [
        each
        for name, steps in _if_tensor(carriers)
        for each in request("detach", Message.of("fix.detach.store", names=names([name])), steps)
    ]
    first = [*passed, *stored, *either] if elsewhere else [*stored, *passed]
    again = request("detach", Message.of("fix.detach.again", names=several), _again(carriers))
    rest = detaching(seen, context)
    found = [*first, *([] if _stays_tensor(carriers) else number), *again, *rest]
    found = [*released(found, seen, context), *found, *_unrecorded(carriers, seen, context)]
    return distinct([*found[:4], *over_loop(seen, context), *found[4:]])


def _stored(carriers: list[Store], suffix: str) -> list[Step] | None:
    steps: list[Step] = []
    for store in carriers:
        addend = _addend(store)
        if addend is not None:
            steps.append(store.file.append(addend, suffix))
            continue
        here = store.cut_here(suffix)
        if here is None:
            return None
        steps += here
    return steps


def _each_passed(carriers: list[Store]) -> list[Step]:
    """What a function that makes the stored value is given, part by part: ``{k: v.detach() for k, v in …}``."""
    steps: list[Step] = []
    for store in carriers:
        value = store.value()
        for each in ast.walk(value) if isinstance(value, ast.Call) else ():
            if isinstance(each, (ast.ListComp, ast.GeneratorExp)):
                steps.append(store.file.append(each.elt, ".detach()"))
            elif isinstance(each, ast.DictComp):
                steps.append(store.file.append(each.value, ".detach()"))
    return steps


def _if_tensor(carriers: list[Store]) -> Iterator[tuple[str, list[Step]]]:
    """Where a function stores what it is given, by some callers a number: cut if it is a tensor.

    One store is cut at the parameter's read; several of one parameter at the start of the function.
    """
    functions = {id(store.function): store.function for store in carriers}
    if len(functions) != 1:
        return
    function = carriers[0].function
    if not isinstance(function, Function):
        return
    given = {each.arg for each in (*function.args.args, *function.args.kwonlyargs)} - {"self"}
    read: dict[str, list[tuple[Store, ast.Name]]] = {}
    for store in carriers:
        value = store.value()
        for each in ast.walk(value) if value is not None else ():
            if isinstance(each, ast.Name) and each.id in given:
                read.setdefault(each.id, []).append((store, each))
    file = carriers[0].file
    for name, places in list(read.items())[:3]:
        if len(carriers) == 1 and len(places) == 1 and not _kept_elsewhere(function, name, places[0][0]):
            text = "{0}.detach() if torch.is_tensor({0}) else {0}"
            yield name, [file.step("replace", places[0][1], text)]
        text = f"if torch.is_tensor({name}):\n    {name} = {name}.detach()"
        yield name, [file.step("prepend_body", function, text)]


def _kept_elsewhere(function: ast.AST, name: str, store: Store) -> bool:
    """Whether another statement of the function puts the parameter somewhere too: ``self.best = value``."""
    return any(
        isinstance(each, ast.Assign)
        and each is not store.statement
        and isinstance(each.value, ast.Name)
        and each.value.id == name
        for each in ast.walk(function)
    )


def _unrecorded(carriers: list[Store], seen: Observation, context: Context) -> list[FixRequest]:
    """A change in place of what is no parameter of the training, as an average of the weights is: not recorded."""
    file = File(context, context.path(seen.site))
    statement = file.tree.statement(seen.site.node)
    found: list[FixRequest] = []
    if carriers or not isinstance(statement, (ast.Expr, ast.AugAssign, ast.Assign)):
        return found
    function = file.tree.function(seen.site.node)
    if function is not None and not calls_method(function, *_TRAINS):
        title = Message.of("fix.no_grad.function", name=function.name)
        found += request("no_grad", title, nograd.decorate(seen.site, context))
    return found + request("no_grad", Message.of("fix.no_grad.change"), nograd.wrap_all([(file, statement)]))


def _addend(store: Store) -> ast.expr | None:
    """``loss`` of ``total = total + loss`` and of ``total += loss``: what is added each time."""
    statement = store.statement
    if isinstance(statement, ast.AugAssign):
        return statement.value
    value = store.value()
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub)):
        if ast.unparse(value.left) == store.name:
            return value.right
        if ast.unparse(value.right) == store.name and isinstance(value.op, ast.Add):
            return value.left
    return None


#: What is done to tensors alone: where a stored value is used so, a number would not do.
_OF_TENSORS = frozenset(
    "item detach cpu numpy tolist backward mean sum stack cat concat vstack hstack unbind unsqueeze to size".split()
)


def _stays_tensor(carriers: list[Store]) -> bool:
    """Whether what is stored is used as a tensor later."""
    roots = {re.split(r"[\[(]", store.name)[0] for store in carriers}
    for store in carriers:
        for node in ast.walk(store.file.tree.tree):
            read: list[ast.AST] = []
            if isinstance(node, ast.Call) and method_name(node) in _OF_TENSORS:
                read = [*node.args, node.func]
            if any(
                isinstance(each, (ast.Name, ast.Attribute)) and ast.unparse(each) in roots
                for part in read
                for each in ast.walk(part)
            ):
                return True
    return False


def _again(carriers: list[Store]) -> list[Step]:
    """A leaf anew: ``.detach().requires_grad_()``, where gradients of the stored value are asked for."""
    steps: list[Step] = []
    for store in carriers:
        if not asks_gradient(store):
            return []
        steps += store.cut_here(".detach().requires_grad_()") or []
    return steps


def _loop_scope(seen: Observation, context: Context) -> ast.AST | None:
    loop = seen.facts.get("loop_site") or seen.loop
    return context.tree_of(loop).scope(loop.node) if isinstance(loop, Site) else None


def _arguments(
    carriers: list[Store], seen: Observation, context: Context
) -> Iterator[tuple[list[Step], str]]:
    """Calls in the loop of the function that stores: its arguments, one after the other."""
    loop = seen.facts.get("loop_site") or seen.loop
    if not isinstance(loop, Site):
        return
    file = File(context, context.path(loop))
    for store in carriers:
        function = store.function
        if not isinstance(function, Function) or function is _loop_scope(seen, context):
            continue
        for call in calls_in(loop.node):
            if method_name(call) != function.name and not _makes(call, function, store):
                continue
            for argument in _values(call, function)[:2]:
                if isinstance(argument, (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp)):
                    yield [file.append(argument, ".detach()")], file.source(argument)


def _values(call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    """The arguments of a call of a function, but for those that the function calls itself: they are no tensors."""
    names = [each.arg for each in function.args.args]
    if names[:1] == ["self"]:
        del names[0]
    functions = {each.func.id for each in calls_in(function) if isinstance(each.func, ast.Name)}
    names += [""] * len(call.args)
    given = [*zip(names, call.args), *((keyword.arg, keyword.value) for keyword in call.keywords)]
    return [value for name, value in given if name not in functions]


def _makes(call: ast.Call, function: ast.AST, store: Store) -> bool:
    """Whether a call is to an object whose ``__call__`` stores."""
    return getattr(function, "name", "") == "__call__" and isinstance(call.func, ast.Name) and bool(call.args)


# Evaluation ----------------------------------------------------------------------------------------------


def evaluation(seen: Observation, context: Context) -> list[FixRequest]:
    """LG203: the function, the loop, or the forward pass without recording; else a cut at the store."""
    carriers = stores(seen.carriers, context)
    several = names(names_of(carriers)) if carriers else Message.of("fix.this")
    said = Message.of("fix.detach.store", names=several)
    stored = request("detach", said, _stored(carriers, ".detach()"))
    return distinct([*recording(seen, context), *stored, *request("detach", said, _each_passed(carriers))])


def recording(seen: Observation, context: Context) -> list[FixRequest]:
    """Do not record, over the largest stretch that evaluates only."""
    loop = seen.facts.get("loop_site") or seen.loop
    place = loop if isinstance(loop, Site) else seen.site
    found: list[FixRequest] = []
    function = context.tree_of(place).function(place.node)
    if function is not None and not calls_method(function, *_TRAINS):
        title = Message.of("fix.no_grad.function", name=function.name)
        found += request("no_grad", title, nograd.decorate(place, context))
    if isinstance(loop, Site) and not calls_method(loop.node, *_TRAINS):
        found += request("no_grad", Message.of("fix.no_grad.loop"), nograd.wrap_loop(loop, context))
    for site in context.sites([*context.sites(seen.facts.get("places")), seen.site]):
        title = Message.of("fix.no_grad.statement", line=context.line(site))
        found += request("no_grad", title, nograd.wrap_building(site, context))
    return found
