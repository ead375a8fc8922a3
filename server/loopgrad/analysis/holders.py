"""The live places that hold graphs: variables, attributes, containers, closures."""

from __future__ import annotations

from typing import Any

from .tape import Node, Tensor, reachable
from .values import GRAPHLESS, Bound, Class, Func, Iter, LDict, LList, LSet, Obj, Partial, Sym


def holders(rt: Any) -> list[tuple[Any, list[Node]]]:
    """Every live place that holds graphs: (the place, the nodes it holds directly)."""
    found: dict[Any, tuple[Any, list[Node]]] = {}
    whole: set[int] = set()
    #: A tuple counts once for each place that holds it: `x = (x, x)`, again and again, has few parts and many paths.
    tuples: set[tuple[int, Any]] = set()
    #: (the place, the value, what was visited: within one outermost container each thing counts once)
    stack: list[tuple[Any, Any, set[int]]] = []
    for table in rt.globals.values():
        stack.extend([(("name", k), v, whole) for k, v in table.items() if _may_hold(v) and k[:2] != "__"])
    for frame in rt.frames:
        while frame is not None:
            stack.extend((("name", k), v, whole) for k, v in frame.vars.items())
            frame = frame.outer
    stack.extend((("name", ""), loop.over, whole) for loop in rt.loops if loop.over is not None)
    while stack:
        place, value, seen = stack.pop()
        kind = type(value)
        if kind is Tensor or kind is Sym:
            node = value.node
            if node is not None:
                found.setdefault(id_of(place), (place, []))[1].append(node)
            elif kind is Tensor and value.keeps:
                found.setdefault(id_of(place), (place, []))[1].extend(value.keeps)
            elif kind is Tensor and value.grad is not None and value.grad.node is not None:
                # What create_graph=True adds to a gradient that is never cleared.
                found.setdefault(("gradient", id(value)), (("gradient", id(value)), [value.grad.node]))
            continue
        if kind is tuple:
            if (id(value), id_of(place)) not in tuples:
                tuples.add((id(value), id_of(place)))
                stack.extend((place, v, seen) for v in value)
            continue
        if kind in (LList, LDict, LSet):
            if id(value) in seen:
                continue
            seen.add(id(value))
            items = value.values() if kind is LDict else value
            if kind is LList and (value.bounded is not None or value.unsure):
                # A window, or what may be one: what it holds is bounded, if its newest value does not lead to all
                # that it held.
                items = sorted(items, key=_age)[-1:]
            if place[0] == "in":
                # What a container inside a container holds counts for the outermost one.
                stack.extend((place, v, seen) for v in items)
            else:
                inside = ("in", value, place)
                mine: set[int] = {id(value)}
                stack.extend((inside, v, mine) for v in items)
        elif kind is Obj:
            if id(value) in seen:
                continue
            seen.add(id(value))
            kept = place[0] == "in"
            if not kept and _is_link(value):
                # A linked list: what all its links hold counts for the first.
                place, kept = ("in", value, place), True
            stack.extend(
                (place if kept else ("attribute", id(value), k), v, seen) for k, v in value.attrs.items()
            )
            if isinstance(value.data, (tuple, LList, LDict, LSet)):
                stack.append((place, value.data, seen))
        elif kind is Func:
            if id(value) not in seen:
                seen.add(id(value))
                frame = value.outer
                while frame is not None and id(frame) not in whole:
                    whole.add(id(frame))
                    stack.extend((("name", k), v, whole) for k, v in frame.vars.items())
                    frame = frame.outer
                stack.extend((place, d, seen) for d in value.defaults)
                if value.attrs is not None:
                    stack.extend((("attribute", id(value), k), v, seen) for k, v in value.attrs.items())
        elif kind is Class:
            if value.node is not None and id(value) not in seen:
                seen.add(id(value))
                stack.extend(
                    (("attribute", id(value), k), v, seen)
                    for k, v in value.ns.items()
                    if type(v) in _ATTRIBUTES
                )
        elif kind is Bound:
            stack.append((place, value.self, seen))
        elif kind is Partial:
            stack.extend((place, a, seen) for a in value.args)
        elif kind is Iter:
            source = value.source
            if type(source) is list:
                stack.extend((place, part, seen) for part in source)
            elif source is not None and hasattr(source, "vars"):
                stack.extend((("name", k), v, whole) for k, v in source.vars.items())
    if rt.graded:
        _add_gradients(rt, found)
    circles = [leaf.grad.node for leaf in rt.circles if leaf.grad is not None and leaf.grad.node is not None]
    if circles:
        found["circles"] = (("gradient", None), circles)
    return list(found.values())


def _add_gradients(rt: Any, found: dict[Any, tuple[Any, list[Node]]]) -> None:
    """Add the gradients of leaves that no name holds any more, but a graph that goes on being used does."""
    marks = {id(leaf.acc): leaf for leaf in rt.graded.values() if ("gradient", id(leaf)) not in found}
    below = reachable(node for _, nodes in list(found.values()) for node in nodes) if marks else ()
    for node in below:
        leaf = marks.get(id(node))
        if leaf is not None and leaf.grad is not None and leaf.grad.node is not None:
            place = ("gradient", id(leaf))
            found[place] = (place, [leaf.grad.node])


#: What a class holds for all its objects; its methods are looked at where they are held.
_ATTRIBUTES = frozenset({Tensor, Sym, tuple, LList, LDict, LSet, Obj})


def _may_hold(value: Any) -> bool:
    """Whether a global may lead to a graph: most of them are functions and modules."""
    kind = type(value)
    if kind is Func:
        return value.outer is not None or bool(value.defaults) or value.attrs is not None
    return kind is Class or kind not in GRAPHLESS


def _is_link(value: Obj) -> bool:
    """Whether an object of a user's class leads on to another of its kind, which is no module."""
    return (
        value.cls.node is not None
        and not value.is_a("module")
        and any(type(v) is Obj and v.cls is value.cls for v in value.attrs.values())
    )


def _age(value: Any) -> int:
    """When a value of a window was recorded; 0 for what carries no graph."""
    node = value.node if type(value) in (Tensor, Sym) else None
    return node.seq if node is not None else 0


def id_of(place: Any) -> Any:
    if place[0] == "in":
        return ("in", id(place[1]))
    return place
