"""Statements: assignments, branches, loops with their exits, `try`, `match`, deletions."""

from __future__ import annotations

from collections.abc import Callable

from ..grammar.tree import Compound, Node
from .values import Scope

KINDS = ("int", "int", "int", "str", "bool", "list", "list", "dict", "tuple")


def assign(s: Scope) -> list[Node]:
    """Bind a new name, or one that exists, to an expression of its type."""
    kind = s.rng.choice(KINDS)
    value = s.make(kind)
    if s.names[kind] and s.chance(0.4):
        return [f"{s.rng.choice(s.names[kind])} = {value}"]
    name = s.fresh(kind[0])
    s.names[kind].append(name)
    return [f"{name} = {value}"]


def show(s: Scope) -> list[Node]:
    """Print one to three values."""
    values = [s.make(s.rng.choice(KINDS), s.rng.choice([0, 0, 1])) for _ in range(s.rng.choice([1, 1, 2, 3]))]
    return [f"print({', '.join(values)})"]


def augmented(s: Scope) -> list[Node]:
    """An augmented assignment to a name, an item or a slice."""
    s.constructs["augmented"] += 1
    form = s.rng.choice(["int", "list", "str", "item", "dict", "tuple"])
    if form == "int" and s.names["int"]:
        name = s.rng.choice(s.names["int"])
        return [f"{name} {s.rng.choice(['+=', '-=', '*='])} {s.make('int', 1)}", f"{name} %= 97"]
    if form == "list" and s.names["list"]:
        name = s.rng.choice(s.names["list"])
        alias = s.fresh("alias")
        return [
            f"{alias} = {name}",
            f"{name} += [{s.make('int', 0)}]",
            f"print({alias}, {alias} is {name})",
            f"del {name}[6:]",
        ]
    if form == "str" and s.names["str"]:
        name = s.rng.choice(s.names["str"])
        return [f"{name} += {s.word()}", f"{name} = {name}[-8:]"]
    if form == "item" and s.names["list"]:
        name = s.rng.choice(s.names["list"])
        return [Compound(f"if {name}:", [f"{name}[0] += {s.make('int', 0)}", f"{name}[-1] %= 97"])]
    if form == "dict" and s.names["dict"]:
        name = s.rng.choice(s.names["dict"])
        return [f"{name}['n'] = {name}.get('n', 0) + 1", f"{name}['n'] *= 2", f"{name}['n'] %= 97"]
    if form == "tuple" and s.names["tuple"]:
        name = s.rng.choice(s.names["tuple"])
        return [f"{name} += ({s.make('int', 0)},)", f"{name} = {name}[-2:]"]
    return assign(s)


def mutate(s: Scope) -> list[Node]:
    """Change a list or a dict in place, seen through an alias or not through a copy."""
    if s.names["list"] and s.chance(0.6):
        name = s.rng.choice(s.names["list"])
        other = s.fresh("view")
        bind = f"{other} = {s.rng.choice([name, name, f'{name}[:]', f'list({name})', f'{name}.copy()'])}"
        change = s.rng.choice(
            [
                f"{name}.append({s.make('int', 0)})",
                f"{name}.extend(({s.number()}, {s.number()}))",
                f"{name}.reverse()",
                f"{name}.insert(0, {s.number()})",
                f"{name}.sort()",
                f"{name}[1:2] = [{s.number()}, {s.number()}]",
                f"{name}.clear()",
                f"{name}.pop() if {name} else None",
                f"{name}[:] = [e for e in {name} if e]",
                f"{name}.remove(0) if 0 in {name} else None",
                f"del {name}[:1]",
                f"{name}.sort(reverse=True)",
            ]
        )
        s.constructs["list method"] += 1
        return [bind, change, f"print({name}, {other}, len({other}))", f"del {name}[7:]"]
    if s.names["dict"]:
        name = s.rng.choice(s.names["dict"])
        change = s.rng.choice(
            [
                f"{name}.update(z={s.number()})",
                f"{name}.setdefault('a', 5)",
                f"{name}.pop('a', None)",
                f"{name}['q'] = 1",
                f"{name} |= {{'r': 2}}",
                f"{name}.pop('zz', 0)",
            ]
        )
        s.constructs["dict method"] += 1
        return [change, f"print({name}, list({name}), sorted({name}.items()))"]
    return assign(s)


