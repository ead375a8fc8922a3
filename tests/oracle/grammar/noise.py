"""Noise and wrapping: what makes two programs of one theme look different.

Statements that change little are put at random places; runs of statements are put under conditions,
inner loops, `try`, context managers; exits are added. A name that would be missing where a wrapped run
is skipped is either given another value in an `else`, or its readers are put under the same condition.
"""

from __future__ import annotations

import ast

from .builder import Builder
from .expressions import scalar, scalar_like, vec
from .tree import Compound, Node, names


def sprinkle(b: Builder, body: list[Node]) -> None:
    """Insert a few statements."""
    for _ in range(b.pick([0, 0, 1, 1, 2, 3])):
        local = [n for n in ("v", "f", "y", "out") if n in names(body, ast.Store)]
        at = b.rng.randint(0, len(body))
        ready = [n for n in local if n in names(body[:at], ast.Store) and _surely(body[:at], n)]
        kind = b.weighted(
            {
                "local": 3,
                "print": 2,
                "metric": 1,
                "dropped": 1,
                "stray": 0.7,
                "closure": 0.7,
                "comp": 1,
                "gen": 0.6,
            }
            | {
                "lambda": 0.5,
                "with": 0.6,
                "inner": 1,
                "assert": 0.3,
                "reverse": 0.4,
                "star": 0.4,
                "format": 0.5,
                "hook": 0.3,
                "state": 0.3,
                "del": 0.4,
                "partial": 0.4,
                "retain": 0.3,
                "freeze": 0.4,
                "detach_": 0.25,
                "switch": 0.2,
            }
        )
        w, value = b.pick(b.params), b.pick(ready or ["x"])
        name = b.fresh("t")
        text: Node
        match kind:
            case "local":
                text = f"{name} = {vec(b, [value])}"
            case "print":
                text = f"{name} = {value}.sum().item()"
            case "metric":
                text = Compound("with torch.no_grad():", [f"{name} = {scalar(b, [value, w])}"])
            case "dropped":
                text = f"{value}.detach()"
            case "stray":
                text = f"{name} = x.clone().requires_grad_()"
            case "closure":
                text = Compound(f"def {name}():", [f"return {value} * {w}"])
            case "comp":
                text = f"{name} = [{value} * k for k in range(3)]"
            case "gen":
                text = f"{name} = sum(float(q) for q in {value})"
            case "lambda":
                text = f"{name} = (lambda q: q * {w})({value})"
            case "with":
                text = Compound("with torch.enable_grad():", [f"{name} = {value} + {w}"])
            case "inner":
                text = Compound(f"for {name} in range(2):", [f"{name}_v = torch.tanh({value} + {w})"])
            case "assert":
                text = f"assert {value}.shape == (3,)"
            case "reverse":
                text = f"{name}, *_ = [{value}, x, x]"
            case "star":
                text = f"{name} = torch.add(*[{value}, {w}])"
            case "freeze":
                text = f"{w}.requires_grad_({b.pick(['True', 'False', b.known()])})"
            case "detach_":
                text = f"{value}.detach_()"
            case "switch":
                text = f"torch.set_grad_enabled({b.pick(['True', 'True', 'False'])})"
            case "hook":
                text = f"if {value}.requires_grad:\n    {value}.register_hook(lambda grad: grad * 1.0)"
            case "state":
                text = f"{name} = [{value}.shape[0], {value}.requires_grad, {w}.is_leaf]"
            case "del":
                text = f"{name} = {value} * {w}\ndel {name}"
            case "partial":
                text = f"{name} = partial(torch.mul, {w})({value})"
                if "from functools import partial" not in b.top:
                    b.top.insert(0, "from functools import partial")
            case "retain":
                text = f"{name} = {value} * {w}\nif {name}.requires_grad:\n    {name}.retain_grad()"
            case _:
                text = f'{name} = f"{{float({value}[0]):.3f}}"'
        b.note(f"noise {kind}")
        body.insert(at, text)


def _surely(body: list[Node], name: str) -> bool:
    """Is the name stored by a plain line of the body (and so surely bound after it)?"""
    return any(isinstance(node, str) and name in names([node], ast.Store) for node in body)


