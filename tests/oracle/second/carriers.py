"""Where a script keeps a value from one iteration to the next."""

from __future__ import annotations

from dataclasses import dataclass

from .draft import Draft, Lines

KINDS = {
    "name": 10.0, "list": 1.5, "dict": 2, "namespace": 1.2, "dataclass": 1.5, "instance": 1.5, "namedtuple": 1.2,
    "tuple": 1.2, "getattr": 0.8, "closure": 1.2, "global": 1, "registry": 1, "deque": 1, "default argument": 0.5,
    "partial": 0.6, "property": 0.8, "item protocol": 0.6, "class attribute": 0.8, "pop": 0.6, "dict update": 0.7,
    "generator": 0.4, "nested": 1, "function attribute": 0.4, "slice": 0.6, "kwargs": 0.6,
}  # fmt: skip


@dataclass(frozen=True)
class Carrier:
    """How a value is first put there, read, and put there anew (`{}` is the value)."""

    start: str
    read: str
    write: str

    def begin(self, value: str) -> Lines:
        return self.start.replace("{}", value).split("\n")

    def put(self, value: str) -> Lines:
        return self.write.replace("{}", value).split("\n")


def carrier(d: Draft, *wishes: str) -> Carrier:
    """A place for one value."""
    kind = d.pick(KINDS, "carrier")
    field = d.rng.choice(wishes or ("h", "state"))
    name = (
        d.fresh(*(wishes or ("h", "state")), field + "_prev")
        if kind == "name"
        else d.fresh("state", "memory", "ctx", "carry", "box")
    )
    match kind:
        case "list":
            return Carrier(f"{name} = [{{}}]", f"{name}[0]", f"{name}[0] = {{}}")
        case "slice":
            return Carrier(f"{name} = [{{}}, 0]", f"{name}[0]", f"{name}[:1] = [{{}}]")
        case "dict":
            return Carrier(f'{name} = {{"{field}": {{}}}}', f'{name}["{field}"]', f'{name}["{field}"] = {{}}')
        case "dict update":
            read = d.pick([f'{name}["{field}"]', f'{name}.get("{field}")'])
            return Carrier(f"{name} = dict({field}={{}})", read, f"{name}.update({field}={{}})")
        case "kwargs":
            d.define("def merged(old, **new):\n    return {**old, **new}")
            write = f"{name} = merged({name}, {field}={{}})"
            return Carrier(f"{name} = merged(dict(), {field}={{}})", f'{name}["{field}"]', write)
        case "namespace":
            d.use("from types import SimpleNamespace")
            return Carrier(
                f"{name} = SimpleNamespace({field}={{}}, step=0)", f"{name}.{field}", f"{name}.{field} = {{}}"
            )
        case "dataclass":
            d.use("from dataclasses import dataclass", "from dataclasses import replace")
            cls = d.fresh("State", "Carry", "Memory")
            d.define(f"@dataclass\nclass {cls}:\n    {field}: torch.Tensor\n    steps: int = 0")
            write = d.pick(
                [
                    f"{name}.{field} = {{}}",
                    f"{name} = replace({name}, {field}={{}})",
                    f"{name} = {cls}({{}}, {name}.steps + 1)",
                ]
            )
            return Carrier(f"{name} = {cls}({{}})", f"{name}.{field}", write)
        case "instance":
            cls = d.fresh("Holder", "Tracker", "Store")
            d.define(
                f"class {cls}:\n    def __init__(self, value):\n        self.value = value\n        self.count = 0\n\n"
                f"    def update(self, value):\n        self.value = value\n        self.count += 1\n        return self"
            )
            return Carrier(f"{name} = {cls}({{}})", f"{name}.value", f"{name}.update({{}})")
        case "property":
            cls = d.fresh("Slot", "Cell")
            d.define(
                f"class {cls}:\n    def __init__(self):\n        self._value = None\n\n    @property\n    def value(self):\n"
                f"        return self._value\n\n    @value.setter\n    def value(self, new):\n        self._value = new"
            )
            return Carrier(f"{name} = {cls}()\n{name}.value = {{}}", f"{name}.value", f"{name}.value = {{}}")
        case "item protocol":
            cls = d.fresh("Table", "Frame")
            d.define(
                f"class {cls}:\n    def __init__(self):\n        self.rows = {{}}\n\n    def __getitem__(self, key):\n"
                f"        return self.rows[key]\n\n    def __setitem__(self, key, value):\n        self.rows[key] = value"
            )
            return Carrier(
                f'{name} = {cls}()\n{name}["{field}"] = {{}}',
                f'{name}["{field}"]',
                f'{name}["{field}"] = {{}}',
            )
        case "namedtuple":
            cls = d.fresh("Carried", "Snapshot")
            if d.chance(0.5):
                d.use("from collections import namedtuple")
                d.define(f'{cls} = namedtuple("{cls}", ["{field}", "steps"])')
            else:
                d.use("from typing import NamedTuple")
                d.define(f"class {cls}(NamedTuple):\n    {field}: torch.Tensor\n    steps: int")
            write = d.pick(
                [f"{name} = {name}._replace({field}={{}})", f"{name} = {cls}({{}}, {name}.steps + 1)"]
            )
            return Carrier(f"{name} = {cls}({{}}, 0)", f"{name}.{field}", write)
        case "tuple":
            return Carrier(f"{name} = ({{}}, 0)", f"{name}[0]", f"{name} = ({{}}, {name}[1] + 1)")
        case "nested":
            return Carrier(
                f'{name} = {{"rnn": [({{}}, 0)]}}', f'{name}["rnn"][0][0]', f'{name}["rnn"][0] = ({{}}, 1)'
            )
        case "getattr":
            d.use("from types import SimpleNamespace")
            read = d.pick([f'getattr({name}, "{field}")', f"{name}.{field}"])
            return Carrier(
                f"{name} = SimpleNamespace()\nsetattr({name}, '{field}', {{}})",
                read,
                f'setattr({name}, "{field}", {{}})',
            )
        case "closure":
            d.define(
                "def make_box(value):\n    def get():\n        return value\n\n    def put(new):\n"
                "        nonlocal value\n        value = new\n\n    return get, put"
            )
            get, put = d.fresh("get", "recall"), d.fresh("put", "remember")
            return Carrier(f"{get}, {put} = make_box({{}})", f"{get}()", f"{put}({{}})")
        case "global":
            top, put = d.fresh("LAST", "CURRENT"), d.fresh("set_last", "store")
            d.define(f"{top} = None\n\n\ndef {put}(value):\n    global {top}\n    {top} = value")
            return Carrier(f"{put}({{}})", top, f"{put}({{}})")
        case "registry":
            top = d.fresh("CACHE", "REGISTRY")
            d.define(f"{top} = {{}}")
            return Carrier(f'{top}["{field}"] = {{}}', f'{top}["{field}"]', f'{top}["{field}"] = {{}}')
        case "class attribute":
            cls = d.fresh("Shared", "Globals")
            d.define(f"class {cls}:\n    {field} = None")
            return Carrier(f"{cls}.{field} = {{}}", f"{cls}.{field}", f"{cls}.{field} = {{}}")
        case "function attribute":
            fn = d.fresh("keep", "hold")
            d.define(f"def {fn}(value):\n    {fn}.last = value\n    return value")
            return Carrier(f"{fn}({{}})", f"{fn}.last", f"{fn}({{}})")
        case "deque":
            d.use("from collections import deque")
            return Carrier(f"{name} = deque([{{}}], maxlen=1)", f"{name}[-1]", f"{name}.append({{}})")
        case "pop":
            return Carrier(
                f"{name} = [{{}}]",
                f"{name}[-1]",
                f"{name}.pop()\n{name}.append({{}})"
                if d.chance(0.3)
                else f"{name}.append({{}})\n{name}.pop(0)",
            )
        case "default argument":
            fn = d.fresh("recall_or_store", "kept")
            d.define(
                f"def {fn}(value=None, memo={{}}):\n    if value is not None:\n        memo['v'] = value\n    return memo['v']"
            )
            return Carrier(f"{fn}({{}})", f"{fn}()", f"{fn}({{}})")
        case "partial":
            d.use("from functools import partial", "from types import SimpleNamespace")
            save = d.fresh("save", "assign")
            return Carrier(
                f'{name} = SimpleNamespace({field}={{}})\n{save} = partial(setattr, {name}, "{field}")',
                f"{name}.{field}",
                f"{save}({{}})",
            )
        case "generator":
            d.define(
                "def holder(value):\n    while True:\n        new = yield value\n        if new is not None:\n            value = new"
            )
            return Carrier(f"{name} = holder({{}})\nnext({name})", f"next({name})", f"{name}.send({{}})")
    return Carrier(f"{name} = {{}}", name, f"{name} = {{}}")