def unpack(s: Scope) -> list[Node]:
    """Unpack a tuple, a list with a star, nested pairs; swap."""
    s.constructs["unpacking"] += 1
    form = s.rng.choice(["pair", "star", "nested", "swap", "items", "chain"])
    a, b, c = s.fresh("u"), s.fresh("u"), s.fresh("u")
    if form == "pair":
        out = [f"{a}, {b} = {s.make('tuple', 1)}"]
    elif form == "star":
        out = [f"{a}, *{c}, {b} = [{s.number()}, {s.number()}, *{s.make('list', 0)}]"]
        s.names["list"].append(c)
    elif form == "nested":
        out = [f"({a}, ({b}, {c})) = {s.make('int', 0)}, {s.make('tuple', 0)}"]
        s.names["int"].append(c)
    elif form == "swap":
        out = [f"{a}, {b} = {s.make('int', 0)}, {s.make('int', 0)}", f"{a}, {b} = {b}, {a} + {b}"]
    elif form == "items":
        out = [f"[({a}, {b})] = {{'k': {s.number()}}}.items()", f"{a} = len({a})"]
    else:
        out = [f"{a} = {b} = {s.make('int', 1)}"]
    s.names["int"] += [a, b]
    return [*out]


def delete(s: Scope) -> list[Node]:
    """Make a name and delete it."""
    name = s.fresh("gone")
    handler: list[Node] = [f"print('no {name}')"]
    return [
        f"{name} = {s.make('int', 1)}",
        f"del {name}",
        Compound("try:", [f"print({name})"], [("except NameError:", handler)]),
    ]


def block(s: Scope, depth: int, size: int = 2) -> list[Node]:
    """Some statements; what they bind is not known after the block."""
    saved = s.saved()
    nodes: list[Node] = []
    for _ in range(s.rng.randint(1, size)):
        nodes += statement(s, depth)
    s.names = saved
    return nodes


def branch(s: Scope, depth: int) -> list[Node]:
    """An `if` with its clauses."""
    s.constructs["if"] += 1
    clauses: list[tuple[str, list[Node]]] = []
    if s.chance(0.4):
        clauses.append((f"elif {s.make('bool', 1)}:", block(s, depth - 1)))
    if s.chance(0.6):
        clauses.append(("else:", block(s, depth - 1)))
    return [Compound(f"if {s.make('bool')}:", block(s, depth - 1), clauses)]


def loop(s: Scope, depth: int) -> list[Node]:
    """A loop with `break`, `continue` and `else`."""
    saved = s.saved()
    before: list[Node] = []
    e, k = s.fresh("e"), s.fresh("k")
    form = s.rng.choice(
        ["range", "list", "enumerate", "zip", "items", "string", "while", "true", "reversed", "iter"]
    )
    s.constructs[f"loop {form}"] += 1
    snapshot = s.make("list", 1)
    headers = {
        "range": f"for {e} in range({s.number(0, 5)}):",
        "list": f"for {e} in list({snapshot})[:5]:",
        "enumerate": f"for {k}, {e} in enumerate({snapshot}[:4], 1):",
        "zip": f"for {k}, {e} in zip(range(4), {snapshot}[:4]):",
        "items": f"for {k}, {e} in list({s.make('dict', 1)}.items())[:4]:",
        "string": f"for {k} in {s.word()}:",
        "reversed": f"for {e} in reversed(range({s.number(1, 4)})):",
        "iter": f"for {e} in iter(({s.number()}, {s.number()})):",
        "while": f"while {e} < {s.number(1, 5)}:",
        "true": "while True:",
    }
    inner: list[Node] = []
    if form in ("while", "true"):
        before.append(f"{e} = 0")
        inner.append(f"{e} += 1")
    if form == "true":
        inner.append(Compound(f"if {e} > {s.number(1, 4)}:", ["break"]))
    if form != "string":
        s.names["int"].append(e)
    if form in ("items", "string"):
        s.names["str"].append(k)
    elif form in ("enumerate", "zip"):
        s.names["int"].append(k)
    if s.chance(0.45):
        word = s.rng.choice(["break", "continue"])
        s.constructs[word] += 1
        inner.append(
            Compound(f"if {s.make('bool', 1)}:", [*([f"print('{word}')"] if s.chance(0.5) else []), word])
        )
    total = s.rng.choice(s.names["int"]) if s.names["int"] and form not in ("while", "true") else None
    if total and total != e and s.chance(0.6):
        inner.append(f"{total} = ({total} * 3 + {s.make('int', 1)}) % 97")
    inner += _without(e, block(s, depth - 1, 3))
    clauses: list[tuple[str, list[Node]]] = []
    if s.chance(0.3):
        s.constructs["loop else"] += 1
        clauses.append(("else:", ["print('else')"]))
    s.names = saved
    after: list[Node] = (
        [f"print('{e}', {e})"]
        if form in ("range", "while", "true", "reversed", "iter") and form != "range"
        else []
    )
    return [*before, Compound(headers[form], inner, clauses), *after]


