"""Carriers: the places that take a value from one iteration to the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .builder import Builder
from .tree import Compound, Node

ZERO = "torch.zeros(3)"


@dataclass
class Carrier:
    """How a carried vector is read, stored and reset."""

    kind: str
    read: str
    store: Callable[[str], list[Node]]
    reset: list[Node]
    in_place: bool = False


def _assign(target: str) -> Callable[[str], list[Node]]:
    return lambda value: [f"{target} = {value}"]


def _simple(b: Builder) -> Carrier:
    ref = b.declare("h", ZERO)
    return Carrier("name", ref, _assign(ref), [f"{ref} = {ZERO}"])


def _tuple(b: Builder) -> Carrier:
    ref = b.declare("state", f"({ZERO}, {ZERO})")
    whole = f"{ref} = ({ZERO}, {ZERO})"
    if b.chance(0.5):
        return Carrier("tuple", f"{ref}[0]", lambda v: [f"{ref} = ({v}, {ref}[1])"], [whole])
    return Carrier("tuple", f"{ref}[1]", lambda v: [f"{ref} = ({ref}[1].detach(), {v})"], [whole])


def _list(b: Builder) -> Carrier:
    ref = b.declare("cells", f"[{ZERO}, {ZERO}]")
    k = b.pick(["0", "1", "-1"])
    return Carrier("list", f"{ref}[{k}]", _assign(f"{ref}[{k}]"), [f"{ref} = [{ZERO}, {ZERO}]"])


def _history(b: Builder) -> Carrier:
    ref = b.declare("history", f"[{ZERO}]")
    return Carrier("history", f"{ref}[-1]", lambda v: [f"{ref}.append({v})"], [f"{ref} = [{ZERO}]"])


def _deque(b: Builder) -> Carrier:
    if "from collections import deque" not in b.top:
        b.top.insert(0, "from collections import deque")
    ref = b.declare("window", f"deque([{ZERO}], maxlen={b.pick(['1', '2', '3'])})")
    return Carrier("deque", f"{ref}[-1]", lambda v: [f"{ref}.append({v})"], [f"{ref}.append({ZERO})"])


def _dict(b: Builder) -> Carrier:
    ref = b.declare("memo", f'{{"h": {ZERO}, "n": 0}}')
    target = f'{ref}["h"]'
    if b.chance(0.3):
        return Carrier("dict", target, lambda v: [f"{ref}.update(h={v})"], [f"{target} = {ZERO}"])
    return Carrier("dict", target, _assign(target), [f"{target} = {ZERO}"])


def _attribute(b: Builder) -> Carrier:
    b.helper("Box", "class Box:", [Compound("def __init__(self):", [f"self.h = {ZERO}", "self.seen = 0"])])
    ref = b.declare("box", "Box()")
    if b.chance(0.25):
        return Carrier("setattr", f"{ref}.h", lambda v: [f'setattr({ref}, "h", {v})'], [f"{ref}.h = {ZERO}"])
    return Carrier("attribute", f"{ref}.h", _assign(f"{ref}.h"), [f"{ref}.h = {ZERO}"])


def _method(b: Builder) -> Carrier:
    body: list[Node] = [
        Compound("def __init__(self):", [f"self.value = {ZERO}"]),
        Compound("def put(self, value):", ["self.value = value"]),
        Compound("def get(self):", ["return self.value"]),
        Compound("def reset(self):", [f"self.value = {ZERO}"]),
    ]
    b.helper("Memory", "class Memory:", body)
    ref = b.declare("memory", "Memory()")
    return Carrier("method", f"{ref}.get()", lambda v: [f"{ref}.put({v})"], [f"{ref}.reset()"])


def _closure(b: Builder) -> Carrier:
    body: list[Node] = [
        f"value = {ZERO}",
        Compound("def get():", ["return value"]),
        Compound("def put(new):", ["nonlocal value", "value = new"]),
        "return get, put",
    ]
    b.helper("make_memory", "def make_memory():", body)
    pair = b.declare("kept", "make_memory()")
    return Carrier("closure", f"{pair}[0]()", lambda v: [f"{pair}[1]({v})"], [f"{pair}[1]({ZERO})"])


def _global(b: Builder) -> Carrier:
    name = b.fresh("last")
    b.top.append(f"{name} = {ZERO}")
    b.helper(f"remember_{name}", f"def remember_{name}(value):", [f"global {name}", f"{name} = value"])
    put = f"remember_{name}"
    return Carrier("global", name, lambda v: [f"{put}({v})"], [f"{put}({ZERO})"])


def _buffer(b: Builder) -> Carrier:
    init: list[Node] = ["super().__init__()", f'self.register_buffer("buf", {ZERO})']
    b.helper("Store", "class Store(nn.Module):", [Compound("def __init__(self):", init)])
    ref = b.declare("store", "Store()")
    form = b.pick(["=", "=", "copy_", "slice"])
    if form == "=":
        return Carrier("buffer", f"{ref}.buf", _assign(f"{ref}.buf"), [f"{ref}.buf = {ZERO}"])
    text = "{r}.buf.copy_({v})" if form == "copy_" else "{r}.buf[:] = {v}"
    return Carrier(
        f"buffer {form}",
        f"{ref}.buf",
        lambda v: [text.format(r=ref, v=v)],
        [b.pick([f"{ref}.buf.zero_()", f"{ref}.buf = {ZERO}", f"{ref}.buf.detach_()"])],
        in_place=True,
    )


def _rows(b: Builder) -> Carrier:
    ref = b.declare("bank", "torch.zeros(4, 3)")
    row = f"{b.counter} % 4" if b.counter and b.chance(0.5) else b.pick(["0", "1"])
    read = b.pick([f"{ref}[{row}]", f"{ref}.sum(0)", f"{ref}[0]"])
    reset = b.pick([f"{ref} = torch.zeros(4, 3)", f"{ref}.zero_()", f"{ref} = torch.zeros_like({ref})"])
    return Carrier("rows", read, lambda v: [f"{ref}[{row}] = {v}"], [reset], in_place=True)


def _average(b: Builder) -> Carrier:
    ref = b.declare("average", ZERO)
    form = b.pick(["{r} = 0.9 * {r} + 0.1 * {v}", "{r}.mul_(0.9).add_({v})", "{r} += 0.1 * {v}"])
    reset = b.pick([f"{ref} = {ZERO}", f"{ref} = {ref}.detach()", f"{ref}.detach_()"])
    return Carrier(
        "average", ref, lambda v: [form.format(r=ref, v=v)], [reset], not form.startswith("{r} = ")
    )


def _record(b: Builder) -> Carrier:
    if b.chance(0.5):
        if "from typing import NamedTuple" not in b.top:
            b.top.insert(0, "from typing import NamedTuple")
        b.helper("State", "class State(NamedTuple):", ["h: torch.Tensor", "n: int"])
        ref = b.declare("record_", f"State({ZERO}, 0)")
        return Carrier(
            "namedtuple",
            f"{ref}.h",
            lambda v: [f"{ref} = {ref}._replace(h={v})"],
            [f"{ref} = State({ZERO}, 0)"],
        )
    if "from dataclasses import dataclass, replace" not in b.top:
        b.top.insert(0, "from dataclasses import dataclass, replace")
    b.helper("Point", "@dataclass\nclass Point:", ["h: torch.Tensor", "n: int = 0"])
    ref = b.declare("point", f"Point({ZERO})")
    form = b.pick(["{r}.h = {v}", "{r} = replace({r}, h={v})", "{r} = Point({v}, {r}.n + 1)"])
    return Carrier("dataclass", f"{ref}.h", lambda v: [form.format(r=ref, v=v)], [f"{ref} = Point({ZERO})"])


def _nested(b: Builder) -> Carrier:
    ref = b.declare("deepest", f'{{"layers": [({ZERO}, {ZERO})], "n": 0}}')
    read = f'{ref}["layers"][0]'
    reset: list[Node] = [f'{ref}["layers"] = [({ZERO}, {ZERO})]']
    if b.chance(0.5):
        return Carrier("nested", f"{read}[1]", lambda v: [f"{read} = ({read}[0], {v})"], reset)
    return Carrier("nested", f"{read}[0]", lambda v: [f'{ref}["layers"] = [({v}, {read}[0])]'], reset)


KINDS: dict[str, tuple[Callable[[Builder], Carrier], float]] = {
    "name": (_simple, 5.0),
    "tuple": (_tuple, 2.0),
    "list": (_list, 1.5),
    "history": (_history, 1.0),
    "deque": (_deque, 0.8),
    "dict": (_dict, 2.0),
    "attribute": (_attribute, 2.0),
    "method": (_method, 1.5),
    "closure": (_closure, 1.2),
    "global": (_global, 1.0),
    "buffer": (_buffer, 1.5),
    "rows": (_rows, 1.2),
    "average": (_average, 1.0),
    "record": (_record, 1.2),
    "nested": (_nested, 1.0),
}


def carrier(b: Builder) -> Carrier:
    """A carrier of a random kind, declared."""
    kind = b.weighted({k: weight for k, (_, weight) in KINDS.items()})
    b.note(f"carrier {kind}")
    return KINDS[kind][0](b)
