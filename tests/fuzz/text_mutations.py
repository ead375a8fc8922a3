"""Mutations of a source as text or bytes: most of the results are no Python any more."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

Mutation = Callable[[random.Random, bytes, bytes], bytes]

_TOKEN = re.compile(rb"\w+|[^\w\s]+|[ \t]+|\r?\n|\s")
_INSERTED = (
    b"( ) [ ] { } : , ; = == -> := ** * @ . ... \\ # ' \" ''' \"\"\" f' b' lambda yield await async def class if else elif "
    b"for while with try except finally match case return break continue import from as global nonlocal del pass raise "
    b"assert not and or in is None True self loss.backward() .detach() torch nn 0 1e999 0x 10**9 print super()"
).split()


def truncate(rng: random.Random, data: bytes, _other: bytes) -> bytes:
    """The beginning, the end, or both, wherever the cut falls."""
    first, last = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return rng.choice([data[:last], data[first:], data[first:last]])


def tokens(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Some tokens deleted, doubled, swapped, replaced or inserted."""
    words = _TOKEN.findall(data) or [b""]
    foreign = _TOKEN.findall(other) or [b""]
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8, 30])):
        at = rng.randrange(len(words))
        match rng.randrange(6):
            case 0:
                words[at] = b""
            case 1:
                words.insert(at, words[at])
            case 2:
                to = rng.randrange(len(words))
                words[at], words[to] = words[to], words[at]
            case 3:
                words.insert(at, b" " + rng.choice(_INSERTED) + b" ")
            case 4:
                words[at] = rng.choice(foreign)
            case 5:
                words[at] = rng.choice(words)
    return b"".join(words)


def indentation(rng: random.Random, data: bytes, _other: bytes) -> bytes:
    """A run of lines moved to the right or to the left, or indented by tabs."""
    lines = data.splitlines(keepends=True) or [b""]
    first = rng.randrange(len(lines))
    last = min(len(lines), first + rng.choice([1, 1, 2, 5, 20]))
    shift = rng.choice([b"    ", b" ", b"\t", b"  ", b""])
    for at in range(first, last):
        lines[at] = shift + lines[at] if shift else lines[at][rng.choice([1, 4, 8]) :]
    return b"".join(lines)


def line_shuffle(rng: random.Random, data: bytes, _other: bytes) -> bytes:
    """The lines of a window in another order."""
    lines = data.splitlines(keepends=True) or [b""]
    first = rng.randrange(len(lines))
    last = min(len(lines), first + rng.choice([2, 3, 6, 20, 1000]))
    window = lines[first:last]
    rng.shuffle(window)
    return b"".join([*lines[:first], *window, *lines[last:]])


