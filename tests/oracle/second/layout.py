"""How a script is laid out: flat, in functions, in a trainer class, with the step in a function of its own.

The pieces are moved as trees: what a piece reads becomes a parameter, what it assigns a result.
"""

from __future__ import annotations

import ast
import builtins

from .draft import Draft, Lines, Parts
from .trees import blocks, loaded, stored

_OUTSIDE = {"torch", "nn", "F", "N", *dir(builtins)}


def tree_of(lines: Lines) -> ast.Module:
    return ast.parse("\n".join(lines))


def text_of(nodes: list[ast.stmt]) -> Lines:
    return ast.unparse(ast.fix_missing_locations(ast.Module(nodes, []))).split("\n") if nodes else []


def _inner_functions(nodes: list[ast.stmt]) -> bool:
    kinds = (
        ast.FunctionDef,
        ast.Lambda,
        ast.Global,
        ast.Nonlocal,
        ast.NamedExpr,
        ast.Delete,
        ast.ListComp,
        ast.GeneratorExp,
        ast.DictComp,
    )
    return any(isinstance(n, kinds) for node in nodes for n in ast.walk(node))


def _leaves(node: ast.AST) -> bool:
    return any(
        isinstance(
            n,
            (
                ast.Break,
                ast.Continue,
                ast.Return,
                ast.Yield,
                ast.Global,
                ast.Nonlocal,
                ast.FunctionDef,
                ast.Delete,
            ),
        )
        for n in ast.walk(node)
    )


def extract_step(d: Draft, train: ast.Module, known: set[str], after: set[str]) -> bool:
    """Some statements of a loop's body become a function of the module, called in their place."""
    loops = [n for n in ast.walk(train) if isinstance(n, (ast.For, ast.While))]
    for loop in d.rng.sample(loops, len(loops)):
        body = loop.body
        first = d.rng.randrange(len(body))
        last = d.rng.randrange(first, len(body)) + 1
        chunk = body[first:last]
        if any(_leaves(node) for node in chunk):
            continue
        whole = ast.Module(chunk, [])
        assigned, read = stored(whole), loaded(whole)
        sure = {
            name for node in chunk if isinstance(node, (ast.Assign, ast.AugAssign)) for name in stored(node)
        }
        before = (
            known
            | {name for node in body[:first] for name in stored(node)}
            | stored(loop.target if isinstance(loop, ast.For) else ast.Pass())
        )
        comprehension = {
            n.id
            for node in chunk
            for c in ast.walk(node)
            if isinstance(c, ast.comprehension)
            for n in ast.walk(c.target)
            if isinstance(n, ast.Name)
        }
        if (assigned - comprehension) - sure - before:
            continue
        if any(
            name in loaded(ast.Module(chunk[: at + 1], []))
            and name not in before
            and name
            in {x for n in chunk[at:] for x in stored(n)} - {x for n in chunk[:at] for x in stored(n)}
            for at, node in enumerate(chunk)
            for name in loaded(node) & stored(whole)
        ):
            continue
        outer = read | (assigned - comprehension) & before
        parameters = sorted((outer & before) - _OUTSIDE)
        rest = {name for other in (*body[:first], *body[last:], train) for name in loaded(other)} | after
        results = sorted((assigned - comprehension) & rest)
        name = d.fresh("train_step", "one_step", "process", "compute")
        give = ast.parse(f"return {', '.join(results)}").body if results else []
        arguments = ", ".join(parameters)
        called = ", ".join(f"{p}={p}" for p in parameters) if d.chance(0.25) else arguments
        if d.chance(0.1) and parameters:
            d.note("step called through a dict of arguments")
            called = "**{" + ", ".join(f'"{p}": {p}' for p in parameters) + "}"
        d.define(
            "\n".join([f"def {name}({arguments}):", *("    " + line for line in text_of([*chunk, *give]))])
        )
        call = f"{', '.join(results)} = {name}({called})" if results else f"{name}({called})"
        body[first:last] = ast.parse(call).body
        d.note("layout: step in a function")
        return True
    return False


class _OnSelf(ast.NodeTransformer):
    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.names:
            return ast.Attribute(ast.Name("self", ast.Load()), node.id, node.ctx)
        return node


def _scoped(nodes: list[ast.stmt]) -> bool:
    """Would moving names onto self change what an inner scope means?"""
    return any(
        isinstance(n, (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.Delete))
        for node in nodes
        for n in ast.walk(node)
    )


