"""Definitions and their uses: functions of all signatures, closures, generators, classes, contexts."""

from __future__ import annotations

from collections.abc import Callable

from ..grammar.tree import Compound, Node
from .statements import block
from .values import Scope


def _local(s: Scope, numbers: list[str]) -> dict[str, list[str]]:
    """Go into a function: its parameters alone are in scope. Returns the outer scope."""
    saved = s.saved()
    s.names = {kind: [] for kind in s.names}
    s.names["int"] = list(numbers)
    return saved


def function(s: Scope) -> list[Node]:
    """A function with defaults, star parameters and early returns."""
    name = s.fresh("f")
    saved = _local(s, ["p", "q"])
    body = block(s, 1, 2)
    if s.chance(0.5):
        body.insert(0, Compound(f"if {s.make('bool', 1)}:", [f"return {s.make('int', 1)}"]))
    result = s.make("int", 2)
    form = s.rng.choice(["plain", "default", "args", "kwargs", "keyword", "all", "positional"])
    s.constructs[f"function {form}"] += 1
    heads = {
        "plain": "p, q",
        "default": "p, q=3",
        "args": "p, q=1, *rest",
        "kwargs": "p, q=1, **options",
        "keyword": "p, *, q=4",
        "all": "p, q=2, *rest, last=5, **options",
        "positional": "p, q, /",
    }
    extra = {
        "args": " + sum(rest)",
        "kwargs": " + len(options)",
        "all": " + len(rest) * last + options.get('o', 0)",
    }
    body.append(f"return ({result}{extra.get(form, '')}) % 97")
    s.names = saved
    a, b, c = (s.make("int", 1) for _ in range(3))
    calls = {
        "plain": [f"{name}({a}, {b})", f"{name}(q={a}, p={b})", f"{name}(*({a}, {b}))"],
        "default": [f"{name}({a})", f"{name}({a}, q={b})", f"{name}(**{{'p': {a}}})"],
        "args": [
            f"{name}({a}, {b}, {c})",
            f"{name}(*{s.make('list', 0)}[:0], {a})",
            f"{name}({a}, *[{b}, {c}, 1])",
        ],
        "kwargs": [f"{name}({a}, x={b})", f"{name}({a}, **{{'q': {b}, 'y': 1}})"],
        "keyword": [f"{name}({a}, q={b})", f"{name}({a})"],
        "all": [f"{name}({a}, {b}, {c}, 7, last=2, o={a})", f"{name}({a})", f"{name}({a}, {b}, o=9)"],
        "positional": [f"{name}({a}, {b})"],
    }
    result_name = s.fresh("i")
    s.names["int"].append(result_name)
    return [
        Compound(f"def {name}({heads[form]}):", body),
        f"{result_name} = {s.rng.choice(calls[form])}",
        f"print({result_name})",
    ]


def recursion(s: Scope) -> list[Node]:
    """A function that calls itself."""
    name = s.fresh("rec")
    s.constructs["recursion"] += 1
    body: list[Node] = [
        Compound(f"if n <= {s.number(0, 1)}:", [f"return {s.number(1, 3)}"]),
        f"return ({name}(n - 1) {s.rng.choice('+*')} {s.rng.choice(['n', '2', f'{name}(n - 2)'])}) % 97",
    ]
    return [Compound(f"def {name}(n):", body), f"print({name}({s.number(1, 4)}))"]


def mutable_default(s: Scope) -> list[Node]:
    """A default that is shared between calls."""
    name = s.fresh("bag")
    s.constructs["mutable default"] += 1
    body: list[Node] = ["seen.append(item)", "return len(seen), sum(seen)"]
    calls: list[Node] = [f"print({name}({s.make('int', 0)}))" for _ in range(2)]
    return [Compound(f"def {name}(item, seen=[]):", body), *calls, f"print({name}(1, [2]))"]