def splice(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """The beginning of one file and the end of another, or one within the other, at any line."""
    ours, theirs = data.splitlines(keepends=True), other.splitlines(keepends=True)
    at, to = rng.randrange(len(ours) + 1), rng.randrange(len(theirs) + 1)
    if rng.random() < 0.5:
        return b"".join([*ours[:at], *theirs[to:]])
    return b"".join([*ours[:at], *theirs[to : to + 30], *ours[at:]])


def random_bytes(rng: random.Random, data: bytes, _other: bytes) -> bytes:
    """Bytes that are replaced, inserted or removed, or a text of bytes alone."""
    if rng.random() < 0.1:
        return rng.randbytes(rng.choice([0, 1, 10, 1000, 20000]))
    found = bytearray(data or b" ")
    for _ in range(rng.choice([1, 2, 5, 50])):
        at = rng.randrange(len(found))
        match rng.randrange(3):
            case 0:
                found[at] = rng.randrange(256)
            case 1:
                found[at:at] = rng.randbytes(rng.choice([1, 2, 8]))
            case 2 if len(found) > 1:
                del found[at]
    return bytes(found)


def encodings(rng: random.Random, data: bytes, _other: bytes) -> bytes:
    """Other encodings, marks, wrong declarations, mixed line ends, characters outside the first plane."""
    text = data.decode("utf-8", "replace")
    odd = [
        "é",
        "变量",
        "\U0001d4d1",
        "𝒙",
        "\ufeff",
        "\u2028",
        "\x0c",
        "\x00",
        "\x1a",
        "\u202e",
        "e\u0301",
        "\x85",
        "\xa0",
    ]
    for _ in range(rng.choice([0, 1, 3])):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(odd) + text[at:]
    name = rng.choice(
        ["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1", "cp1252", "gbk", "shift_jis", "utf-7"]
    )
    declared = rng.choice(
        ["", "", name, "utf-8", "latin-1", "no-such-codec", "rot13", "hex", "idna", "undefined"]
    )
    if declared:
        text = rng.choice(["", "\n", "#!/usr/bin/env python\n"]) + f"# -*- coding: {declared} -*-\n{text}"
    ends = rng.choice(["\n", "\n", "\r\n", "\r", "mixed"])
    if ends == "mixed":
        text = "".join(line + rng.choice(["\n", "\r\n", "\r"]) for line in text.split("\n"))
    else:
        text = text.replace("\n", ends)
    return text.encode(name, "replace")


_NESTED: list[Callable[[int], str]] = [
    lambda n: "x = " + "(" * n + "1" + ")" * n,
    lambda n: "x = " + "[" * n + "]" * n,
    lambda n: "x = " + "{1:" * n + "2" + "}" * n,
    lambda n: "x = " + "f(" * n + "loss" + ")" * n,
    lambda n: "x = loss" + ".detach()" * n,
    lambda n: "x = loss" + "[0]" * n,
    lambda n: "x = " + "-" * n + "1",
    lambda n: "x = " + "not " * n + "loss",
    lambda n: "x = loss" + " + loss" * n,
    lambda n: "x = loss" + " ** loss" * n,
    lambda n: "x = loss" + " < loss" * n,
    lambda n: "x = " + "lambda: " * n + "loss",
    lambda n: "x = " + "1 if loss else " * n + "2",
    lambda n: "x = " + "a = " * n + "loss",
    lambda n: "x = " + "'a' " * n,
    lambda n: "if a:\n    pass\n" + "elif b:\n    loss.backward()\n" * n,
    lambda n: "".join("  " * d + "if loss:\n" for d in range(min(n, 98))) + "  " * min(n, 98) + "loss.backward()",
    lambda n: "".join("  " * d + "for i in x:\n" for d in range(min(n, 19))) + "  " * min(n, 19) + "loss.backward()",
    lambda n: "".join("  " * d + f"def f{d}():\n" for d in range(min(n, 98))) + "  " * min(n, 98) + "loss.backward()",
    lambda n: "".join("  " * d + f"class C{d}:\n" for d in range(min(n, 98))) + "  " * min(n, 98) + "loss = 1",
    lambda n: "def f(x):\n    return f(x)\n" * 2 + "f(" * min(n, 90) + "loss" + ")" * min(n, 90),
    lambda n: "\n".join(f"def f{d}(x):\n    return f{d + 1}(x) + f{d + 1}(x)" for d in range(min(n, 200))) + "\nf0(loss)",
    lambda n: "\n".join(f"class C{d}(C{d - 1}): pass" if d else "class C0: pass" for d in range(min(n, 300))),
    lambda n: "@f\n" * n + "def g(): pass",
    lambda n: "x = y = " + "[[" * min(n, 80) + "i for i in x]" * min(n, 80) + "]" * min(n, 80),
]  # fmt: skip

_LONG: list[Callable[[int], str]] = [
    lambda n: "x = [" + "loss, " * n + "]",
    lambda n: "x = {" + ", ".join(f"'{i}': loss" for i in range(n)) + "}",
    lambda n: "x = '" + "a" * 10 * n + "'",
    lambda n: "x" * n + " = loss",
    lambda n: "f(" + ", ".join(f"a{i}=loss" for i in range(n)) + ")",
    lambda n: "def g(" + ", ".join(f"a{i}" for i in range(n)) + "): return a0",
    lambda n: "; ".join("loss = loss + 1" for _ in range(n)),
    lambda n: "x = " + "9" * n,
    lambda n: "x = " + " " * 10 * n + "1",
    lambda n: "#" + "y" * 10 * n,
    lambda n: "import " + ", ".join(f"m{i}" for i in range(n)),
    lambda n: ", ".join(f"a{i}" for i in range(n)) + " = loss",
    lambda n: "x = 'a' * " + "10 ** 9 * " * min(n, 50) + "1",
    lambda n: (
        "x = [0] * 10 ** 12\nfor i in range(10 ** 15):\n    for j in range(10 ** 15):\n        x.append(loss)"
    ),
    lambda n: "x = 2 ** " * min(n, 40) + "2",
    lambda n: "x = 1\n" + "x = x << 1000\n" * min(n, 300),
    lambda n: "x = [1]\n" + "x = x + x\n" * min(n, 300),
    lambda n: "x = 'a'\n" + "x = x + x\n" * min(n, 300),
    lambda n: "x = (loss,)\n" + "x = (x, x)\n" * min(n, 300) + "for i in x: i.backward()",
]


def _within(rng: random.Random, data: bytes, text: str) -> bytes:
    """The text as statements of the source, at the indentation of the line that it is put before."""
    lines = data.splitlines(keepends=True)
    at = rng.randrange(len(lines) + 1)
    line = lines[at] if at < len(lines) else b""
    indent = line[: len(line) - len(line.lstrip(b" "))]
    rows = [indent + row.encode() + b"\n" for row in text.split("\n")]
    return b"".join([*lines[:at], *rows, *lines[at:]])


def nesting(rng: random.Random, data: bytes, _other: bytes) -> bytes:
    """A statement that nests deeply: up to what the parser takes, and beyond."""
    depth = rng.choice([20, 60, 90, 150, 250, 900, 3000, 20000])
    return _within(rng, data, rng.choice(_NESTED)(depth))


def long_lines(rng: random.Random, data: bytes, _other: bytes) -> bytes:
    """A statement that is very long, or whose value would be."""
    return _within(rng, data, rng.choice(_LONG)(rng.choice([50, 300, 1000, 5000, 20000])))


MUTATIONS: dict[Mutation, float] = {
    truncate: 2,
    tokens: 4,
    indentation: 1.5,
    line_shuffle: 1.5,
    splice: 2,
    random_bytes: 1,
    encodings: 1,
    nesting: 1,
    long_lines: 0.7,
}
