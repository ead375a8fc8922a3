"""What a value of the analysed program is.

Constants (numbers, strings, ``None``, tuples) are themselves: Python computes them. A list, dict or
set is a subclass of Python's own that knows whether it may hold more than is seen (``open``).
Everything that cannot be known is a :class:`Sym`, which remembers where it came from so that the
same unknown asked twice gives the same answer.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from .collected import Globals as Globals
from .collected import LDict as LDict
from .collected import LList as LList
from .collected import LSet as LSet
from .tape import Node, Tensor

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "<missing>"})()


#: The types of constants, which are their own values.
CONST = frozenset({int, float, str, bool, type(None), bytes, complex, range, type(Ellipsis), slice})


class Sym:
    """An unknown value. ``key`` identifies it: equal keys are the same unknown in every run.

    ``op`` and ``args`` say how it was derived (``not``, ``and``, ``or``, ``eq``, ``is``, ``phi`` …);
    ``node`` is the graph that it may carry; ``guess`` how many guesses stand behind that.
    """

    __slots__ = ("args", "attrs", "cut", "guess", "items", "key", "kind", "node", "op", "params", "size")

    def __init__(
        self,
        key: Any,
        kind: str = "any",
        op: str = "",
        args: tuple = (),
        node: Node | None = None,
        guess: int = 1,
    ) -> None:
        self.key = key
        self.kind = kind
        self.op = op
        self.args = args
        self.node = node
        self.guess = guess
        self.attrs: dict[str, Any] | None = None
        self.items: dict[Any, Any] | None = None
        self.params: Tensor | None = None
        #: How many unknowns it is put together from, counted as often as they occur.
        self.size = 1
        #: What took the graph of the tensor away that this number or array was read from.
        self.cut: Any = None

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is Sym and self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Sym({self.key!r})"


#: The name under which a call tells that ``*`` or ``**`` of an unknown may give further arguments.
MORE = "**"

#: A list that is longer than this is cut there, and open.
MOST_ITEMS = 4096


def capped(items: list, open: bool) -> LList:
    """A list of these items, of the first so many where there are too many to follow."""
    return LList(items, open) if len(items) <= MOST_ITEMS else LList(items[:MOST_ITEMS], True)


class Class:
    """A class: the user's, or one that the knowledge of a library describes.

    ``ns`` maps names to values; a :class:`Native` there is a method written in the analyser.
    ``opaque`` where a base is out of reach, so that a missing attribute is unknown, not an error.
    """

    __slots__ = ("bases", "build", "fields", "flags", "module", "mro", "name", "node", "ns", "opaque", "sets")

    def __init__(self, name: str, bases: tuple[Class, ...] = (), ns: dict[str, Any] | None = None) -> None:
        self.name = name
        self.bases = bases
        self.ns: dict[str, Any] = ns if ns is not None else {}
        self.opaque: bool = any(b.opaque for b in bases)
        self.flags: frozenset[str] = frozenset().union(*(b.flags for b in bases)) if bases else frozenset()
        self.mro = _linearise(self, bases)
        self.build: Callable[..., Any] | None = next((b.build for b in bases if b.build is not None), None)
        self.fields: list[tuple[str, Any]] | None = None
        self.node: ast.ClassDef | None = None
        self.module: Any = None
        #: What its methods assign on an object, once somebody asked.
        self.sets: frozenset[str] | None = None

    def find(self, name: str) -> Any:
        for cls in self.mro:
            value = cls.ns.get(name, MISSING)
            if value is not MISSING:
                return value
        return MISSING

    def __repr__(self) -> str:
        return f"<class {self.name}>"


def _linearise(cls: Class, bases: tuple[Class, ...]) -> list[Class]:
    """The method resolution order (C3; falls back to depth first where C3 has no answer)."""
    if len(bases) <= 1:
        return [cls, *(bases[0].mro if bases else ())]
    lists = [list(b.mro) for b in bases] + [list(bases)]
    out = [cls]
    while True:
        lists = [x for x in lists if x]
        if not lists:
            return out
        for seq in lists:
            head = seq[0]
            if not any(head in other[1:] for other in lists):
                break
        else:
            head = lists[0][0]
        out.append(head)
        for seq in lists:
            if seq and seq[0] is head:
                del seq[0]


class Obj:
    """An instance. ``data`` is what a native class keeps besides the attributes."""

    __slots__ = ("__weakref__", "attrs", "cls", "data", "site")

    def __init__(self, cls: Class, data: Any = None) -> None:
        self.cls = cls
        self.attrs: dict[str, Any] = {}
        self.data = data
        self.site: Any = None

    def is_a(self, flag: str) -> bool:
        return flag in self.cls.flags

    def __repr__(self) -> str:
        return f"<{self.cls.name} object>"


class Func:
    """A function or lambda of the user's; ``code`` is lowered at its first call."""

    __slots__ = ("attrs", "code", "defaults", "globals", "kwdefaults", "mode", "name", "outer", "owner")

    def __init__(self, code: Any, name: str, globals_: Any, outer: Any) -> None:
        self.code = code
        self.name = name
        self.globals = globals_
        self.outer = outer
        self.defaults: tuple = ()
        self.kwdefaults: dict[str, Any] = {}
        self.owner: Class | None = None
        #: Grad mode that a decorator such as ``@torch.no_grad()`` runs it in, or None.
        self.mode: Any = None
        self.attrs: dict[str, Any] | None = None