def closure(s: Scope) -> list[Node]:
    """A closure with state, late binding in a loop, or a global counter."""
    form = s.rng.choice(["nonlocal", "late", "default", "global", "compose", "decorator"])
    s.constructs[f"closure {form}"] += 1
    name, made = s.fresh("make"), s.fresh("got")
    if form == "nonlocal":
        inner: list[Node] = [
            "nonlocal total",
            f"total = (total {s.rng.choice('+*-')} by) % 97",
            "return total",
        ]
        body: list[Node] = ["total = start", Compound("def add(by=1):", inner), "return add"]
        return [
            Compound(f"def {name}(start):", body),
            f"{made} = {name}({s.make('int', 1)})",
            f"{made}()",
            f"print({made}({s.make('int', 0)}), {made}(), {name}(1)(2))",
        ]
    if form == "late":
        return [
            f"{made} = [lambda: i * 2 for i in range({s.number(1, 4)})]",
            f"print([each() for each in {made}])",
        ]
    if form == "default":
        return [
            f"{made} = [lambda i=i: i * 2 for i in range({s.number(1, 4)})]",
            f"print([each() for each in {made}])",
        ]
    if form == "global":
        counter = s.fresh("counter")
        body = [f"global {counter}", f"{counter} += by", f"return {counter}"]
        return [
            f"{counter} = {s.number()}",
            Compound(f"def {name}(by):", body),
            Compound(f"for step in range({s.number(1, 3)}):", [f"{name}(step)"]),
            f"print({counter}, {name}(5))",
        ]
    if form == "compose":
        body = ["return lambda value: outer(inner(value))"]
        use = f"{name}(lambda v: v + {s.number()}, lambda v: v * {s.number()})({s.make('int', 0)})"
        return [Compound(f"def {name}(outer, inner):", body), f"print({use})"]
    wrapped: list[Node] = [f"return func(*args, **kwargs) + {s.number()}"]
    body = [Compound("def wrapper(*args, **kwargs):", wrapped), "return wrapper"]
    decorated = Compound(f"@{name}\ndef {made}(p, q=2):", ["return p * q"])
    return [
        Compound(f"def {name}(func):", body),
        decorated,
        f"print({made}({s.number()}), {made}(3, q={s.number()}))",
    ]


def generator(s: Scope) -> list[Node]:
    """A generator: drained, stepped, delegating, with a return value or `send`."""
    form = s.rng.choice(["drain", "next", "from", "send", "finally", "infinite", "expression"])
    s.constructs[f"generator {form}"] += 1
    name, it = s.fresh("gen"), s.fresh("it")
    count = s.number(1, 4)
    produce: list[Node] = [
        f"state = {s.make('int', 1)}",
        Compound(f"for i in range({count}):", ["state = (state * 2 + i) % 97", "yield state"]),
    ]
    if form == "drain":
        return [Compound(f"def {name}():", produce), f"print(list({name}()), sum({name}()))"]
    if form == "next":
        uses: list[Node] = [f"{it} = {name}()", f"print(next({it}), next({it}, 'end'), next({it}, 'end'))"]
        return [
            Compound(f"def {name}():", produce),
            *uses,
            Compound(f"for left in {it}:", ["print('left', left)"]),
        ]
    if form == "from":
        outer: list[Node] = ["yield -1", f"result = yield from {name}()", "yield result"]
        done: list[Node] = [*produce, "return 'done'"]
        return [
            Compound(f"def {name}():", done),
            Compound(f"def {name}_all():", outer),
            f"print([*{name}_all()])",
        ]
    if form == "send":
        body: list[Node] = [
            "total = 0",
            Compound("while total < 50:", ["got = yield total", "total += got or 1"]),
        ]
        return [
            Compound(f"def {name}():", body),
            f"{it} = {name}()",
            f"print(next({it}), {it}.send({count}), next({it}))",
        ]
    if form == "finally":
        body = [Compound("try:", produce, [("finally:", ["print('closed')"])])]
        return [
            Compound(f"def {name}():", body),
            Compound(f"for item in {name}():", ["print(item)"]),
            f"{it} = {name}()",
        ]
    if form == "infinite":
        body = ["n = 0", Compound("while True:", ["yield n", f"n += {s.number(1, 3)}"])]
        stop = Compound(f"if item > {s.number(3, 8)}:", ["break"])
        return [Compound(f"def {name}():", body), Compound(f"for item in {name}():", [stop, "print(item)"])]
    return [
        f"{it} = (e * 2 for e in {s.make('list', 1)} if e)",
        f"print(next({it}, None), list({it}), list({it}))",
    ]