def _without(counter: str, nodes: list[Node]) -> list[Node]:
    """The nodes without those that bind a loop's counter (the loop would not end)."""
    kept: list[Node] = []
    for node in nodes:
        if isinstance(node, str):
            if not node.startswith(
                (f"{counter} =", f"{counter} +=", f"{counter} -=", f"{counter} *=", f"{counter} %=")
            ):
                kept.append(node)
            continue
        node.body = _without(counter, node.body)
        node.clauses = [(header, _without(counter, body)) for header, body in node.clauses]
        kept.append(node)
    return kept


def attempt(s: Scope, depth: int) -> list[Node]:
    """A `try` whose body raises, or not."""
    s.constructs["try"] += 1
    bad = s.rng.choice(
        [
            "int('x')",
            "{}['missing']",
            "[][3]",
            "1 // 0",
            "raise ValueError('bad')",
            "raise KeyError('k')",
            "None.real",
            "assert False, 'no'",
            "'a' + 1",
            "len(5)",
            "next(iter([]))",
            "a, b = [1]",
            "raise Custom(3)",
        ]
    )
    inner = block(s, depth - 1)
    if s.chance(0.75):
        raising: Node = bad if s.chance(0.7) else Compound(f"if {s.make('bool', 1)}:", [bad])
        inner.insert(s.rng.randint(0, len(inner)), raising)
    clauses: list[tuple[str, list[Node]]] = []
    if s.chance(0.4):
        clauses.append(
            (
                "except (ValueError, KeyError) as error:",
                ["print('value', type(error).__name__)", *block(s, 0, 1)],
            )
        )
    if s.chance(0.3):
        clauses.append(("except LookupError:", ["print('lookup')"]))
    if s.chance(0.25):
        clauses.append(("except Custom as error:", ["print('custom', error.code)"]))
    clauses.append(
        (
            "except Exception as error:",
            [f"print({s.rng.choice(['str(error)', 'type(error).__name__', repr('any')])})"],
        )
    )
    if s.chance(0.3):
        clauses.append(("else:", ["print('no error')"]))
    if s.chance(0.4):
        s.constructs["finally"] += 1
        clauses.append(("finally:", ["print('finally')", *block(s, 0, 1)]))
    return [Compound("try:", inner, clauses)]


def matching(s: Scope, depth: int) -> list[Node]:
    """A `match` over numbers, tuples, lists, dicts."""
    s.constructs["match"] += 1
    kind = s.rng.choice(["int", "tuple", "list", "dict", "str"])
    cases: dict[str, list[str]] = {
        "int": ["case 0:", "case 1 | 2:", "case m if m > 5:", "case int(m):"],
        "tuple": ["case (0, m):", "case (m, 1):", "case (p, q) if p == q:", "case (m, *_):"],
        "list": ["case []:", "case [m]:", "case [p, q]:", "case [p, *more] if len(more) > 2:"],
        "dict": ["case {'a': 1}:", "case {'a': m, **more}:", "case {'c': int()}:"],
        "str": ["case 'ab' | 'tape':", "case '':", "case m if 'a' in m:"],
    }
    chosen = s.rng.sample(cases[kind], s.rng.randint(1, len(cases[kind])))
    bodies: list[Node] = []
    for number, header in enumerate(chosen):
        bound = "m" if "m" in header.replace("more", "").replace("case", "") else None
        text = f"print('case {number}', m)" if bound else f"print('case {number}')"
        bodies.append(Compound(header, [text, *block(s, 0, 1)]))
    bodies.append(Compound("case _:", ["print('default')"]))
    return [Compound(f"match {s.make(kind, 1)}:", bodies)]


SIMPLE: list[tuple[Callable[[Scope], list[Node]], float]] = [
    (assign, 5),
    (show, 4),
    (augmented, 2),
    (mutate, 2),
    (unpack, 1),
    (delete, 0.2),
]
COMPOUND: list[tuple[Callable[[Scope, int], list[Node]], float]] = [
    (branch, 3),
    (loop, 3),
    (attempt, 1.5),
    (matching, 1),
]


def statement(s: Scope, depth: int) -> list[Node]:
    """One statement (with what it needs)."""
    if depth > 0 and s.chance(0.4):
        maker = s.rng.choices([m for m, _ in COMPOUND], [weight for _, weight in COMPOUND])[0]
        return maker(s, depth)
    simple = s.rng.choices([m for m, _ in SIMPLE], [weight for _, weight in SIMPLE])[0]
    return simple(s)