class Native:
    """A function written in the analyser: ``fn(rt, site, args, kwargs)``."""

    __slots__ = ("fn", "name", "pure")

    def __init__(self, name: str, fn: Callable[..., Any], pure: bool = False) -> None:
        self.name = name
        self.fn = fn
        self.pure = pure

    def __repr__(self) -> str:
        return f"<native {self.name}>"


class Bound:
    """A method with its ``self``; ``func`` is a Func or Native."""

    __slots__ = ("func", "self")

    def __init__(self, func: Any, self_: Any) -> None:
        self.func = func
        self.self = self_


class Namespace:
    """A dotted library name such as ``torch.nn.functional``, whose members are looked up by name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<module {self.name}>"


class UserModule:
    """A module of the workspace: its globals."""

    __slots__ = ("file", "globals", "name")

    def __init__(self, name: str, file: Any) -> None:
        self.name = name
        self.file = file
        self.globals = Globals()


class Property:
    __slots__ = ("getter", "setter")

    def __init__(self, getter: Any, setter: Any = None) -> None:
        self.getter = getter
        self.setter = setter


class StaticMethod:
    __slots__ = ("func",)

    def __init__(self, func: Any) -> None:
        self.func = func


class ClassMethod:
    __slots__ = ("func",)

    def __init__(self, func: Any) -> None:
        self.func = func


class Partial:
    __slots__ = ("args", "func", "kwargs")

    def __init__(self, func: Any, args: list, kwargs: dict[str, Any]) -> None:
        self.func = func
        self.args = args
        self.kwargs = kwargs


class Super:
    __slots__ = ("after", "self")

    def __init__(self, after: Class, self_: Any) -> None:
        self.after = after
        self.self = self_


#: The types of values that hold no graph themselves: what defines a program, and constants.
GRAPHLESS = CONST | {Func, Native, Class, ClassMethod, StaticMethod, Property, Namespace, UserModule}


def _spent() -> Any:
    return MISSING


class Iter:
    """An iterator: ``step()`` gives the next element or ``MISSING``. ``known`` while its end is certain.

    ``source`` is what it goes over: a generator's frame, a list of iterators, a value.
    """

    __slots__ = ("known", "left", "send", "source", "step", "trial")

    def __init__(self, step: Callable[[], Any], known: bool = True, source: Any = None) -> None:
        self.step = step
        self.known = known
        self.source = source
        self.trial = 0
        #: How many elements are still to come, where that is known.
        self.left: Callable[[], int] | None = None
        #: A generator's ``send``; None for other iterators.
        self.send: Callable[[Any], Any] | None = None

    def clear(self) -> None:
        """Let go of a generator's code, which refers to it in turn, at the end of the run."""
        self.step = _spent
        self.send = self.source = None


class Endless:
    """An iterable of unknown length: ``make(i)`` gives element ``i``.

    A DataLoader, a file, a range with an unknown end.
    """

    __slots__ = ("counter", "make", "source", "steps")

    def __init__(self, make: Callable[[int], Any], source: Any = None, counter: bool = False) -> None:
        self.make = make
        self.source = source
        self.counter = counter
        #: Whether the elements are counted, or parts of tensors that are there.
        self.steps = False


def children(value: Any) -> Iterator[Any]:
    """The values directly inside a container value."""
    if isinstance(value, (tuple, list)):
        yield from value
    elif isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, LSet):
        yield from value


def tensors_in(value: Any, depth: int = 4, seen: set[int] | None = None) -> Iterator[Any]:
    """The tensors (and graph-carrying unknowns) in a value, through containers and plain instances."""
    kind = type(value)
    if kind is Tensor:
        yield value
        return
    if kind is Sym:
        if value.node is not None:
            yield value
        elif value.op == "phi":
            for arg in value.args[1:]:
                yield from tensors_in(arg, depth - 1, seen)
        return
    if depth <= 0 or value is None or kind in (int, float, str, bool, bytes):
        return
    if kind is Obj:
        inside: Any = value.attrs.values() if not value.is_a("module") else ()
        extra = value.data if isinstance(value.data, (tuple, list, dict)) else None
    elif isinstance(value, (tuple, list, dict, LSet)):
        inside, extra = children(value), None
    elif kind is Partial:
        inside, extra = value.args, None
    else:
        return
    seen = seen if seen is not None else set()
    if id(value) in seen:
        return
    seen.add(id(value))
    for item in list(inside)[:256]:
        yield from tensors_in(item, depth - 1, seen)
    if extra is not None:
        yield from tensors_in(extra, depth - 1, seen)


def node_of(value: Any) -> Node | None:
    """The node an edge from this value leads to, if it carries a graph or is a leaf that wants one."""
    kind = type(value)
    if kind is Tensor:
        return value.edge()
    if kind is Sym:
        return value.node
    return None


def hashable(value: Any) -> Any:
    """A value as it can stand in a dict or set: a slice or mutable container by identity."""
    try:
        hash(value)
    except TypeError:
        return ("unhashable", id(value))
    return value