def klass(s: Scope) -> list[Node]:
    """Classes with inheritance, properties, class attributes and special methods."""
    base, child, obj = s.fresh("Base"), s.fresh("Child"), s.fresh("obj")
    s.constructs["class"] += 1
    n1, n2, n3 = s.number(), s.number(1, 5), s.number()
    methods: list[Node] = [
        f"scale = {n2}",
        Compound("def __init__(self, value):", ["self.value = value", "self.log = []"]),
        Compound(
            "def bump(self, by=1):",
            ["self.value += by * self.scale", "self.log.append(self.value)", "return self"],
        ),
        Compound("@property\ndef double(self):", ["return self.value * 2"]),
        Compound("@double.setter\ndef double(self, new):", ["self.value = new // 2"]),
        Compound("@staticmethod\ndef helper(v):", [f"return v + {n1}"]),
        Compound("@classmethod\ndef make(cls, v=2):", ["return cls(v + cls.scale)"]),
        Compound("def __len__(self):", ["return len(self.log)"]),
        Compound("def __repr__(self):", ["return f'{type(self).__name__}({self.value})'"]),
        Compound("def __add__(self, other):", ["return type(self)(self.value + other.value)"]),
        Compound("def __getitem__(self, key):", ["return self.log[key]"]),
        Compound(
            "def __eq__(self, other):", ["return isinstance(other, Base1) and self.value == other.value"]
        ),
        Compound("def __call__(self, v):", ["return v * self.value"]),
        Compound("def __iter__(self):", ["yield from self.log"]),
        Compound("def __contains__(self, v):", ["return v in self.log"]),
        Compound("def __bool__(self):", ["return self.value > 0"]),
    ]
    methods[11] = Compound(
        "def __eq__(self, other):", [f"return isinstance(other, {base}) and self.value == other.value"]
    )
    over: list[Node] = [
        f"scale = {n3}",
        Compound("def __init__(self, value, extra=1):", ["super().__init__(value)", "self.extra = extra"]),
        Compound("def bump(self, by=1):", ["super().bump(by + self.extra)", "return self"]),
    ]
    uses = [
        f"print({obj}, {obj}.double, len({obj}))",
        f"print({obj}.helper({s.make('int', 0)}), {child}.make().value, {base}.make(1))",
        f"{obj}.double = {s.make('int', 1)}",
        f"print({obj}.value, {obj} == {base}({obj}.value), {obj} + {obj})",
        f"print({obj}[0], {obj}[-1], list({obj}), {obj}.value in {obj})",
        f"print({obj}({s.number()}), bool({obj}), isinstance({obj}, {base}), hasattr({obj}, 'extra'))",
        f"{obj}.scale = 1",
        f"setattr({obj}, 'fresh', {s.number()})",
        f"print(getattr({obj}, 'fresh', None), getattr({obj}, 'nothing', 'none'))",
        f"{base}.scale += 1",
        f"print({obj}.bump().value, {base}.scale, {child}.scale)",
    ]
    chosen = [use for use in uses if s.chance(0.6)]
    made = s.rng.choice(
        [f"{child}({s.make('int', 1)})", f"{child}({n1}, extra={n2})", f"{base}({s.make('int', 1)})"]
    )
    return [
        Compound(f"class {base}:", methods),
        Compound(f"class {child}({base}):", over),
        f"{obj} = {made}",
        f"{obj}.bump().bump({s.number()})",
        *chosen,
    ]


def context(s: Scope) -> list[Node]:
    """A context manager: a class that may suppress, or a generator."""
    name = s.fresh("Ctx")
    s.constructs["context"] += 1
    inner: list[Node] = ["print('in', got)"]
    if s.chance(0.4):
        inner.append("raise ValueError('inside')")
    if s.chance(0.5):
        swallow = s.rng.choice(["True", "kind is ValueError", "kind is not None"])
        body: list[Node] = [
            Compound("def __init__(self, tag):", ["self.tag = tag"]),
            Compound("def __enter__(self):", ["print('enter', self.tag)", "return self.tag * 2"]),
            Compound(
                "def __exit__(self, kind, error, trace):",
                ["print('exit', kind is None)", f"return {swallow}"],
            ),
        ]
        return [
            Compound(f"class {name}:", body),
            Compound(f"with {name}({s.number()}) as got:", inner),
            "print('after')",
        ]
    body = [
        "print('enter', tag)",
        Compound(
            "try:",
            ["yield tag + 1"],
            [("except ValueError:", ["print('caught')"]), ("finally:", ["print('exit')"])],
        ),
    ]
    return [
        Compound(f"@contextmanager\ndef {name}(tag):", body),
        Compound(f"with {name}({s.number()}) as got:", inner),
    ]


def leaving(s: Scope) -> list[Node]:
    """A function whose `finally` runs on the way out of a loop or a return."""
    name = s.fresh("out")
    s.constructs["return through finally"] += 1
    way = s.rng.choice(["return i", "break", "continue", "raise ValueError(i)"])
    guarded = Compound(
        "try:",
        [Compound(f"if i {s.rng.choice(['==', '>', '<'])} limit:", [way]), "total += i"],
        [("finally:", ["total += 10"])],
    )
    body: list[Node] = [
        "total = 0",
        Compound(f"for i in range({s.number(2, 5)}):", [guarded]),
        "return total",
    ]
    call: Node = Compound(
        "try:",
        [f"print({name}({s.number(0, 3)}))"],
        [("except ValueError as error:", ["print('left', error)"])],
    )
    return [Compound(f"def {name}(limit):", body), call]


MAKERS: list[tuple[Callable[[Scope], list[Node]], float]] = [
    (function, 3),
    (recursion, 0.7),
    (mutable_default, 0.6),
    (closure, 2),
    (generator, 2),
    (klass, 1.5),
    (context, 1),
    (leaving, 0.8),
]


def definition(s: Scope) -> list[Node]:
    """A definition and its use."""
    return s.rng.choices([m for m, _ in MAKERS], [weight for _, weight in MAKERS])[0](s)
