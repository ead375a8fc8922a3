"""Typed expressions over the names in scope: numbers, strings, booleans, lists, dicts, tuples.

Numbers are kept small (`% 97`), divisors are never zero, indexes always fit, so that an expression
raises nothing by itself. What is meant to raise stands in a `try`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable


class Scope:
    """The names in scope by type, the random source and the counts of constructs."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.names: dict[str, list[str]] = {
            kind: [] for kind in ("int", "str", "bool", "list", "dict", "tuple")
        }
        self.constructs: Counter[str] = Counter()
        self._numbers: Counter[str] = Counter()

    def fresh(self, stem: str) -> str:
        """A new name."""
        self._numbers[stem] += 1
        return f"{stem}{self._numbers[stem]}"

    def saved(self) -> dict[str, list[str]]:
        """The names of now, to go back to when a block ends."""
        return {kind: list(names) for kind, names in self.names.items()}

    def chance(self, p: float) -> bool:
        """True with probability `p`."""
        return self.rng.random() < p

    def number(self, low: int = 0, high: int = 9) -> str:
        """A literal number."""
        return str(self.rng.randint(low, high))

    def word(self) -> str:
        """A literal string."""
        return repr(self.rng.choice(["ab", "tape", "x y", "", "Node", "a,b,c", "loop"]))

    def one(self, kind: str) -> str:
        """A name of the type, or a literal where there is none."""
        names = self.names[kind]
        if names and self.chance(0.8):
            return self.rng.choice(names)
        literal: dict[str, Callable[[], str]] = {
            "int": lambda: self.number(0),
            "str": self.word,
            "bool": lambda: self.rng.choice(["True", "False"]),
            "list": lambda: f"[{self.number()}, {self.number()}, {self.number()}]",
            "dict": lambda: f"{{'a': {self.number()}, 'b': {self.number()}}}",
            "tuple": lambda: f"({self.number()}, {self.number()})",
        }
        return literal[kind]()

    def make(self, kind: str, depth: int = 2) -> str:
        """An expression of the type."""
        if depth <= 0:
            return self.one(kind)
        makers = {
            "int": self._int,
            "str": self._str,
            "bool": self._bool,
            "list": self._list,
            "dict": self._dict,
        }
        return makers[kind](depth) if kind in makers else self._tuple(depth)

    def _choose(self, forms: dict[str, str], **kinds: tuple[str, int]) -> str:
        """Fill a form: the keywords say what its fields are (a type and a depth)."""
        name = self.rng.choice(list(forms))
        self.constructs[f"expression {name}"] += 1
        parts = {field: self.make(kind, depth) for field, (kind, depth) in kinds.items()}
        return forms[name].format(**parts, n=self.number(1, 5), k=self.number(0, 1), w=self.word())

    def _int(self, depth: int) -> str:
        """A number."""
        forms = {
            "arithmetic": "(({a} {op} {b}) % 97)",
            "floor-div": "({a} // {n})",
            "modulo": "({a} % {n})",
            "power": "(({a} % 5) ** 2)",
            "negative": "(-{a})",
            "abs": "abs({a} - {b})",
            "len": "len({l})",
            "sum": "sum({l})",
            "min-max": "max({a}, {b})",
            "max-default": "max({l}, default=0)",
            "ternary": "({a} if {c} else {b})",
            "dict-get": "{d}.get('a', {a})",
            "tuple-index": "{t}[{k}]",
            "count": "{s}.count('a')",
            "find": "{s}.find('a')",
            "int-of": "int(str(abs({a})))",
            "or": "({a} or {b})",
            "and": "({a} and {b})",
            "bits": "(abs({a}) & 7 | 8)",
            "shift": "(abs({a}) << 1) % 97",
            "divmod": "divmod({a}, {n})[1]",
            "lambda": "(lambda p, q=2: p + q)({a})",
            "walrus": "((wal := {a}) + wal)",
            "guarded-index": "({l}[0] if {l} else -1)",
            "last": "({l} + [{a}])[-1]",
            "reduce": "reduce(lambda p, q: (p * 2 + q) % 97, {l}, {a})",
            "true-as-int": "({c} + 1)",
            "round": "round({a} / {n})",
        }
        forms = {name: form.replace("{op}", self.rng.choice("+-*")) for name, form in forms.items()}
        inner = depth - 1
        return self._choose(
            forms,
            a=("int", inner),
            b=("int", inner),
            c=("bool", inner - 1),
            l=("list", 0),
            d=("dict", 0),
            t=("tuple", 0),
            s=("str", 0),
        )

    def _str(self, depth: int) -> str:
        """A string."""
        forms = {
            "concatenation": "({s} + {w})",
            "upper": "{s}.upper()",
            "slice": "{s}[:{n}]",
            "reverse": "{s}[::-1]",
            "f-string": "f'{{{a}}}-{{{t}!s}}'",
            "f-spec": "f'{{{a}:03d}}'",
            "f-repr": "f'{{{l}!r}}'",
            "format": "'{{}}:{{}}'.format({a}, {s})",
            "format-named": "'{{x}}/{{y:>4}}'.format(x={a}, y={s})",
            "percent": "('%d %s' % ({a}, {s}))",
            "percent-float": "('%.2f' % ({a} / {n}))",
            "join": "'-'.join(str(e) for e in {l})",
            "replace": "{s}.replace('a', 'o')",
            "repeat": "({s} * 2)",
            "str-of": "str({l})",
            "repr": "repr({d})",
            "strip-title": "{s}.strip().title()",
            "split": "' '.join({s}.split(','))",
            "pad": "{s}.rjust(6, '.')",
            "ternary": "({s} if {c} else {w})",
            "type-name": "type({a}).__name__",
        }
        inner = depth - 1
        return self._choose(
            forms, a=("int", 0), s=("str", inner), l=("list", 0), d=("dict", 0), c=("bool", 0), t=("tuple", 0)
        )

    def _bool(self, depth: int) -> str:
        """A condition."""
        forms = {
            "less": "({a} < {b})",
            "equal": "({a} == {b})",
            "chained": "(0 <= {a} < {n})",
            "not": "(not {c})",
            "and": "({c} and {a} > {b})",
            "or": "({c} or {a} != {b})",
            "in-list": "({a} in {l})",
            "not-in-dict": "('z' not in {d})",
            "truth": "bool({l})",
            "any": "any(e > {a} for e in {l})",
            "all": "all(e >= 0 for e in {l})",
            "startswith": "{s}.startswith('a')",
            "is-instance": "isinstance({a}, int)",
            "is-none": "({d}.get('q') is None)",
            "list-equal": "({l} == [1, 2])",
            "compare-tuple": "({t} < (3, {a}))",
        }
        inner = depth - 1
        return self._choose(
            forms,
            a=("int", inner),
            b=("int", inner),
            c=("bool", inner),
            l=("list", 0),
            d=("dict", 0),
            s=("str", 0),
            t=("tuple", 0),
        )

    def _list(self, depth: int) -> str:
        """A list of numbers, never longer than a dozen."""
        forms = {
            "display": "[{a}, {b}]",
            "star": "[*{l}, {a}][-9:]",
            "slice": "{l}[:{n}]",
            "reverse": "{l}[::-1]",
            "comprehension": "[e * {n} % 97 for e in {l}]",
            "filter-comprehension": "[e for e in {l} if e % 2 == {k}]",
            "nested-comprehension": "[i * 3 + j for i in range(2) for j in range({n}) if i != j]",
            "sorted": "sorted({l})",
            "sorted-key": "sorted({l}, key=lambda e: -e)",
            "range": "list(range({n}))",
            "range-step": "list(range({n}, 12, 3))",
            "map": "list(map(lambda e: e + 1, {l}))",
            "filter": "list(filter(None, {l}))",
            "zip": "[p + q for p, q in zip({l}, range({n}))]",
            "enumerate": "[i - e for i, e in enumerate({l})]",
            "dict-values": "list({d}.values())",
            "set-sorted": "sorted(set({l}))",
            "set-comprehension": "sorted({{e % 3 for e in {l}}})",
            "repeat": "([{a}] * 2)",
            "concatenation": "({l} + [{a}])[:8]",
            "from-tuple": "list({t})",
            "from-string": "[ord(ch) % 10 for ch in {s}]",
        }
        return self._choose(
            forms,
            a=("int", 0),
            b=("int", 0),
            l=("list", depth - 1),
            d=("dict", 0),
            t=("tuple", 0),
            s=("str", 0),
        )

    def _dict(self, depth: int) -> str:
        """A dict from strings to numbers."""
        forms = {
            "display": "{{'a': {a}, 'c': {b}}}",
            "star": "{{**{d}, 'e': {a}}}",
            "comprehension": "{{key: value + 1 for key, value in {d}.items()}}",
            "from-zip": "dict(zip('abc', {l}))",
            "keywords": "dict(a={a}, f={b})",
            "union": "({d} | {{'g': {a}}})",
            "copy": "{d}.copy()",
            "from-list": "{{str(e): e for e in {l}}}",
        }
        return self._choose(forms, a=("int", 0), b=("int", 0), d=("dict", depth - 1), l=("list", 0))

    def _tuple(self, depth: int) -> str:
        """A pair of numbers."""
        forms = {
            "display": "({a}, {b})",
            "swap": "{t}[::-1]",
            "generator": "tuple(e % 5 for e in ({a}, {b}))",
            "divmod": "divmod({a}, {n})",
            "concatenation": "({t}[:1] + ({a},))",
        }
        return self._choose(forms, a=("int", depth - 1), b=("int", 0), t=("tuple", depth - 1))