def assemble(d: Draft, parts: Parts, train: ast.Module) -> Lines:
    """The statements of the program after its definitions."""
    setup, after = tree_of(parts.setup), tree_of(parts.after)
    made = {name for node in setup.body for name in stored(node)}
    known = made | {n.name for n in setup.body if isinstance(n, ast.FunctionDef)}
    for _ in range(d.rng.choices([0, 1, 2], [0.6, 0.3, 0.1])[0]):
        extract_step(
            d,
            train,
            {x for node in setup.body if not isinstance(node, ast.FunctionDef) for x in stored(node)},
            loaded(after),
        )
    kind = d.pick(
        {"script": 4, "main": 2.5, "train function": 2.5, "trainer": 2, "function an epoch": 0.0001}, "layout"
    )
    everything = [*setup.body, *train.body, *after.body]
    if kind == "trainer" and not _scoped(everything) and "nonlocal" not in "".join(d.definitions[-1:]):
        return _trainer(d, setup, train, made, after)
    if kind == "train function" and not stored(train) & known - made:
        return _train_function(d, setup, train, known, after)
    if kind in ("main", "trainer"):
        call = ['if __name__ == "__main__":', "    main()"] if d.chance(0.7) else ["main()"]
        return ["def main():", *("    " + line for line in text_of(everything)), "", "", *call]
    return text_of(everything)


def _train_function(
    d: Draft, setup: ast.Module, train: ast.Module, known: set[str], after: ast.Module
) -> Lines:
    read = (loaded(train) | stored(train)) & known
    functions = {n.name for n in setup.body if isinstance(n, ast.FunctionDef)}
    parameters = sorted(read - functions)
    results = sorted(stored(train) & loaded(after))
    inner = text_of([*train.body, *(ast.parse(f"return {', '.join(results)}").body if results else [])])
    name = d.fresh("train", "fit", "run_training")
    call = (
        f"{', '.join(results)} = {name}({', '.join(parameters)})"
        if results
        else f"{name}({', '.join(parameters)})"
    )
    return [
        *text_of(setup.body),
        "",
        "",
        f"def {name}({', '.join(parameters)}):",
        *("    " + line for line in inner),
        "",
        "",
        call,
        *text_of(after.body),
    ]


def _trainer(d: Draft, setup: ast.Module, train: ast.Module, made: set[str], after: ast.Module) -> Lines:
    move = _OnSelf(made)
    name = d.fresh("Trainer", "Learner", "Runner")
    init, fit = [move.visit(node) for node in setup.body], [move.visit(node) for node in train.body]
    method, last = d.fresh("fit", "run", "train_model"), [move.visit(node) for node in after.body]
    lines = [
        f"class {name}:",
        "    def __init__(self):",
        *("        " + line for line in text_of(init) or ["pass"]),
        "",
    ]
    loops = [
        (block, at)
        for block in blocks(ast.Module(fit, []))
        for at, node in enumerate(block)
        if isinstance(node, (ast.For, ast.While))
    ]
    if loops and d.chance(0.5):
        block, at = d.rng.choice(loops)
        node = block[at]
        body = node.body  # type: ignore[attr-defined]
        local = {n for s in body for n in stored(s)} | (
            stored(node.target) if isinstance(node, ast.For) else set()
        )
        elsewhere = {n for s in fit if s is not node for n in loaded(s) | stored(s)}
        if not any(_leaves(s) for s in body) and not (local & (elsewhere - local)) and len(block) == len(fit):
            parameters = sorted(stored(node.target) if isinstance(node, ast.For) else set())
            carried = {n for n in local if n not in parameters and _maybe_read_first(body, n)}
            if not carried:
                step = d.fresh("training_step", "step_once", "update_model")
                lines += [
                    f"    def {step}(self{''.join(', ' + p for p in parameters)}):",
                    *("        " + line for line in text_of(body)),
                    "",
                ]
                node.body = ast.parse(f"self.{step}({', '.join(parameters)})").body  # type: ignore[attr-defined]
                d.note("layout: step in a method")
    lines += [f"    def {method}(self):", *("        " + line for line in text_of([*fit, *last]))]
    return [*lines, "", "", f"{name}().{method}()"]


def _maybe_read_first(body: list[ast.stmt], name: str) -> bool:
    for node in body:
        if name in loaded(node):
            return True
        if isinstance(node, ast.Assign) and name in stored(node):
            return False
    return True