def _runs(b: Builder, body: list[Node]) -> tuple[int, int]:
    first = b.rng.randrange(len(body))
    return first, min(len(body), first + b.pick([1, 1, 1, 2, 3]))


def wrap(b: Builder, body: list[Node]) -> list[Node]:
    """Put a run of statements under a condition, a loop, a `try` or a context manager."""
    if not body:
        return body
    first, last = _runs(b, body)
    run, rest = body[first:last], body[last:]
    made = names(run, ast.Store) - b.declared
    needed = sorted(made & names(rest, ast.Load))
    if any(
        isinstance(node, Compound) and node.header.startswith(f"def {n}(") for node in run for n in needed
    ):
        return body
    kind = b.weighted({"if": 6, "inner": 1.6, "try": 0.8, "enable": 0.4, "while": 0.4, "function": 1.2})
    b.note(f"wrap {kind}")
    if kind == "if":
        condition = b.condition()
        correlated = "flags." in condition and needed and b.chance(0.6)
        if correlated:
            b.note("correlated branches")
            tail: list[Node] = []
            for node in rest:
                dependent = bool(names([node], ast.Load) & made)
                made |= names([node], ast.Store) - b.declared if dependent else set()
                tail.append(Compound(f"if {condition}:", [node]) if dependent else node)
            return [*body[:first], Compound(f"if {condition}:", run), *tail]
        other: list[Node] = [f"{name} = {scalar_like(b, name)}" for name in needed]
        return [*body[:first], Compound(f"if {condition}:", run, [("else:", other)] if other else []), *rest]
    if kind == "inner":
        index = b.fresh("j")
        header = b.pick(
            [f"for {index} in range(2):", f"for {index} in [0, 1, 2]:", f"for {index} in range(1, 3):"]
        )
        inner: Node = Compound(header, run, [("else:", ["pass"])] if b.chance(0.1) else [])
        return [*body[:first], inner, *rest]
    if kind == "while":
        index = b.fresh("k")
        return [
            *body[:first],
            f"{index} = 0",
            Compound(f"while {index} < 2:", [*run, f"{index} += 1"]),
            *rest,
        ]
    if kind == "try":
        handler = b.pick(["except RuntimeError:", "except ValueError:", "except Exception as error:"])
        caught: list[Node] = [f"{name} = {scalar_like(b, name)}" for name in needed] or ["pass"]
        clauses: list[tuple[str, list[Node]]] = (
            [(handler, caught)] if b.chance(0.7) else [("finally:", ["done = True"])]
        )
        return [*body[:first], Compound("try:", run, clauses), *rest]
    if kind == "function" and not names(run, ast.Store) & b.declared and len(needed) <= 1:
        free = sorted((names(run, ast.Load) & names(body[:first], ast.Store)) - b.declared)
        bound = names(run, ast.Store)
        if not set(free) & bound and not any(isinstance(n, str) and n in ("break", "continue") for n in run):
            name = b.fresh("inner")
            end: list[Node] = [f"return {needed[0]}"] if needed else []
            call = f"{name}({', '.join(free)})"
            return [
                *body[:first],
                Compound(f"def {name}({', '.join(free)}):", [*run, *end]),
                f"{needed[0]} = {call}" if needed else call,
                *rest,
            ]
    mode = b.pick(
        ["torch.enable_grad()"] * 3 + ["torch.no_grad()", f"torch.set_grad_enabled({b.condition()})"]
    )
    b.note("with " + mode.split("(")[0])
    return [*body[:first], Compound(f"with {mode}:", run), *rest]


def leave(b: Builder, body: list[Node], whole: bool) -> list[Node]:
    """Add a `break` or `continue` (a `return` where the body is a function's) at some place."""
    word = b.pick(["break", "continue", "continue"])
    if not whole:
        word = "return"
    b.note(word)
    condition = b.known() if b.chance(0.75) else b.unknown()
    at = b.rng.choice([0, 0, b.rng.randint(0, len(body)), len(body)])
    return [*body[:at], Compound(f"if {condition}:", [word]), *body[at:]]
